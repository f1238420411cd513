package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Nothing of a call is found by the next; nobody waits who should not. */
class AWarmWorkerIsForOneCallTest {
  private static final int CALLS = "long".equals(System.getProperty("writ.campaign")) ? 64 : 8;
  private static final String OK = "def count(input, context):\n    return {'ok': True}\n";

  @Test
  void whatACallLeavesBehindTheNextDoesNotFind() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(1_024))) {
      WarmLab.Tool tool =
          lab.python(
              """
              import os, sys, time
              marks = []

              def count(input, context):
                  found = list(marks) + os.listdir("/tmp") + os.listdir("/workspace")
                  found += os.listdir("/dev/shm") + [n for n in os.environ if n == "MARK"]
                  found += [p for p in os.listdir("/proc") if p.isdigit() and int(p) > os.getpid()]
                  found += [n for n in dir(sys) if n == "mark"]
                  marks.append(input["text"])
                  sys.mark = os.environ["MARK"] = input["text"]
                  for folder in ("/tmp", "/workspace", "/dev/shm"):
                      with open(folder + "/mark", "w") as file: file.write(input["text"])
                  if os.fork() == 0:
                      os.setsid()
                      time.sleep(1000)
                  return {"found": found}
              """);
      for (int i = 0; i < 4; i++) {
        DriverOutcome outcome = tool.warm("secret of call " + i);
        assertThat(outcome.reason()).as(Call.show(outcome)).isEqualTo("ok");
        assertThat(Call.text(outcome)).isEqualTo("{\"found\":[]}");
      }
      lab.pool.close();
      assertThat(Leftovers.await(lab.state(), what -> false)).isEmpty();
    }
  }

  @Test
  void noCallIsCountedTwiceAndTheBudgetHoldsUnderManyAtOnce() throws Exception {
    long budget = 3 * (256L << 20) + 1;
    try (WarmLab lab = new WarmLab(new PoolSettings(budget, 8, 600_000, 600_000));
        ExecutorService callers = Executors.newFixedThreadPool(6)) {
      WarmLab.Tool tool =
          lab.python("def count(input, context):\n    return {'text': input['text']}\n");
      List<Future<String>> answers = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        String text = "call " + i;
        Callable<String> call = () -> Call.text(tool.asIs(text).run());
        answers.add(callers.submit(call));
        assertThat(lab.pool.figures().bytes()).isLessThanOrEqualTo(budget);
      }
      for (int i = 0; i < CALLS; i++) {
        assertThat(answers.get(i).get()).isEqualTo("{\"text\":\"call " + i + "\"}");
        assertThat(lab.pool.figures().bytes()).isLessThanOrEqualTo(budget);
      }
      WarmPool.Figures figures = lab.pool.figures();
      assertThat(figures.warm() + figures.cold()).isEqualTo(CALLS);
      for (int i = 0; i < CALLS; i++) { // as much as there is room for, however long ago they came
        lab.pool.waits("acme", new PoolName("python", "large"), tool.manifest().packageDigest());
      }
      lab.await(f -> f.ready() == 3);
    }
  }

  @Test
  void realWorkersAreStartedForTheCallsThatStandInTheQueue() {
    PoolName pool = new PoolName("python", "large");
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(4_096).withPools(3, new TreeMap<>(), 100))) {
      WarmLab.Tool tool = lab.python(OK);
      Digest packageDigest = tool.manifest().packageDigest();
      tool.asIs("the kind is known").run();
      lab.await(f -> f.ready() == 1);
      for (int i = 0; i < 5; i++) {
        lab.pool.waits("acme", pool, packageDigest);
      }
      lab.await(f -> f.ready() == 3);
      assertThat(lab.pool.figures(pool)).isEqualTo(new WarmPool.PoolFigures(3, 0, 5, 3, 0));
      assertThat(tool.warm("takes one").reason()).isEqualTo("ok");
      for (int i = 0; i < 5; i++) {
        lab.pool.goes("acme", pool, packageDigest);
      }
      assertThat(lab.pool.figures(pool).queued()).isZero();
    }
  }

  @Test
  void oneThatDiesWhileItWaitsCostsNobodyAnything() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(1_024))) {
      WarmLab.Tool tool =
          lab.python("import os, threading\nthreading.Timer(0.3, os._exit, [0]).start()\n" + OK);
      assertThat(tool.asIs("x").run().reason()).isEqualTo("ok");
      lab.await(f -> f.started() == 1 && f.bytes() == 0);
      assertThat(tool.asIs("x").run().reason()).isEqualTo("ok");
      // Nor is it started again and again.
      assertThat(lab.pool.figures().bytes()).isZero();
      assertThat(lab.pool.figures().cold()).isEqualTo(2);
    }
  }

  /**
   * It hears the call and goes, which a cold one would not: so a cold one is asked. A cold one has
   * its call from the start; a warm one gets none before it is ready.
   */
  @Test
  void oneThatDiesAtTheHandOverIsFollowedByAColdStart() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(1_024))) {
      WarmLab.Tool tool =
          lab.process(
              """
              import select
              warm = not select.select([sys.stdin], [], [], 0.2)[0]
              write({'kind': 'ready'})
              sys.stdin.buffer.read(1)
              if warm: os._exit(0)
              sys.stdin.buffer.read()
              write({'kind': 'result', 'output': {}})
              """);
      assertThat(tool.asIs("x").run().reason()).isEqualTo("ok");
      lab.await(f -> f.ready() == 1);
      assertThat(tool.asIs("x").run().reason()).isEqualTo("ok");
      assertThat(lab.pool.figures().lost()).isEqualTo(1);
      assertThat(lab.pool.figures().warm()).isZero();
    }
  }

  /** Processor time, standard error, standard output: none of it is part of a start. */
  @Test
  void oneThatWorksOrTalksWhileItWaitsIsNotHandedOver() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(1_024))) {
      List<WarmLab.Tool> tools =
          Stream.of("while True: pass", "os.write(2, b'x')", "os.write(1, b'x')")
              .map(busy ->
                  lab.process(
                      "import threading\n"
                          + "def busy():\n"
                          + "    time.sleep(0.2)\n"
                          + "    "
                          + busy
                          + "\n"
                          + "write({'kind': 'ready'})\n"
                          + "threading.Thread(target=busy, daemon=True).start()\n"
                          + "read(); write({'kind': 'result', 'output': {}})\n"
                          + "os._exit(0)\n"))
              .toList();
      tools.forEach(tool -> assertThat(tool.asIs("x").run().reason()).isEqualTo("ok"));
      lab.await(f -> f.started() == tools.size() && f.bytes() == 0);
      tools.forEach(tool -> assertThat(tool.asIs("x").run().reason()).isEqualTo("ok"));
      assertThat(lab.pool.figures().warm()).isZero();
    }
  }

  @Test
  void oneThatIsTooOldOrNotWantedAnyMoreIsEnded() {
    for (PoolSettings settings :
        List.of(
            new PoolSettings(1L << 30, 2, 1_000, 600_000),
            new PoolSettings(1L << 30, 2, 600_000, 1_000))) {
      try (WarmLab lab = new WarmLab(settings)) {
        lab.python(OK).asIs("x").run();
        lab.await(f -> f.started() > 0 && f.ready() == 0);
      }
    }
  }

  @Test
  void oneOfAPackageThatMayNotRunIsEnded() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(1_024))) {
      WarmLab.Tool tool = lab.python(OK);
      tool.asIs("x").run();
      lab.await(f -> f.ready() == 1);
      lab.pool.discard(tool.manifest().packageDigest());
      assertThat(lab.pool.figures().ready()).isZero();
      tool.asIs("x").run();
      lab.await(f -> f.ready() == 1);
      lab.pool.allowOnly(digest -> !digest.equals(tool.manifest().packageDigest()));
      lab.await(f -> f.bytes() == 0);
      tool.asIs("x").run();
      lab.await(f -> f.bytes() == 0);
      assertThat(lab.pool.figures().warm()).isZero();
    }
  }

  /** Each for a reason of its own; and what could wait does. */
  @Test
  void whatBelongsToACallIsNeverStartedBeforeIt() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(4_096))) {
      WarmLab.Tool network =
          lab.tool(Language.PYTHON, OK, "network: [] ", "network: [\"example.com:443\"] ");
      WarmLab.Tool workspace =
          lab.tool(Language.PYTHON, OK, "filesystem: none ", "filesystem: workspace ");
      WarmLab.Tool reproducible =
          lab.tool(Language.PYTHON, OK, "determinism: recorded", "determinism: reproducible");
      WarmLab.Tool plain = lab.python(OK);
      for (Call call :
          List.of(
              network.asIs("x"),
              workspace.asIs("x"),
              reproducible.asIs("x"),
              plain.asIs("x").input("file", "bytes"))) {
        assertThat(call.run().reason()).isEqualTo("ok");
        assertThat(lab.pool.figures()).isEqualTo(new WarmPool.Figures(0, 0, 0, 0, 0, 0, 0));
      }
      plain.warm("x");
      // With other limits it would be another start.
      long warm = lab.pool.figures().warm();
      plain.asIs("x").memoryBytes(200L << 20).run();
      assertThat(lab.pool.figures().warm()).isEqualTo(warm);
    }
  }

  @Test
  void aClosedPoolStartsCold() {
    try (WarmLab lab = new WarmLab(PoolSettings.ofMiB(1_024))) {
      WarmLab.Tool tool = lab.python(OK);
      tool.warm("x");
      lab.pool.close();
      assertThat(tool.asIs("x").run().reason()).isEqualTo("ok");
      assertThat(lab.pool.figures().ready() + lab.pool.figures().starting()).isZero();
    }
  }
}
