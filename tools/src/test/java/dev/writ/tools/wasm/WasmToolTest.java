package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A module sees its params, inputs, seed and time, and nothing else. */
class WasmToolTest {
  private static byte[] output(Call call) {
    DriverOutcome outcome = call.run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    return outcome.output().orElseThrow().bytes();
  }

  private static ByteBuffer words(Call call) {
    return ByteBuffer.wrap(output(call)).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Test
  void wordCountCounts() {
    Call call = TestTools.builtin("word-count", "count").input("text", "one two\n three\tfour\n\n");
    assertThat(call.text()).isEqualTo("{\"bytes\":21,\"lines\":3,\"words\":4}");
    String large = "ab cd\n".repeat(50_000);
    assertThat(TestTools.builtin("word-count", "count").input("text", large).text())
        .isEqualTo("{\"bytes\":300000,\"lines\":50000,\"words\":100000}");
  }

  @Test
  void wordCountWithoutItsInputFails() {
    DriverOutcome outcome = TestTools.builtin("word-count", "count").input("other", "x").run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(outcome.reason()).isEqualTo("exit-code");
    assertThat(outcome.observations().get("exit_code")).isEqualTo(JsonValue.of(2));
    assertThat(outcome.observations().get("stderr"))
        .isEqualTo(JsonValue.of("no input named \"text\"\n"));
  }

  @Test
  void standardInputIsTheCanonicalParams() {
    JsonValue.Obj params = JsonValue.object().put("b", 1).put("a", "é").build();
    assertThat(TestTools.guest("echo").params(params).text()).isEqualTo("{\"a\":\"é\",\"b\":1}");
  }

  @Test
  void argumentsAreToolAndOperationAndTheEnvironmentIsEmpty() {
    assertThat(TestTools.guest("args").text()).isEqualTo("guest\0args\0\0\0\0\0");
  }

  @Test
  void randomBytesComeFromTheSeed() {
    byte[] one = output(TestTools.guest("random").seed(Call.seed(1)));
    assertThat(one).hasSize(40).isEqualTo(output(TestTools.guest("random").seed(Call.seed(1))));
    assertThat(one).isNotEqualTo(output(TestTools.guest("random").seed(Call.seed(2))));
    assertThat(one).isEqualTo(new Drbg(Call.seed(1)).next(40));
    assertThat(distinct(one)).isGreaterThan(20);
  }

  private static int distinct(byte[] bytes) {
    TreeSet<Byte> set = new TreeSet<>();
    for (byte b : bytes) {
      set.add(b);
    }
    return set.size();
  }

  @Test
  void clocksTellTheRecordedTimeAndAStepMoreEachTime() {
    ByteBuffer words = words(TestTools.guest("clocks"));
    long start = GuestClock.nanosSinceEpoch(Call.TIME);
    assertThat(words.getInt()).as("an unknown clock").isEqualTo(Errno.INVAL);
    assertThat(words.getLong()).isEqualTo(start);
    assertThat(words.getLong()).isEqualTo(start + 1000);
    assertThat(words.getLong()).isEqualTo(start + 2000);
    assertThat(output(TestTools.guest("clocks").time("2030-01-01T00:00:00Z")))
        .isNotEqualTo(output(TestTools.guest("clocks")));
  }

  @Test
  void sleepingMovesTheClockAndTakesNoTime() {
    ByteBuffer words = words(TestTools.guest("sleep").wallMs(30_000));
    assertThat(words.getInt()).as("events").isEqualTo(1);
    assertThat(words.getLong())
        .isEqualTo(GuestClock.nanosSinceEpoch(Call.TIME) + 3_600_000_000_000L);
  }

  @Test
  void inputsAreListedInTheOrderOfTheirNames() {
    String listing =
        TestTools.guest("list").input("zeta", "1").input("alpha", "22").input("Beta", "3").text();
    assertThat(listing.indexOf("Beta")).isPositive().isLessThan(listing.indexOf("alpha"));
    assertThat(listing.indexOf("alpha")).isLessThan(listing.indexOf("zeta"));
  }

  @Test
  void nothingLeadsOutAndNothingCanBeWritten() {
    ByteBuffer words = words(TestTools.guest("escape").input("data", "x"));
    assertThat(words.getInt()).as("path above the root").isEqualTo(Errno.NOTCAPABLE);
    assertThat(words.getInt()).as("create").isEqualTo(Errno.ROFS);
    assertThat(words.getInt()).as("open to write").isEqualTo(Errno.ROFS);
    assertThat(words.getInt()).as("truncate").isEqualTo(Errno.ROFS);
    assertThat(words.getInt()).as("make a directory").isEqualTo(Errno.ROFS);
    assertThat(words.getInt()).as("write to a directory").isEqualTo(Errno.ROFS);
    assertThat(words.getInt()).as("a bad descriptor").isEqualTo(Errno.BADF);
    assertThat(words.getInt()).as("memory out of bounds").isEqualTo(Errno.FAULT);
    assertThat(words.getInt()).as("too many vectors").isEqualTo(Errno.INVAL);
  }

  @Test
  void anInputWhoseNameIsAPathIsRefused() {
    for (String name : new String[] {"../x", "a/b", ".", ".."}) {
      DriverOutcome outcome = TestTools.guest("nothing").input(name, "x").run();
      assertThat(outcome.reason()).as(name).isEqualTo("bad-input");
    }
  }

  @Test
  void exitCodesFail() {
    DriverOutcome returned = TestTools.guest("exit").run();
    assertThat(Call.show(returned)).isEqualTo("FAILED exit-code exit code 7 - {\"exit_code\":7}");
    DriverOutcome called = TestTools.guest("proc_exit").run();
    assertThat(Call.show(called))
        .isEqualTo(
            "FAILED exit-code exit code 3 application/octet-stream A\0\0\0 {\"exit_code\":3}");
    assertThat(TestTools.guest("exit_zero").text()).isEqualTo("A\0\0\0");
  }

  @Test
  void stderrIsCapturedAndBounded() {
    assertThat(TestTools.guest("complain").run().observations())
        .isEqualTo(JsonValue.object().put("stderr", "hlp!").build());
    DriverOutcome chatter = TestTools.guest("chatter").run();
    assertThat(chatter.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(((JsonValue.Str) chatter.observations().get("stderr")).value())
        .hasSize(Guest.STDERR_BYTES_MAX);
    assertThat(chatter.observations().get("stderr_truncated")).isEqualTo(JsonValue.TRUE);
  }

  @Test
  void everyInvocationIsANewInstance() {
    Call call = TestTools.guest("state");
    for (int i = 0; i < 5; i++) {
      ByteBuffer words = words(call);
      assertThat(words.getInt()).isEqualTo(1);
      assertThat(words.getInt()).isEqualTo(1);
    }
  }

  @Test
  void whatIsNotANumberHasOneForm() {
    ByteBuffer words = words(TestTools.guest("nans"));
    for (String what :
        new String[] {"0/0", "sqrt -1", "payload + 1", "inf * 0", "promoted", "min", "nearest"}) {
      assertThat(words.getLong()).as(what).isEqualTo(0x7ff8000000000000L);
    }
    assertThat(words.getInt()).as("0/0 in 32 bits").isEqualTo(0x7fc00000);
    assertThat(words.getInt()).as("demoted").isEqualTo(0x7fc00000);
    assertThat(words.getInt()).as("negated").isEqualTo(0xfff80000);
    assertThat(words.getDouble()).as("with the sign of 0/0").isEqualTo(1);
    assertThat(words.getDouble()).as("a number as it is").isEqualTo(1.0 / 3);
  }

  @Test
  void fiftyRunsAreTheSameBytes() {
    for (String operation : new String[] {"random", "clocks", "nans", "list"}) {
      Call call = TestTools.guest(operation).input("b", "1").input("a", "2");
      byte[] first = output(call);
      for (int i = 0; i < 50; i++) {
        assertThat(Arrays.equals(output(call), first)).as(operation + " " + i).isTrue();
      }
    }
  }
}
