package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import org.junit.jupiter.api.Test;

/** Where instructions are counted, the end of an endless program is the same everywhere. */
class MeteredTest {
  @Test
  void instructionsAreCountedExactly() {
    DriverOutcome first = TestTools.metered("work").run();
    assertThat(first.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    // Eight instructions a round, and 26 around the loop.
    assertThat(first.metrics().fuel()).isEqualTo(80_026);
    for (int i = 0; i < 3; i++) {
      assertThat(TestTools.metered("work").run().metrics().fuel())
          .isEqualTo(first.metrics().fuel());
    }
  }

  @Test
  void anEndlessProgramEndsAtItsLastInstruction() {
    DriverOutcome outcome = TestTools.metered("endless").cpuMs(10).run();
    long limit = 10 * WasmDriver.INSTRUCTIONS_PER_CPU_MS;
    assertThat(Call.show(outcome))
        .isEqualTo("TIMED_OUT fuel more than " + limit + " instructions - {}");
    assertThat(outcome.metrics().fuel()).isEqualTo(limit);
  }

  @Test
  void theLimitIsSharp() {
    long needed = TestTools.metered("work").run().metrics().fuel();
    long ms = needed / WasmDriver.INSTRUCTIONS_PER_CPU_MS;
    assertThat(TestTools.metered("work").cpuMs(ms).run().reason()).isEqualTo("fuel");
    assertThat(TestTools.metered("work").cpuMs(ms + 1).run().reason()).isEqualTo("ok");
  }

  @Test
  void recursionEndsAtACountedDepth() {
    DriverOutcome outcome = TestTools.metered("recurse").run();
    assertThat(outcome.reason()).isEqualTo("stack-overflow");
    assertThat(outcome.message()).isEqualTo("more than 4096 nested calls");
    assertThat(TestTools.metered("recurse").run().metrics().fuel())
        .isEqualTo(outcome.metrics().fuel());
  }

  @Test
  void theWallClockStillCounts() {
    assertThat(TestTools.metered("endless").cpuMs(1_000_000_000).wallMs(100).run().reason())
        .isEqualTo("wall-time");
  }

  @Test
  void bothMachinesGiveTheSameBytes() {
    for (String operation :
        new String[] {
          "nothing",
          "echo",
          "args",
          "random",
          "clocks",
          "sleep",
          "list",
          "escape",
          "state",
          "exit",
          "proc_exit",
          "exit_zero",
          "complain",
          "nans",
          "unreachable",
          "divide"
        }) {
      Call compiled = TestTools.guest(operation).input("data", "x");
      Call metered = TestTools.metered(operation).input("data", "x");
      assertThat(Call.show(metered.run())).as(operation).isEqualTo(Call.show(compiled.run()));
    }
  }
}
