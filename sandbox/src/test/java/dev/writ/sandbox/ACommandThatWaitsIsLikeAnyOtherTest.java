package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Its input comes later, and with it its time; all else is as for one that had it at once. */
class ACommandThatWaitsIsLikeAnyOtherTest {
  private static final long LONG_MS = 600_000;
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

  private static Sandbox sandbox(String engine) {
    return engines
        .named(engine)
        .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")));
  }

  /** We look away: what the owner says was spent waiting is more than the kernel lets it have. */
  @Test
  void theKernelsOwnLimitOfProcessorTimeIsNamedTheSame() throws Exception {
    Command command =
        waiting(
            "exec python3 -c 'import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
                + "while True: pass'");
    try (Sandbox sandbox = sandbox("bubblewrap")) {
      Held held = held(sandbox, command.withLimits(command.limits().withCpuMs(100)));
      assertThat(held.handOver(bytes("go\n"), 60_000, 1_000_000)).isTrue();
      Ended ended = held.await();
      assertThat(ended.reason()).isEqualTo(EndReason.CPU_LIMIT);
      assertThat(ended.signal()).hasValue(9);
    }
  }

  /** Says that it is there, waits for one line, and then does what the script says. */
  private static Command waiting(String script) {
    return Command.of("/bin/sh", "-c", "echo there; read -r line; " + script)
        .withLimits(CgroupLimits.STANDARD.withWallMs(1)); // which counts for nobody who waits
  }

  /** A command that said that it is there. */
  private static Held held(Sandbox sandbox, Command command) throws InterruptedException {
    CountDownLatch there = new CountDownLatch(1);
    Held held = sandbox.hold(command, LONG_MS, (stream, bytes) -> there.countDown());
    there.await();
    return held;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(Captured captured) {
    return new String(captured.bytes(), StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @MethodSource("engines")
  void itReadsWhatItIsHandedAndThenTheEnd(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      Held held = held(sandbox, waiting("echo \"got $line\"; cat; echo end >&2"));
      assertThat(held.look().waits()).isTrue();
      assertThat(held.look().stdoutBytes()).isEqualTo("there\n".length());
      assertThat(held.look().limitMet()).isFalse();
      String much = "x".repeat(200_000);
      assertThat(held.handOver(bytes("a\n" + much), 20_000, 0)).isTrue();
      assertThat(held.handOver(bytes("again"), 20_000, 0)).isFalse();
      Ended ended = held.await();
      assertThat(ended.succeeded()).as(ended.toJson().toString()).isTrue();
      assertThat(text(ended.stdout())).isEqualTo("there\ngot a\n" + much);
      assertThat(text(ended.stderr())).isEqualTo("end\n");
      assertThat(held.look().waits()).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatIsNotUsedInTimeIsEnded(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      Held held = sandbox.hold(waiting("echo never"), 300, OutputListener.NONE);
      Ended ended = held.await();
      assertThat(ended.reason()).isEqualTo(EndReason.TIMED_OUT);
      assertThat(text(ended.stdout())).doesNotContain("never");
      assertThat(held.handOver(bytes("a\n"), 20_000, 0)).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void whatEndsWhileItWaitsIsHandedNothing(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      Held held = sandbox.hold(Command.of("/bin/sh", "-c", "exit 3"), LONG_MS, (s, b) -> {});
      assertThat(held.await().exitCode()).hasValue(3);
      assertThat(held.handOver(bytes("a\n"), 20_000, 0)).isFalse();
      held = held(sandbox, waiting("echo never"));
      held.cancel();
      assertThat(held.handOver(bytes("a\n"), 20_000, 0)).isFalse();
      assertThat(held.await().reason()).isEqualTo(EndReason.CANCELLED);
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void itsElapsedTimeIsThatOfTheHandOver(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      Held held = held(sandbox, waiting("exec sleep 600"));
      assertThat(held.handOver(bytes("a\n"), 200, 0)).isTrue();
      assertThat(held.await().reason()).isEqualTo(EndReason.TIMED_OUT);
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void itsOtherLimitsBite(String engine) throws Exception {
    String take = "a = bytearray(200 << 20)";
    assertThat(after(engine, "exec python3 -c '" + take + "'", 128 << 20, 64).reason())
        .isEqualTo(EndReason.OUT_OF_MEMORY);
    String fork = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 9 & done; exit 1";
    assertThat(after(engine, fork, 128 << 20, 8).reason()).isEqualTo(EndReason.PIDS_LIMIT);
    assertThat(after(engine, "yes", 128 << 20, 8).reason()).isEqualTo(EndReason.OUTPUT_LIMIT);
  }

  private static Ended after(String engine, String script, long memoryBytes, long pids)
      throws InterruptedException {
    Command command = waiting(script);
    CgroupLimits limits = command.limits().withMemoryBytes(memoryBytes).withPids(pids);
    try (Sandbox sandbox = sandbox(engine)) {
      Held held = held(sandbox, command.withLimits(limits.withOutputBytes(1 << 20)));
      assertThat(held.handOver(bytes("a\n"), 20_000, 0)).isTrue();
      return held.await();
    }
  }

  /** 200 ms at the start count; those that the caller names as spent waiting do not. */
  @ParameterizedTest
  @MethodSource("engines")
  void itsProcessorTimeCountsFromTheStartLessWhatWaitingTook(String engine) throws Exception {
    String burn =
        "import time; t = time.process_time\n"
            + "while t() < 0.2: pass\n"
            + "print('there', flush=True); input()\n"
            + "while t() < %s: pass\n";
    Command command = waiting("").withLimits(CgroupLimits.STANDARD.withCpuMs(350));
    try (Sandbox sandbox = sandbox(engine)) {
      Held held = held(sandbox, python(command, burn.formatted("600")));
      assertThat(held.look().cpuMs()).isGreaterThanOrEqualTo(200);
      assertThat(held.handOver(bytes("a\n"), 20_000, 0)).isTrue();
      Ended ended = held.await();
      assertThat(ended.reason()).isEqualTo(EndReason.CPU_LIMIT);
      assertThat(ended.usage().cpuMs()).isGreaterThanOrEqualTo(350);

      held = held(sandbox, python(command, burn.formatted("0.4")));
      assertThat(held.handOver(bytes("a\n"), 20_000, held.look().cpuMs())).isTrue();
      ended = held.await();
      assertThat(ended.succeeded()).as(ended.toJson().toString()).isTrue();
      assertThat(ended.usage().cpuMs()).isBetween(150L, 349L);
    }
  }

  private static Command python(Command like, String script) {
    return Command.of("python3", "-c", script).withLimits(like.limits());
  }

  @ParameterizedTest
  @MethodSource("engines")
  void nothingOfOneThatWaitsIsLeft(String engine) throws Exception {
    Sandbox sandbox = sandbox(engine);
    Held held = held(sandbox, waiting("echo never"));
    sandbox.destroy();
    assertThat(held.await().reason()).isEqualTo(EndReason.CANCELLED);
    assertThat(Leftovers.await(engines.directory().resolve("s"), what -> false)).isEmpty();
    assertThatThrownBy(() -> sandbox.hold(waiting(""), LONG_MS, OutputListener.NONE))
        .hasMessageContaining("SBX-024");
  }

  @ParameterizedTest
  @MethodSource("engines")
  void oneThatHasItsInputDoesNotWait(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      assertThatThrownBy(
              () -> sandbox.hold(waiting("").withStdin(bytes("a")), LONG_MS, OutputListener.NONE))
          .hasMessageContaining("SBX-025");
    }
  }
}
