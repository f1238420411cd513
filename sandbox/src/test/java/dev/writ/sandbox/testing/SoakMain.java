package dev.writ.sandbox.testing;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.sandbox.workspace.WorkspaceSpec;
import dev.writ.sandbox.workspace.WorkspaceStorage;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program that runs sandboxes, eight at a time, until it has run enough or is killed. It writes a
 * line for each that ended.
 */
public final class SoakMain {
  private SoakMain() {}

  /** What some of them leave running when they are killed. */
  private static final List<List<String>> PROGRAMS =
      List.of(
          List.of("/bin/sh", "-c", "echo done"),
          List.of("/bin/sh", "-c", "(setsid sleep 600 &) ; echo x >/tmp/x; echo done"),
          List.of(
              "/usr/bin/python3",
              "-c",
              "open('/workspace/f', 'w').write('x' * 100000); print('done')"),
          List.of("/bin/sh", "-c", "trap '' TERM; sleep 0.2; echo done"));

  /**
   * @param arguments state directory, how many, how many at a time
   */
  public static void main(String[] arguments) throws Exception {
    Engines engines = Engines.open(SandboxSettings.in(Path.of(arguments[0])));
    System.out.println("swept " + engines.swept().size());
    int count = Integer.parseInt(arguments[1]);
    AtomicLong next = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                for (long n = next.incrementAndGet(); n <= count; n = next.incrementAndGet()) {
                  one(engines, n);
                }
              }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    engines.close();
    System.out.println("closed");
  }

  private static void one(Engines engines, long n) {
    Engine engine = engines.named(n % 4 == 3 ? "runc" : "bubblewrap");
    SandboxSpec spec =
        SandboxSpec.of("soak-" + n, Profile.named("default")).withFreshBytes(1 << 20);
    if (n % 5 == 0) {
      Workspace place =
          engines
              .workspaces()
              .open(
                  new WorkspaceSpec(
                      "t",
                      "r" + n,
                      WorkspaceStorage.MEMORY,
                      1 << 20,
                      Instant.EPOCH,
                      Instant.EPOCH));
      spec = spec.in(place);
    }
    try (Sandbox sandbox = engine.create(spec)) {
      List<String> program = PROGRAMS.get((int) (n % PROGRAMS.size()));
      Ended ended =
          sandbox.exec(Command.of(program).withLimits(CgroupLimits.STANDARD.withGraceMs(100)));
      System.out.println("ended " + n + " " + ended.reason().text());
    } catch (RuntimeException e) {
      System.out.println("failed " + n + " " + e);
    }
  }
}
