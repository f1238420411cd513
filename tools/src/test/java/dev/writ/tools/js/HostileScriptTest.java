package dev.writ.tools.js;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A script can spoil its own result and nothing else. */
@Timeout(300)
class HostileScriptTest {
  private static String end(Call call) {
    DriverOutcome outcome = call.run();
    return outcome.end() + " " + outcome.reason();
  }

  @Test
  void anEndlessLoopEndsAtItsTime() {
    assertThat(end(TestTools.js("for (;;);").cpuMs(200))).isEqualTo("TIMED_OUT cpu-time");
    assertThat(end(TestTools.js("for (;;) try { throw 1 } catch {}").wallMs(300)))
        .isEqualTo("TIMED_OUT wall-time");
    assertThat(end(TestTools.js("/(a+)+$/.test('a'.repeat(40) + 'b')").cpuMs(300)))
        .isEqualTo("TIMED_OUT cpu-time");
  }

  @Test
  void anEndlessChainOfJobsEndsAtItsTime() {
    String source = "const again = () => Promise.resolve().then(again); again()";
    assertThat(end(TestTools.js(source).cpuMs(300))).isEqualTo("TIMED_OUT cpu-time");
  }

  @Test
  void memoryEndsAtTheCeiling() {
    long ceiling = 16 << 20;
    for (String source :
        new String[] {
          "const a = []; for (;;) a.push(new Array(10000).fill(1))",
          "let s = 'x'; for (;;) s += s",
          "new Uint8Array(1e9).length",
        }) {
      DriverOutcome outcome = TestTools.js(source).memoryBytes(ceiling).run();
      assertThat(outcome.reason()).as(source).isEqualTo("out-of-memory");
      assertThat(outcome.end()).isEqualTo(DriverOutcome.End.KILLED);
      assertThat(outcome.metrics().memoryBytes()).isLessThanOrEqualTo(ceiling);
    }
  }

  @Test
  void recursionEndsAtTheSameDepthEveryTime() {
    assertThat(end(TestTools.js("const f = () => f(); f()"))).isEqualTo("FAILED stack-overflow");
    assertThat(end(TestTools.js("JSON.parse('['.repeat(100000))")))
        .isEqualTo("FAILED stack-overflow");
    String deep = "let n = 0; const f = () => { n++; console.log(n); f() }; f()";
    assertThat(Call.show(TestTools.js(deep).run())).isEqualTo(Call.show(TestTools.js(deep).run()));
  }

  @Test
  void aFloodOfOutputEndsAtTheCeiling() {
    assertThat(end(TestTools.js("'x'.repeat(3000000)"))).isEqualTo("KILLED output-limit");
    assertThat(end(TestTools.js("'x'.repeat(99)").outputBytes(100)))
        .isEqualTo("KILLED output-limit");
    assertThat(end(TestTools.js("'x'.repeat(98)").outputBytes(100))).isEqualTo("SUCCEEDED ok");
  }

  @Test
  void nothingStaysForTheNextScript() {
    String pollute =
        """
        Object.prototype.evil = 1; Array.prototype.map = () => 'evil'; globalThis.left = 1;
        JSON.stringify = () => 'evil'; Math.random = () => 0.5; Date.now = () => 0;
        Promise.prototype.then = undefined; 1\
        """;
    TestTools.js(pollute).run();
    assertThat(
            TestTools.js(
                    "[({}).evil === undefined, [1].map(x => x + 1)[0], typeof left,"
                        + " JSON.stringify(1), Date.now() > 0]")
                .text())
        .isEqualTo("[true,2,\"undefined\",\"1\",true]");
  }

  @Test
  void tamperingWithHowResultsAreWrittenIsNoResultOrOnlyItsOwn() {
    assertThat(TestTools.js("JSON.stringify = () => 'evil'; 5").text()).isEqualTo("5");
    assertThat(end(TestTools.js("Promise.prototype.then = function (f) { f(1); f(2) }; 5")))
        .isEqualTo("FAILED bad-result");
    assertThat(end(TestTools.js("Promise.prototype.then = () => {}; 5")))
        .isEqualTo("FAILED bad-result");
    assertThat(end(TestTools.js("Uint8Array.prototype.subarray = () => new Uint8Array(0); 'abc'")))
        .isIn("FAILED bad-result", "SUCCEEDED ok");
  }

  @Test
  void noFunctionLeadsToTheHost() {
    assertThat(
            TestTools.js(
                    "const g = (function () { return this })();"
                        + "[typeof g.Javy, typeof g.java_invoke, typeof g.std, typeof g.os,"
                        + " (() => { try { return new Function('return typeof Javy')() }"
                        + " catch (e) { return 'undefined' } })()]")
                .text())
        .isEqualTo("[\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\"]");
    assertThat(TestTools.js("import('fs')").run().end()).isEqualTo(DriverOutcome.End.FAILED);
  }
}
