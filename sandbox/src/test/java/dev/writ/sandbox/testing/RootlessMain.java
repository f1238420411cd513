package dev.writ.sandbox.testing;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Engine;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.engine.Engines;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** What a user without root can do, and is refused; a line for each. */
public final class RootlessMain {
  private RootlessMain() {}

  public static void main(String[] arguments) {
    SandboxSettings settings =
        SandboxSettings.in(Path.of(arguments[0])).withContainers(Path.of("/nowhere"));
    try (Engines engines = Engines.open(settings)) {
      EngineReport report = engines.reports().getFirst();
      List<Guarantee> shortfalls = report.shortfalls();
      System.out.println("shortfalls " + shortfalls.stream().map(Guarantee::text).toList());
      refused("choose", () -> engines.choose(List.of()));
      refused("some", () -> engines.choose(shortfalls.subList(1, shortfalls.size())));
      Engine engine = engines.choose(shortfalls);
      SandboxSpec spec = SandboxSpec.of("a", Profile.named("default"));
      refused("create", () -> engine.create(spec));
      try (Sandbox sandbox = engine.create(spec.without(shortfalls))) {
        Ended ended =
            sandbox.exec(
                Command.of(
                    "/bin/sh",
                    "-c",
                    "id -u; grep -E 'Seccomp:|CapEff' /proc/self/status; touch /workspace/f;"
                        + " unshare -U true || echo no"));
        System.out.print(new String(ended.stdout().bytes(), StandardCharsets.UTF_8));
        Ended slow =
            sandbox.exec(
                Command.of("/bin/sh", "-c", "setsid sleep 600 & sleep 600")
                    .withLimits(CgroupLimits.STANDARD.withWallMs(500).withGraceMs(100)));
        System.out.println(slow.reason().text());
        Ended greedy =
            sandbox.exec(
                Command.of("/usr/bin/python3", "-c", "x = b'x' * 1500000000; print('ESCAPED')")
                    .withLimits(CgroupLimits.STANDARD.withMemoryBytes(64 << 20)));
        System.out.println("memory " + greedy.reason().text() + " " + greedy.exitCode());
        // Browsers and runtimes reserve addresses that they never write to.
        Ended roomy =
            sandbox.exec(
                Command.of(
                    "/usr/bin/python3",
                    "-c",
                    "import mmap; mmap.mmap(-1, 64 << 30, prot=0,"
                        + " flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS); print('reserved')"));
        System.out.print(new String(roomy.stdout().bytes(), StandardCharsets.UTF_8));
        Ended out =
            sandbox.exec(
                Command.of("grep", "-c", "0100007F:0C38 00000000:0000 0A", "/proc/net/tcp")
                    .withEgress(List.of(EgressRule.of("a.test", 80))));
        System.out.print("forwarders " + new String(out.stdout().bytes(), StandardCharsets.UTF_8));
        System.out.println("forwarders left " + forwarders(arguments[0]));
        SecretFile secret = new SecretFile("s", new byte[1]);
        refused("secret", () -> sandbox.exec(Command.of("true").withSecrets(List.of(secret))));
        sandbox.start(Command.of("sleep", "600"), OutputListener.NONE);
      }
      refused("docker", () -> engines.named("docker"));
      refused("runc", () -> engines.named("runc").create(spec));
    }
    System.out.println("end");
  }

  /** How many forwarders to a proxy of this state directory do not end. */
  private static long forwarders(String state) {
    return ProcessHandle.allProcesses()
        .filter(process ->
            process.info().commandLine().filter(line -> line.contains("socat")).isPresent())
        .filter(process ->
            process.info().commandLine().filter(line -> line.contains(state)).isPresent())
        .filter(process ->
            process
                .onExit()
                .handle((ended, late) -> late != null)
                .completeOnTimeout(true, 10, TimeUnit.SECONDS)
                .join())
        .count();
  }

  private static void refused(String what, Runnable work) {
    try {
      work.run();
      System.out.println(what + " was not refused");
    } catch (WritException e) {
      System.out.println(what + " " + e.code().code());
    }
  }
}
