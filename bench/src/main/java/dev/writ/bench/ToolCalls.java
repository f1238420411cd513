package dev.writ.bench;

import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.host.Trees;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.language.LanguageDrivers;
import dev.writ.tools.language.PoolSettings;
import dev.writ.tools.language.WarmPool;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The smallest tool of each language, called cold and warm: against the bare start of its
 * interpreter, and against one question to a process of it that runs already, unconfined.
 */
final class ToolCalls implements AutoCloseable {
  private static final long READY_WITHIN_MS = 60_000;
  private static final BenchTarget OF_BARE = new BenchTarget.TimeAtMost(6);
  private static final BenchTarget WARM_OF_BARE = new BenchTarget.TimeAtMost(0.5);
  private static final BenchTarget OF_RUNNING = new BenchTarget.TimeAtMost(2_000);
  private static final byte[] TEXT = "one two\nthree\n".getBytes(StandardCharsets.UTF_8);

  /** What is measured of one language; {@link #ready} runs before each measurement. */
  record Kind(
      String name, Runnable cold, Runnable ready, Runnable warm, Runnable bare, Runnable running) {}

  /** An interpreter, and a program in it that answers frames for ever. */
  private record Interpreter(Language language, List<String> bare, String file, String code) {
    List<String> loop(Path folder) {
      List<String> argv = new ArrayList<>();
      argv.add(bare.getFirst());
      argv.add(folder.resolve(file).toString());
      return argv;
    }
  }

  /** At most one worker waits, so that no other is started during a measurement. */
  private static final PoolSettings ONE = new PoolSettings(256L << 20, 1, 600_000, 600_000);

  private final Path place;
  private final boolean asked;
  private final ProcessHost host;
  private final List<WarmPool> pools = new ArrayList<>();
  private final List<Process> running = new ArrayList<>();

  private ToolCalls(boolean asked) throws IOException {
    this.asked = asked;
    place = TemporaryDirectory.in(Path.of("/tmp"), "wtb").path();
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx--x--x"));
    host = ProcessHost.open(SandboxSettings.in(place.resolve("s")), SecretStore.none());
  }

  /**
   * Uses the engine that this host chooses.
   *
   * @param asked whether these steps are wanted; there are none if not
   */
  static ToolCalls where(boolean asked) throws IOException {
    return new ToolCalls(asked);
  }

  private static List<Interpreter> interpreters() {
    String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
    return List.of(
        new Interpreter(
            Language.PYTHON,
            List.of("/usr/bin/python3", "-I", "-S", "-c", "0"),
            "loop.py",
            """
            import struct, sys
            i, o = sys.stdin.buffer, sys.stdout.buffer
            while head := i.read(4):
                text = i.read(struct.unpack(">I", head)[0])
                body = str(len(text.split())).encode()
                o.write(struct.pack(">I", len(body)) + body)
                o.flush()
            """),
        new Interpreter(
            Language.NODE,
            List.of("/usr/bin/node", "-e", "0"),
            "loop.mjs",
            """
            import { readSync, writeSync } from 'node:fs';
            const read = (n) => { const b = Buffer.alloc(n);
              for (let at = 0; at < n;) { const r = readSync(0, b, at, n - at);
                if (r === 0) process.exit(0); at += r; } return b; };
            for (;;) {
              const text = read(read(4).readUInt32BE()).toString();
              const body = Buffer.from(String(text.split(/\\s+/u).length));
              const head = Buffer.alloc(4); head.writeUInt32BE(body.length);
              writeSync(1, Buffer.concat([head, body]));
            }
            """),
        new Interpreter(
            Language.JAVA,
            List.of(java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-version"),
            "Loop.java",
            """
            import java.io.*;
            public class Loop {
              public static void main(String[] a) throws IOException {
                DataInputStream in = new DataInputStream(System.in);
                DataOutputStream out = new DataOutputStream(new FileOutputStream(FileDescriptor.out));
                while (true) {
                  String text = new String(in.readNBytes(in.readInt()));
                  byte[] body = Integer.toString(text.split("\\\\s+").length).getBytes();
                  out.writeInt(body.length);
                  out.write(body);
                }
              }
            }
            """));
  }

  /** Python, Node and Java, where their interpreters are there. */
  List<Kind> kinds() {
    List<Kind> kinds = new ArrayList<>();
    for (Interpreter one : interpreters()) {
      if (asked && Files.isExecutable(Path.of(one.bare().getFirst()))) {
        kinds.add(kind(one));
      }
    }
    return kinds;
  }

  private Kind kind(Interpreter of) {
    try {
      String name = of.language().text();
      Path folder = place.resolve(name);
      Templates.make(of.language(), "count", folder);
      ToolProject project = ToolProject.open(folder);
      Path loop = place.resolve(of.file());
      Files.writeString(loop, of.code(), StandardCharsets.UTF_8);
      Process process =
          new ProcessBuilder(of.loop(place)).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      running.add(process);
      WarmPool pool = new WarmPool(host, ONE);
      pools.add(pool);
      Runnable cold = call(project, new WarmPool(host, PoolSettings.NONE));
      Runnable warm = call(project, pool);
      return new Kind(
          name,
          cold,
          () -> awaitReady(pool, warm),
          () -> warm(pool, warm),
          () -> start(of.bare()),
          () -> ask(process));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Runnable call(ToolProject project, WarmPool from) {
    ToolManifest manifest = project.manifest();
    Driver driver =
        LanguageDrivers.all(host, from).stream()
            .filter(d -> d.name().equals(manifest.driver()))
            .findFirst()
            .orElseThrow();
    Driver.Prepared prepared =
        driver.prepare(manifest, "count", file -> project.files().get(file.path()));
    Invocation invocation =
        new Invocation(
            new Scope("bench", "bench", "bench"),
            JsonValue.object().put("text", new String(TEXT, StandardCharsets.UTF_8)).build(),
            List.of(),
            input -> new ByteArrayInputStream(new byte[0]),
            new byte[32],
            Instant.EPOCH,
            new Resources(10_000, 256L << 20, 1 << 20, 60_000),
            manifest.sandboxes().getFirst(),
            Optional.empty(),
            false);
    return () -> {
      DriverOutcome outcome = prepared.run(invocation);
      if (outcome.end() != DriverOutcome.End.SUCCEEDED) {
        throw new IllegalStateException("a measured call ended by " + outcome.reason());
      }
    };
  }

  /** Not measured: a server starts workers in the background, between calls. */
  private static void awaitReady(WarmPool pool, Runnable call) {
    try {
      if (pool.figures().ready() == 0) {
        call.run();
      }
      if (!pool.await(f -> f.ready() > 0 && f.starting() == 0, READY_WITHIN_MS)) {
        throw new IllegalStateException("no worker: " + pool.figures());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static void warm(WarmPool pool, Runnable call) {
    long before = pool.figures().warm();
    call.run();
    if (pool.figures().warm() == before) {
      throw new IllegalStateException("a call that found no worker: " + pool.figures());
    }
  }

  private static void start(List<String> argv) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(argv)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD);
      builder.environment().clear(); // as a sandbox does; inheriting it slows some starts down
      Process process = builder.start();
      process.getOutputStream().close();
      if (process.waitFor() != 0) {
        throw new IllegalStateException("a measured program failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static void ask(Process process) {
    try {
      DataOutputStream out = new DataOutputStream(process.getOutputStream());
      out.writeInt(TEXT.length);
      out.write(TEXT);
      out.flush();
      DataInputStream in = new DataInputStream(process.getInputStream());
      in.readNBytes(in.readInt());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A row for each language and floor. */
  List<Step> steps() {
    List<Step> steps = new ArrayList<>();
    for (Kind kind : kinds()) {
      String cold = "tool call, cold, " + kind.name();
      String warm = "tool call, warm, " + kind.name();
      String bare = "bare start of its interpreter";
      String process = "a question to a running process";
      Step.Slice bareCost = cost(kind, kind.bare());
      Step.Slice runningCost = cost(kind, kind.running());
      Step.Slice coldCost = cost(kind, kind.cold());
      Step.Slice warmCost = cost(kind, kind.warm());
      steps.add(new Step(cold, bare, OF_BARE, coldCost, bareCost));
      steps.add(new Step(warm, bare, WARM_OF_BARE, warmCost, bareCost));
      steps.add(new Step(warm, process, OF_RUNNING, warmCost, runningCost));
    }
    return steps;
  }

  /** The wall time alone: the processes' own is not ours to see. */
  private static Step.Slice cost(Kind kind, Runnable work) {
    return () -> {
      kind.ready().run();
      Cost.Start start = Cost.Start.now();
      work.run();
      return new Cost(start.wallNanos(), 0);
    };
  }

  @Override
  public void close() {
    running.forEach(Process::destroyForcibly);
    pools.forEach(WarmPool::close);
    host.close();
    Trees.remove(place);
  }
}
