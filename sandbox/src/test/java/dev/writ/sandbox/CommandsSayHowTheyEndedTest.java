package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.TestEngines;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CommandsSayHowTheyEndedTest {
  private static TestEngines engines;

  @BeforeAll
  static void open() {
    engines = TestEngines.withContainers(Resolver.HOST);
  }

  @AfterAll
  static void close() {
    engines.close();
  }

  static List<String> engines() {
    return TestEngines.allNames();
  }

  /** Those that can turn address randomisation off. */
  static List<String> reproducible() {
    return TestEngines.names();
  }

  /** A service has no user namespace: its programs see the user id that the host sees. */
  private static long userInside(String engine, Sandbox sandbox) {
    return engine.equals("docker") ? sandbox.workspace().owner() : 65_534;
  }

  private static Sandbox sandbox(String engine) {
    return engines
        .named(engine)
        .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")));
  }

  private static String text(Captured captured) {
    return new String(captured.bytes(), StandardCharsets.UTF_8);
  }

  private static Ended shell(Sandbox sandbox, String line) {
    return sandbox.exec(Command.of("/bin/sh", "-c", line));
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatGoesInComesOutByteForByte(String engine) {
    byte[] input = new byte[300_000];
    for (int i = 0; i < input.length; i++) {
      input[i] = (byte) (i * 31 + i / 251);
    }
    try (Sandbox sandbox = sandbox(engine)) {
      Ended ended = sandbox.exec(Command.of("cat").withStdin(input));
      assertThat(ended.succeeded()).isTrue();
      assertThat(ended.stdout().bytes()).isEqualTo(input);
      assertThat(ended.stdout().truncated()).isFalse();
      // A program that does not read is no failure.
      assertThat(sandbox.exec(Command.of("true").withStdin(input)).succeeded()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void argumentsAndVariablesArriveAsTheyWere(String engine) {
    List<String> hard =
        List.of("", " ", "'", "\"", "é中🙂", "$HOME `id` $(id)", "a\nb", "\\", "--", "-x", "*");
    String program =
        "import os, sys\n"
            + "variables = [os.environ['HARD_%d' % i] for i in range(len(sys.argv) - 1)]\n"
            + "print('|'.join(sys.argv[1:] + variables), end='')";
    List<String> argv = new ArrayList<>(List.of("/usr/bin/python3", "-c", program));
    argv.addAll(hard);
    Command command = Command.of(argv);
    for (int i = 0; i < hard.size(); i++) {
      command = command.withEnvironment("HARD_" + i, hard.get(i));
    }
    String all = String.join("|", hard);
    try (Sandbox sandbox = sandbox(engine)) {
      assertThat(text(sandbox.exec(command).stdout())).isEqualTo(all + "|" + all);
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void exitsAndSignalsAreToldApart(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      for (int code : new int[] {0, 1, 127, 128}) {
        Ended ended = shell(sandbox, "exit " + code);
        assertThat(ended.reason()).isEqualTo(EndReason.EXITED);
        assertThat(ended.exitCode()).hasValue(code);
        assertThat(ended.signal()).isEmpty();
      }
      // Neither SIGHUP nor SIGINT: who started the tests may have them ignored, and so inherited.
      for (int signal : new int[] {6, 11, 15}) {
        Ended ended = shell(sandbox, "kill -" + signal + " $$");
        assertThat(ended.reason()).isEqualTo(EndReason.SIGNALLED);
        assertThat(ended.signal()).hasValue(signal);
        assertThat(ended.exitCode()).isEmpty();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void outputStreamsWhileItRunsAndCancelIsReal(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      CountDownLatch first = new CountDownLatch(1);
      ByteArrayOutputStream seen = new ByteArrayOutputStream();
      Execution execution =
          sandbox.start(
              Command.of("/bin/sh", "-c", "echo first; sleep 600; echo second"),
              (stream, bytes) -> {
                seen.writeBytes(bytes);
                first.countDown();
              });
      assertThat(first.await(20, TimeUnit.SECONDS)).isTrue();
      assertThatThrownBy(() -> sandbox.exec(Command.of("true")))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("SBX-023");
      assertThatThrownBy(() -> sandbox.workspace().treeDigest()).hasMessageContaining("SBX-042");
      execution.cancel();
      Ended ended = execution.await();
      assertThat(ended.reason()).isEqualTo(EndReason.CANCELLED);
      assertThat(ended.exitCode()).isEmpty();
      assertThat(text(ended.stdout())).isEqualTo("first\n");
      assertThat(seen.toString(StandardCharsets.UTF_8)).isEqualTo("first\n");
      assertThat(execution.await()).isSameAs(ended);
      assertThat(sandbox.exec(Command.of("true")).succeeded()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void aGraceLetsAProgramSayGoodbye(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      Ended ended =
          sandbox.exec(
              // The other process is there before the trap, which it would have until it is sleep.
              Command.of("/bin/sh", "-c", "sleep 600 & trap 'echo bye; exit 0' TERM; echo up; wait")
                  .withLimits(CgroupLimits.STANDARD.withWallMs(2_000).withGraceMs(20_000)));
      assertThat(ended.reason()).isEqualTo(EndReason.TIMED_OUT);
      assertThat(text(ended.stdout())).isEqualTo("up\nbye\n");
      assertThat(ended.usage().wallMs()).isLessThan(20_000);
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void truncationIsMarkedAndTheFirstBytesAreKept(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      Ended ended =
          sandbox.exec(
              Command.of("/bin/sh", "-c", "printf begin; yes")
                  .withLimits(CgroupLimits.STANDARD.withOutputBytes(1_000)));
      assertThat(ended.reason()).isEqualTo(EndReason.OUTPUT_LIMIT);
      assertThat(ended.stdout().bytes())
          .hasSize(1_000)
          .startsWith("begin".getBytes(StandardCharsets.US_ASCII));
      assertThat(ended.stdout().truncated()).isTrue();
      assertThat(ended.stdout().total()).isGreaterThan(1_000);
      Ended exact =
          sandbox.exec(
              Command.of("printf", "12345").withLimits(CgroupLimits.STANDARD.withOutputBytes(5)));
      assertThat(exact.succeeded()).isTrue();
      assertThat(exact.stdout().truncated()).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatWasUsedIsMeasured(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      Ended ended =
          sandbox.exec(
              Command.of(
                  "python3",
                  "-c",
                  "import time\n"
                      + "x = b'x' * 50000000\n"
                      + "t = time.process_time()\n"
                      + "while time.process_time() - t < 0.1: pass"));
      assertThat(ended.succeeded()).isTrue();
      assertThat(ended.usage().cpuMs()).isBetween(100L, 5_000L);
      assertThat(ended.usage().memoryPeakBytes()).isBetween(50_000_000L, 256L << 20);
      assertThat(ended.usage().wallMs()).isGreaterThanOrEqualTo(100);
      assertThat(ended.usage().pidsPeak()).isBetween(1L, 10L);
      assertThat(ended.toJson().get("reason").toString()).contains("exited");
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void theShareOfProcessorsIsHeld(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      CgroupLimits limits = CgroupLimits.STANDARD.withWallMs(800).withGraceMs(0).withCpuMilli(100);
      Ended ended =
          sandbox.exec(
              Command.of("/bin/sh", "-c", "(while :; do :; done) & while :; do :; done")
                  .withLimits(limits));
      assertThat(ended.reason()).isEqualTo(EndReason.TIMED_OUT);
      // A tenth of a processor: two loops would have used up to twenty times as much.
      assertThat(ended.usage().cpuMs()).isLessThan(ended.usage().wallMs() / 4);
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void theWorkspaceLastsAndTheRestDoesNot(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      assertThat(
              shell(
                      sandbox,
                      "echo a >/workspace/a; echo b >/tmp/b; echo c >/dev/shm/c; sleep 600"
                          + " >/dev/null 2>&1 &")
                  .succeeded())
          .isTrue();
      assertThat(text(shell(sandbox, "ls /workspace /tmp /dev/shm").stdout()))
          .isEqualTo("/dev/shm:\n\n/tmp:\n\n/workspace:\na\n");
      assertThat(sandbox.workspace().read("a", 10))
          .isEqualTo("a\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(Leftovers.await(engines.directory().resolve("s"), w -> w.contains("/live/")))
          .isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void secretsAreFilesForOneCommandAndNowhereElse(String engine) {
    SecretFile secret = new SecretFile("token", "hunter2".getBytes(StandardCharsets.US_ASCII));
    try (Sandbox sandbox = sandbox(engine)) {
      Command command =
          Command.of(
              "/bin/sh",
              "-c",
              "cat /run/secrets/token; stat -f -c %T /run/secrets; env | grep -c hunter2; echo x"
                  + " >/run/secrets/token");
      Ended ended = sandbox.exec(command.withSecrets(List.of(secret)));
      assertThat(text(ended.stdout())).isEqualTo("hunter2tmpfs\n0\n");
      assertThat(ended.succeeded()).isFalse();
      assertThat(command.withSecrets(List.of(secret)).toString()).doesNotContain("hunter2");
      assertThat(secret.toString()).doesNotContain("hunter2");
      assertThat(shell(sandbox, "ls /run/secrets").succeeded()).isFalse();
    }
    assertThatThrownBy(
            () -> Command.of("true").withSecrets(List.of(new SecretFile("../x", new byte[0]))))
        .hasMessageContaining("SBX-025");
  }

  @ParameterizedTest
  @MethodSource("engines")
  void bindsAreReadOnlyAndStayOutOfWhatIsOurs(String engine) throws Exception {
    Path directory = Files.createDirectory(engines.directory().resolve("bind-" + engine));
    Files.writeString(directory.resolve("f"), "bound", StandardCharsets.US_ASCII);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    try (Sandbox sandbox = sandbox(engine)) {
      Command command = Command.of("/bin/sh", "-c", "cat /opt/in/f; touch /opt/in/g && echo no");
      Ended ended = sandbox.exec(command.withBinds(List.of(new Bind(directory, "/opt/in"))));
      assertThat(text(ended.stdout())).isEqualTo("bound");
      for (String target :
          List.of(
              "/",
              "/proc/x",
              "/workspace/x",
              "/tmp",
              "/dev/null",
              "/run/secrets/x",
              "relative",
              "/a/../b",
              "/bin")) {
        assertThatThrownBy(
                () -> sandbox.exec(command.withBinds(List.of(new Bind(directory, target)))))
            .as(target)
            .hasMessageContaining("SBX-027");
      }
      // No place can be made there: the engine says so, and it is no end of the command.
      assertThatThrownBy(
              () -> sandbox.exec(command.withBinds(List.of(new Bind(directory, "/usr/new")))))
          .hasMessageContaining("SBX-004");
      assertThatThrownBy(() ->
              sandbox.exec(command.withBinds(List.of(new Bind(Path.of("/nowhere"), "/opt/in")))))
          .hasMessageContaining("SBX-027");
      assertThat(sandbox.exec(Command.of("true")).succeeded()).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void anExecutableThatIsNotListedDoesNotExist(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      List<String> listed = List.of("/usr/bin/ls", "/usr/bin/python3", "/usr/bin/sh");
      Command command =
          Command.of(
                  "sh",
                  "-c",
                  "ls /usr/bin; python3 -c 'import ssl, json, zlib; print(1+1)'; git; cat x; node")
              .withExecutables(listed);
      Ended ended = sandbox.exec(command);
      assertThat(text(ended.stdout())).isEqualTo("ls\npython3\nsh\n2\n");
      assertThat(text(ended.stderr()))
          .contains("git: not found", "cat: not found", "node: not found");
      assertThatThrownBy(() -> sandbox.exec(Command.of("git").withExecutables(listed)))
          .hasMessageContaining("SBX-028");
      assertThatThrownBy(
              () -> sandbox.exec(Command.of("true").withExecutables(List.of("/usr/bin/nope"))))
          .hasMessageContaining("SBX-028");
      assertThatThrownBy(() -> sandbox.exec(Command.of("no-such-program")))
          .hasMessageContaining("SBX-028");
      Ended node =
          sandbox.exec(Command.of("node", "-p", "6*7").withExecutables(List.of("/usr/bin/node")));
      assertThat(text(node.stdout())).as(text(node.stderr())).isEqualTo("42\n");
      Ended git =
          sandbox.exec(
              Command.of("git", "init", "-q", "/workspace/r")
                  .withExecutables(List.of("/usr/bin/git")));
      assertThat(git.succeeded()).as(text(git.stderr())).isTrue();
    }
  }

  @ParameterizedTest
  @MethodSource("reproducible")
  void aReproducibleRunGivesTheSameBytes(String engine) {
    String program =
        "import time, uuid, random, os\n"
            + "print(time.time(), hash('x'), id(object()), random.random(), sorted({'a','b','c'},"
            + " key=hash))\n"
            + "print(os.environ['TZ'], os.environ['LANG'], list(os.environ))";
    Reproducible how = new Reproducible(Instant.parse("2026-01-02T03:04:05Z"), 7);
    try (Sandbox sandbox = sandbox(engine)) {
      Command command = Command.of("/usr/bin/python3", "-c", program).reproducibly(how);
      String first = text(sandbox.exec(command).stdout());
      assertThat(first).startsWith("1767323045");
      assertThat(text(sandbox.exec(command).stdout())).isEqualTo(first);
      Command other =
          Command.of("/usr/bin/python3", "-c", program)
              .reproducibly(new Reproducible(how.time(), 8));
      assertThat(text(sandbox.exec(other).stdout())).isNotEqualTo(first);
      Ended node =
          sandbox.exec(
              Command.of("node", "-e", "setTimeout(() => console.log(Date.now()), 20)")
                  .reproducibly(how));
      assertThat(text(node.stdout())).startsWith("1767323045");
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void profilesAreDataAndPrivilegedNeedsAnApproval(String engine) {
    assertThat(Profile.named("default").digest())
        .isNotEqualTo(Profile.named("restricted").digest());
    assertThatThrownBy(() -> Profile.named("root")).hasMessageContaining("SBX-020");
    SandboxSpec privileged = SandboxSpec.of(TestEngines.newId(), Profile.named("privileged"));
    assertThatThrownBy(() -> engines.named(engine).create(privileged))
        .hasMessageContaining("SBX-021");
    try (Sandbox sandbox = engines.named(engine).create(privileged.asApproved())) {
      Ended ended =
          shell(
              sandbox,
              "cp /usr/bin/true /tmp/t && /tmp/t && id -u && grep CapEff /proc/self/status");
      assertThat(text(ended.stdout()))
          .isEqualTo(userInside(engine, sandbox) + "\nCapEff:\t0000000000000000\n");
    }
    SandboxSpec restricted = SandboxSpec.of(TestEngines.newId(), Profile.named("restricted"));
    try (Sandbox sandbox = engines.named(engine).create(restricted)) {
      assertThatThrownBy(() -> sandbox.exec(Command.of("true"))).hasMessageContaining("SBX-025");
      Ended ended =
          sandbox.exec(
              Command.of("sh", "-c", "echo $HOME $PATH; ls /usr")
                  .withExecutables(List.of("/usr/bin/ls", "/usr/bin/sh")));
      assertThat(text(ended.stdout())).startsWith("/tmp /usr/bin:/bin\nbin\nlib\n");
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void idsAreUniqueWhileTheyLiveAndUserIdsAreDistinct(String engine) {
    String id = TestEngines.newId();
    SandboxSpec spec = SandboxSpec.of(id, Profile.named("default"));
    Sandbox first = engines.named(engine).create(spec);
    assertThatThrownBy(() -> engines.named(engine).create(spec)).hasMessageContaining("SBX-022");
    try (Sandbox second = sandbox(engine)) {
      assertThat(second.workspace().owner()).isNotEqualTo(first.workspace().owner());
    }
    first.destroy();
    first.destroy();
    assertThatThrownBy(() -> first.exec(Command.of("true"))).hasMessageContaining("SBX-024");
    engines.named(engine).create(spec).destroy();
    assertThatThrownBy(() -> SandboxSpec.of("../x", Profile.named("default")))
        .hasMessageContaining("SBX-022");
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatIsMalformedIsRefusedBeforeAnythingStarts(String engine) {
    assertThatThrownBy(() -> Command.of("")).hasMessageContaining("SBX-025");
    assertThatThrownBy(() -> Command.of("a\0b")).hasMessageContaining("SBX-025");
    assertThatThrownBy(() -> Command.of("\uD800")).hasMessageContaining("SBX-025");
    assertThatThrownBy(() -> Command.of("x", "y".repeat(200_000))).hasMessageContaining("SBX-025");
    assertThatThrownBy(() -> Command.of("x").withEnvironment("A B", "c"))
        .hasMessageContaining("SBX-025");
    assertThatThrownBy(() -> Command.of("x").withDirectory("/a/../b"))
        .hasMessageContaining("SBX-025");
    assertThatThrownBy(() -> CgroupLimits.STANDARD.withPids(0)).hasMessageContaining("SBX-026");
    assertThatThrownBy(() -> CgroupLimits.STANDARD.withMemoryBytes(1))
        .hasMessageContaining("SBX-026");
    try (Sandbox sandbox = sandbox(engine)) {
      assertThatThrownBy(() -> sandbox.exec(Command.of("true").withDirectory("/nowhere")))
          .hasMessageContaining("SBX-025");
      assertThatThrownBy(() -> sandbox.exec(Command.of("true").withDirectory("/workspace/gone")))
          .hasMessageContaining("SBX-044");
      sandbox.workspace().write("d/f", new byte[0], false);
      assertThat(text(sandbox.exec(Command.of("pwd").withDirectory("/workspace/d")).stdout()))
          .isEqualTo("/workspace/d\n");
      assertThatThrownBy(() -> sandbox.exec(Command.of("true").withDirectory("/workspace/d/f")))
          .hasMessageContaining("SBX-045");
      assertThat(Leftovers.await(engines.directory().resolve("s"), w -> w.contains("/live/")))
          .isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void aSandboxOutlivesTheThreadThatStartedIt(String engine) throws Exception {
    // Started from a virtual thread that ends, on a carrier that the JVM ends after it was idle.
    try (Sandbox sandbox = sandbox(engine)) {
      Execution[] execution = new Execution[1];
      Thread thread =
          Thread.ofVirtual()
              .start(() ->
                  execution[0] =
                      sandbox.start(
                          Command.of("/bin/sh", "-c", "read line; echo $line")
                              .withStdin("on\n".getBytes(StandardCharsets.US_ASCII)),
                          OutputListener.NONE));
      thread.join();
      assertThat(text(execution[0].await().stdout())).isEqualTo("on\n");
    }
  }
}
