package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.TestEngines;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** One that is written to while it runs: its limits, its death, and how much it may say. */
class AConversationHasTheLimitsOfACommandTest {
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

  private static Command shell(String script) {
    return Command.of("/bin/sh", "-c", script);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Output that can be waited for. */
  private static final class Heard implements OutputListener {
    private final ByteArrayOutputStream all = new ByteArrayOutputStream();

    @Override
    public synchronized void output(Stream stream, byte[] bytes) {
      all.writeBytes(bytes);
      notifyAll();
    }

    synchronized String await(int length) throws InterruptedException {
      while (all.size() < length) {
        wait();
      }
      return all.toString(StandardCharsets.UTF_8);
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void itAnswersWhatItIsToldUntilItsInputEnds(String engine) throws Exception {
    Heard heard = new Heard();
    try (Sandbox sandbox = sandbox(engine)) {
      Conversation talk = sandbox.converse(shell("while read -r l; do echo \"<$l>\"; done"), heard);
      assertThat(talk.write(bytes("a\n"))).isTrue();
      assertThat(heard.await(4)).isEqualTo("<a>\n");
      assertThat(talk.state().ended()).isFalse();
      assertThat(talk.write(bytes("b\n"))).isTrue();
      assertThat(heard.await(8)).isEqualTo("<a>\n<b>\n");
      talk.endInput();
      Ended ended = talk.await();
      assertThat(ended.succeeded()).as(ended.toJson().toString()).isTrue();
      assertThat(ended.stdout().bytes()).isEmpty();
      assertThat(talk.state().ended()).isTrue();
      assertThat(talk.write(bytes("c\n"))).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void itsLimitsAreOnItsWholeLife(String engine) throws Exception {
    String take = "exec python3 -c 'a = bytearray(200 << 20); input()'";
    CgroupLimits limits = CgroupLimits.STANDARD.withWallMs(60_000);
    assertThat(said(engine, take, limits.withMemoryBytes(128 << 20)))
        .isEqualTo(EndReason.OUT_OF_MEMORY);
    String fork = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 9 & done; exit 1";
    assertThat(said(engine, fork, limits.withPids(8))).isEqualTo(EndReason.PIDS_LIMIT);
    assertThat(said(engine, "while :; do :; done", limits.withCpuMs(200)))
        .isEqualTo(EndReason.CPU_LIMIT);
    assertThat(said(engine, "exec sleep 600", limits.withWallMs(300)))
        .isEqualTo(EndReason.TIMED_OUT);
  }

  /** How one ends that waits for a line and then does this. */
  private static EndReason said(String engine, String script, CgroupLimits limits) {
    try (Sandbox sandbox = sandbox(engine)) {
      Conversation talk =
          sandbox.converse(shell("read -r l; " + script).withLimits(limits), OutputListener.NONE);
      assertThat(talk.write(bytes("go\n"))).isTrue();
      return talk.await().reason();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void oneThatDiesTakesNothingMore(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      Conversation talk = sandbox.converse(shell("read -r l; exit 3"), OutputListener.NONE);
      assertThat(talk.write(bytes("go\n"))).isTrue();
      assertThat(talk.await().exitCode()).hasValue(3);
      assertThat(talk.write(bytes("more\n"))).isFalse();
      talk.endInput();
      talk.cancel();
      assertThat(talk.await().exitCode()).hasValue(3);
    }
  }

  /** The pipe is full after 64 KiB: who writes waits, and its end frees him. */
  @ParameterizedTest
  @MethodSource("engines")
  void whoWritesToOneThatDoesNotReadIsFreedByItsEnd(String engine) throws Exception {
    try (Sandbox sandbox = sandbox(engine)) {
      Heard heard = new Heard();
      Conversation talk = sandbox.converse(shell("echo there; exec sleep 600"), heard);
      heard.await("there\n".length());
      CountDownLatch begins = new CountDownLatch(1);
      boolean[] written = {true};
      Thread writer =
          Thread.ofVirtual()
              .start(() -> {
                begins.countDown();
                written[0] = talk.write(new byte[4 << 20]);
              });
      begins.await();
      talk.cancel();
      assertThat(talk.await().reason()).isEqualTo(EndReason.CANCELLED);
      writer.join();
      assertThat(written[0]).isFalse();
    }
  }

  /** Its output goes to the listener alone: a flood ends nothing, and nothing of it is kept. */
  @ParameterizedTest
  @MethodSource("engines")
  void aFloodIsTheListenersToBoundAndIsNotKept(String engine) throws Exception {
    long much = 16L << 20;
    CountDownLatch heard = new CountDownLatch(1);
    AtomicLong seen = new AtomicLong();
    try (Sandbox sandbox = sandbox(engine)) {
      Conversation talk =
          sandbox.converse(
              shell("exec yes").withLimits(CgroupLimits.STANDARD.withOutputBytes(1 << 20)),
              (_, bytes) -> {
                if (seen.addAndGet(bytes.length) >= much) {
                  heard.countDown();
                }
              });
      heard.await();
      talk.cancel();
      Ended ended = talk.await();
      assertThat(ended.reason()).isEqualTo(EndReason.CANCELLED);
      assertThat(ended.stdout().bytes()).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void nothingOfItIsLeftWithItsSandbox(String engine) throws Exception {
    Sandbox sandbox = sandbox(engine);
    Conversation talk = sandbox.converse(shell("sleep 600 & exec cat"), OutputListener.NONE);
    sandbox.destroy();
    assertThat(talk.await().reason()).isEqualTo(EndReason.CANCELLED);
    assertThat(talk.write(bytes("a\n"))).isFalse();
    assertThat(Leftovers.await(engines.directory().resolve("s"), _ -> false)).isEmpty();
    assertThatThrownBy(() -> sandbox.converse(shell("cat"), OutputListener.NONE))
        .hasMessageContaining("SBX-024");
  }

  @ParameterizedTest
  @MethodSource("engines")
  void oneThatHasItsInputAlreadyIsNoConversation(String engine) {
    try (Sandbox sandbox = sandbox(engine)) {
      assertThatThrownBy(
              () -> sandbox.converse(shell("cat").withStdin(bytes("a")), OutputListener.NONE))
          .hasMessageContaining("SBX-025");
    }
  }
}
