package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever a module does ends as an outcome with its word, and the next one runs as ever. */
@Timeout(300)
class HostileModuleTest {
  @AfterEach
  void theNextGuestRunsAsEver() {
    assertThat(TestTools.builtin("word-count", "count").input("text", "a b").text())
        .isEqualTo("{\"bytes\":3,\"lines\":0,\"words\":2}");
  }

  private static String end(Call call) {
    DriverOutcome outcome = call.run();
    return outcome.end() + " " + outcome.reason();
  }

  @Test
  void anEndlessLoopEndsAtItsProcessorTime() {
    assertThat(end(TestTools.guest("endless").cpuMs(100))).isEqualTo("TIMED_OUT cpu-time");
  }

  @Test
  void anEndlessLoopEndsAtItsWallTime() {
    assertThat(end(TestTools.guest("endless").wallMs(100))).isEqualTo("TIMED_OUT wall-time");
  }

  @Test
  void noTimeAtAllIsNoRun() {
    assertThat(end(TestTools.guest("nothing").wallMs(0))).isEqualTo("TIMED_OUT wall-time");
    assertThat(end(TestTools.guest("nothing").cpuMs(0))).isEqualTo("TIMED_OUT cpu-time");
  }

  @Test
  void whatWasWrittenBeforeTheTimeWasUpIsKept() {
    DriverOutcome outcome = TestTools.guest("endless_after_output").cpuMs(100).run();
    assertThat(Call.text(outcome)).isEqualTo("A\0\0\0");
  }

  @Test
  void endlessRecursionUsesUpItsStack() {
    DriverOutcome outcome = TestTools.guest("recurse").run();
    assertThat(Call.show(outcome))
        .isEqualTo("FAILED stack-overflow the call stack is used up - {}");
  }

  @Test
  void recursionThroughTheHostDoesNotHurtTheHost() {
    assertThat(end(TestTools.guest("recurse_host").cpuMs(20_000)))
        .isEqualTo("FAILED stack-overflow");
    assertThat(TestTools.guest("random").run().output().orElseThrow().bytes())
        .isEqualTo(new Drbg(Call.seed(1)).next(40));
  }

  @Test
  void memoryEndsAtTheCeiling() {
    DriverOutcome bomb = TestTools.guest("grow").memoryBytes(8 << 20).run();
    assertThat(Call.show(bomb)).startsWith("KILLED out-of-memory ");
    assertThat(bomb.metrics().memoryBytes()).isLessThanOrEqualTo(8 << 20);
    DriverOutcome gentle = TestTools.guest("grow_gently").memoryBytes(8 << 20).run();
    assertThat(gentle.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(gentle.output().orElseThrow().bytes()).isEqualTo(new byte[] {114, 0, 0, 0});
  }

  @Test
  void aCeilingBelowWhatAModuleBeginsWithIsNamed() {
    assertThat(Call.show(TestTools.guest("nothing").memoryBytes(65536).run()))
        .isEqualTo(
            "KILLED out-of-memory the module begins with 131072 bytes of memory, the ceiling is"
                + " 65536 - {}");
  }

  @Test
  void aCeilingAboveWhatTheHostGivesIsRefused() {
    assertThat(end(TestTools.guest("nothing").memoryBytes(3L << 30)))
        .isEqualTo("KILLED host-memory");
  }

  @Test
  void inputsCountAsMemory() {
    Call call = TestTools.guest("nothing").input("a", new byte[1 << 20]).memoryBytes(1 << 20);
    assertThat(call.run().end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(end(call.input("b", new byte[1]))).isEqualTo("FAILED input-too-large");
  }

  @Test
  void tablesHaveABound() {
    DriverOutcome outcome = TestTools.guest("grow_table").run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    byte[] size = outcome.output().orElseThrow().bytes();
    assertThat((size[0] & 0xff) + 256 * (size[1] & 0xff) + 65536 * size[2])
        .isLessThanOrEqualTo(Guest.TABLE_ENTRIES_MAX);
  }

  @Test
  void aFloodOfOutputEndsAtTheCeilingAndIsCutThere() {
    DriverOutcome outcome = TestTools.guest("flood").outputBytes(2500).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.KILLED);
    assertThat(outcome.reason()).isEqualTo("output-limit");
    assertThat(outcome.output().orElseThrow().bytes()).hasSize(2500);
    assertThat(outcome.observations().get("output_truncated")).isNotNull();
  }

  @Test
  void trapsAreNamed() {
    assertThat(Call.show(TestTools.guest("unreachable").run()))
        .startsWith("FAILED trap ")
        .contains("application/octet-stream A\0\0\0");
    assertThat(end(TestTools.guest("divide"))).isEqualTo("FAILED trap");
    assertThat(end(TestTools.guest("outside"))).isEqualTo("FAILED trap");
    assertThat(end(TestTools.guest("bad_table"))).isEqualTo("FAILED trap");
  }

  @Test
  void anInterruptedCallerTakesItsGuestWithIt() throws Exception {
    DriverOutcome[] outcome = new DriverOutcome[1];
    boolean[] stillInterrupted = new boolean[1];
    Thread caller =
        Thread.ofVirtual()
            .start(() -> {
              Thread.currentThread().interrupt();
              outcome[0] = TestTools.guest("endless").run();
              stillInterrupted[0] = Thread.currentThread().isInterrupted();
            });
    caller.join();
    assertThat(outcome[0].end() + " " + outcome[0].reason()).isEqualTo("KILLED cancelled");
    assertThat(stillInterrupted[0]).isTrue();
  }
}
