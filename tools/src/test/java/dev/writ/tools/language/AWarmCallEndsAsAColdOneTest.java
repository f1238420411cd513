package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever a tool does: the same end, reason, words and output, whether its worker waited. */
class AWarmCallEndsAsAColdOneTest {
  private WarmLab lab;

  @BeforeEach
  void open() {
    lab = new WarmLab(PoolSettings.ofMiB(2_048));
  }

  @AfterEach
  void close() {
    lab.close();
  }

  private static DriverOutcome same(WarmLab.Tool tool, String mode, String end, long wallMs) {
    DriverOutcome cold = tool.cold(mode).wallMs(wallMs).run();
    DriverOutcome warm = tool.warm(tool.asIs(mode).wallMs(wallMs));
    assertThat(WarmLab.said(warm)).as(mode).isEqualTo(WarmLab.said(cold));
    assertThat(warm.end() + " " + warm.reason()).as(Call.show(warm)).isEqualTo(end);
    return cold;
  }

  /**
   * With time to be called on this host, loaded as it is: a worker that took longer has no call.
   *
   * @param says what is printed at once when it is called; empty where it is printed at the end
   */
  private static void sameHang(WarmLab.Tool tool, DriverOutcome well, String says) {
    long wallMs = Math.max(700, 4 * well.metrics().wallMs());
    while (!WarmLab.said(tool.cold("hang").wallMs(wallMs).run()).get("stderr").contains(says)) {
      wallMs *= 2;
    }
    same(tool, "hang", "TIMED_OUT timed-out", 2 * wallMs);
  }

  /**
   * One that goes without a word is followed by a cold start, if it took no longer than to start.
   */
  private static void sameDeath(WarmLab.Tool tool) {
    DriverOutcome cold = tool.cold("die").run();
    tool.awaitOne(tool.asIs("well"));
    DriverOutcome warm = tool.asIs("die").run();
    assertThat(WarmLab.said(warm)).isEqualTo(WarmLab.said(cold));
    assertThat(warm.reason()).isEqualTo("worker-died");
  }

  @Test
  void inPython() {
    WarmLab.Tool tool =
        lab.python(
            """
            import os, sys, time
            print("loaded")

            def count(input, context):
                mode = input["text"]
                print("called", mode)
                if mode == "fail": raise ValueError("no such order")
                if mode == "die": os._exit(7)
                if mode == "memory": bytearray(600 << 20)
                if mode == "hang": time.sleep(1000)
                if mode == "flood":
                    while True: print("x" * 10000)
                if mode == "forks":
                    for i in range(200): os.fork() or time.sleep(9)
                if mode == "frames": [garbage(fd) for fd in (3, 4, 5, 6)]
                if mode == "much": return {"much": "y" * 2000000}
                if mode == "nan": return {"nan": float("nan")}
                if mode == "call": os.kill(os.getpid(), 31)
                return {"context": context, "mode": mode}

            def garbage(fd):
                try: os.write(fd, b"garbage")
                except OSError: pass # what it may read only
            """);
    DriverOutcome well = same(tool, "well", "SUCCEEDED ok", 60_000);
    same(tool, "fail", "FAILED tool-error", 60_000);
    sameDeath(tool);
    same(tool, "memory", "KILLED out-of-memory", 60_000);
    sameHang(tool, well, "");
    same(tool, "forks", "FAILED tool-error", 60_000);
    same(tool, "frames", "FAILED protocol-violation", 60_000);
    same(tool, "much", "KILLED output-limit", 60_000);
    same(tool, "nan", "FAILED tool-error", 60_000);
    same(tool, "call", "KILLED seccomp-violation", 60_000);
    // How much was printed when it was stopped is chance, cold as warm.
    DriverOutcome flood = tool.warm("flood");
    assertThat(flood.end() + " " + flood.reason()).isEqualTo("KILLED output-limit");
  }

  @Test
  void inNode() {
    WarmLab.Tool tool =
        lab.tool(
            Language.NODE,
            """
            console.log('loaded');
            export function count(input, context) {
              console.log('called');
              if (input.text === 'fail') throw new Error('no such order');
              if (input.text === 'hang') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
              return { context };
            }
            """);
    DriverOutcome well = same(tool, "well", "SUCCEEDED ok", 60_000);
    same(tool, "fail", "FAILED tool-error", 60_000);
    sameHang(tool, well, "called");
  }

  @Test
  void inJava() {
    WarmLab.Tool tool =
        lab.tool(
            Language.JAVA,
            """
            import java.util.Map;
            public final class Tool {
              static { System.out.println("loaded"); }
              public static Object count(Map<String, Object> input, Map<String, Object> context)
                  throws Exception {
                if (input.get("text").equals("fail")) throw new IllegalStateException("no order");
                return Map.of("context", context);
              }
            }
            """);
    same(tool, "well", "SUCCEEDED ok", 60_000);
    same(tool, "fail", "FAILED tool-error", 60_000);
  }

  @Test
  void inAProgramThatBreaksTheProtocolOnlyWhenItIsCalled() {
    String answer = "read(); write({'kind': 'result', 'output': {}})\n";
    String ready = "write({'kind': 'ready'})\n";
    for (String code :
        List.of(
            ready + answer + "write({'kind': 'ready'})",
            ready + "read(); write({'kind': 'ready'})",
            ready + "read(); sys.stdout.write('x')",
            ready + "read(); write({'protocol': 2, 'kind': 'result', 'output': {}})")) {
      same(lab.process(code), "x", "FAILED protocol-violation", 60_000);
    }
  }

  /** It starts badly, so no worker of it is ever handed over: each call hears it from its own. */
  @Test
  void alsoWhereItSaysMoreThanThatItIsReady() {
    String ready = "write({'kind': 'ready'})\n";
    String answer = "read(); write({'kind': 'result', 'output': {}})\n";
    List<List<String>> table =
        List.of(
            List.of(ready + ready + answer, "protocol-violation"),
            List.of("os.write(1, b'x')\n" + ready + answer, "protocol-violation"),
            List.of("write({'kind': 'result', 'output': {}})\n", "protocol-violation"),
            List.of(
                "write({'kind': 'incident', 'incident': 'Failed', 'message': ''})\n", "tool-error"),
            List.of("sys.exit(3)\n", "worker-died"));
    for (List<String> row : table) {
      WarmLab.Tool tool = lab.process(row.getFirst());
      long warm = lab.pool.figures().warm();
      for (int i = 0; i < 2; i++) {
        DriverOutcome outcome = tool.asIs("x").run();
        assertThat(outcome.reason()).as(row.getFirst()).isEqualTo(row.getLast());
        lab.await(f -> f.starting() == 0);
      }
      assertThat(lab.pool.figures().warm()).isEqualTo(warm);
    }
  }

  @Test
  void itsProcessorTimeIsThatOfAColdOne() {
    WarmLab.Tool tool =
        lab.python(
            """
            import time
            t = time.process_time
            while t() < 0.2: pass

            def count(input, context):
                while t() < float(input["text"]): pass
                return {}
            """);
    // 0.2 at the start count, cold and warm: 1.0 of 0.8 is too much, 0.3 is not.
    DriverOutcome outcome = tool.warm(tool.asIs("1.0").cpuMs(800));
    assertThat(outcome.end() + " " + outcome.reason()).isEqualTo("KILLED cpu-limit");
    outcome = tool.warm(tool.asIs("0.3").cpuMs(800));
    assertThat(outcome.reason()).isEqualTo("ok");
    assertThat(outcome.metrics().cpuMs()).isBetween(300L, 799L);
  }

  /** What a worker can see of itself: no sign tells it that it waited. */
  @Test
  void theWorkerSeesTheSame() {
    WarmLab.Tool tool =
        lab.python(
            """
            import os, resource, sys

            def text(path):
                with open(path) as file: return file.read()

            def look():
                status = [l for l in text("/proc/self/status").splitlines()
                    if l.split(":")[0] in ("Uid", "Gid", "Groups", "NSpid", "CapEff", "Seccomp",
                        "NoNewPrivs", "Threads", "SigIgn", "SigBlk", "Umask")]
                return {
                    "argv": sys.argv, "environ": dict(os.environ), "status": status,
                    "cwd": os.getcwd(), "root": sorted(os.listdir("/")),
                    "tmp": os.listdir("/tmp"), "workspace": os.listdir("/workspace"),
                    "run": os.listdir("/run"), "cgroup": text("/proc/self/cgroup"),
                    "pids": [p for p in os.listdir("/proc") if p.isdigit()],
                    "limits": text("/proc/self/limits"), "nice": os.nice(0),
                    "fds": len(os.listdir("/proc/self/fd")), "host": os.uname().nodename,
                    "mounts": sorted(l.split()[1] + l.split()[3].split("uid")[0]
                        for l in text("/proc/self/mounts").splitlines()),
                }

            def count(input, context):
                return {"called": look(), "context": context}
            """);
    same(tool, "x", "SUCCEEDED ok", 60_000);
  }
}
