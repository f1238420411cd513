package dev.writ.tools.js;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A script's result is a function of its source, input, inputs, seed and time. */
class JsToolTest {
  private static Call js(String source, String input) {
    JsonValue value = Jcs.parse(input.getBytes(StandardCharsets.UTF_8));
    return TestTools.builtin("js", "eval")
        .params(JsonValue.object().put("source", source).put("input", value).build());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 + 1|2",
        "undefined|null",
        "var x = 3; x * 2|6",
        "if (true) { 'é' }|\"é\"",
        "({b: [1, null], a: NaN})|{\"b\":[1,null],\"a\":null}",
        "var main = () => 'arrow'|\"arrow\"",
        "globalThis.main = () => 'set'|\"set\"",
        "const main = () => 'unseen'|null",
        "function main() { return 7 } 1|7",
        "async function main() { await null; return 8 }|8",
        "Promise.resolve(9)|9",
        "typeof Javy + typeof java_invoke + typeof plugin|\"undefinedundefinedundefined\"",
        "typeof require + typeof process + typeof fetch|\"undefinedundefinedundefined\"",
        "new Date(2026, 0, 1).getTimezoneOffset()|0",
        "[...new Uint8Array(new Float64Array([0 / 0]).buffer)]|[0,0,0,0,0,0,248,127]",
        "Object.keys(inputs)|[]",
      })
  void valuesAreTheLastExpressionOrWhatMainReturns(String source, String json) {
    assertThat(TestTools.js(source).text()).isEqualTo(json);
  }

  @Test
  void mainGetsTheInput() {
    assertThat(
            js("function main(i) { return i.a.length + input.b }", "{\"a\":[1,2],\"b\":5}").text())
        .isEqualTo("7");
    assertThat(js("input", "null").text()).isEqualTo("null");
    assertThat(TestTools.js("input").text()).as("a missing input").isEqualTo("null");
  }

  @Test
  void inputsAreTextsBytesAndJson() {
    String source =
        """
        ({
          names: Object.keys(inputs),
          text: inputs["b.txt"].text(),
          bytes: [...inputs["a.bin"].bytes()],
          json: inputs["c.json"].json().k,
          again: inputs["b.txt"].text(),
          size: inputs["b.txt"].size,
          frozen: Object.isFrozen(inputs) && Object.isFrozen(inputs["b.txt"]),
          none: inputs["__proto__"] === undefined
        })\
        """;
    assertThat(
            TestTools.js(source)
                .input("b.txt", "héllo")
                .input("a.bin", new byte[] {0, -1, 127})
                .input("c.json", "{\"k\":[1]}")
                .text())
        .isEqualTo(
            "{\"names\":[\"a.bin\",\"b.txt\",\"c.json\"],\"text\":\"héllo\",\"bytes\":[0,255,127],"
                + "\"json\":[1],\"again\":\"héllo\",\"size\":6,\"frozen\":true,\"none\":true}");
  }

  @Test
  void aLargeInputIsReadWhole() {
    String text = "0123456789".repeat(100_000);
    assertThat(TestTools.js("inputs.big.text().length").input("big", text).text())
        .isEqualTo("1000000");
  }

  @Test
  void mathRandomComesFromTheSeed() {
    String three = "[Math.random(), Math.random(), Math.random()]";
    String one = TestTools.js(three).seed(Call.seed(1)).text();
    assertThat(TestTools.js(three).seed(Call.seed(1)).text()).isEqualTo(one);
    assertThat(TestTools.js(three).seed(Call.seed(2)).text()).isNotEqualTo(one);
    assertThat(
            TestTools.js(
                    """
                    let sum = 0, low = 1, high = 0;
                    for (let i = 0; i < 2000; i++) {
                      const r = Math.random();
                      sum += r; low = Math.min(low, r); high = Math.max(high, r);
                    }
                    low >= 0 && low < 0.01 && high > 0.99 && high < 1 && Math.abs(sum / 2000 - 0.5) < 0.03
                    """)
                .text())
        .isEqualTo("true");
  }

  @Test
  void theTimeIsTheRecordedOneAndStandsStill() {
    String source =
        "const a = Date.now(); for (let i = 0; i < 1000; i++); [a, Date.now(), new Date()]";
    assertThat(TestTools.js(source).text())
        .isEqualTo("[1767323045678,1767323045678,\"2026-01-02T03:04:05.678Z\"]");
    assertThat(TestTools.js("Date.now()").time("2000-01-01T00:00:00Z").text())
        .isEqualTo("946684800000");
  }

  @Test
  void theConsoleIsObserved() {
    DriverOutcome outcome =
        TestTools.js("console.log('a', 1, {b: [2]}); console.error(null); 1").run();
    assertThat(Call.show(outcome))
        .isEqualTo(
            "SUCCEEDED ok  application/json 1 {\"stderr\":\"a 1 {\\\"b\\\":[2]}\\nnull\\n\"}");
    DriverOutcome chatter =
        TestTools.js("for (let i = 0; i < 200; i++) console.log('x'.repeat(1000)); 1").run();
    assertThat(chatter.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(chatter.observations().get("stderr_truncated")).isEqualTo(JsonValue.TRUE);
  }

  @Test
  void exceptionsFailWithTheirWordsAndTheScriptsOwnFrames() {
    assertThat(Call.show(TestTools.js("function f() { throw new TypeError('no') }\nf()").run()))
        .isEqualTo(
            "FAILED script-error TypeError: no\n    at f (<input>:1:22)\n"
                + "    at <eval> (<input>:2:1) - {}");
    assertThat(TestTools.js("throw 'plain'").run().message()).isEqualTo("plain");
    assertThat(TestTools.js("throw {a: 1}").run().message()).isEqualTo("{\"a\":1}");
    assertThat(TestTools.js("throw null").run().message()).isEqualTo("null");
    assertThat(TestTools.js("throw { get message() { throw 1 } }").run().reason())
        .isEqualTo("script-error");
    assertThat(TestTools.js("let = ;").run().message()).startsWith("SyntaxError: ");
    assertThat(TestTools.js("Promise.reject(new Error('later'))").run().message())
        .startsWith("Error: later");
    assertThat(TestTools.js("throw new Error('\\ud800')").run().message())
        .as("half a character is no JSON")
        .startsWith("CAN-002");
  }

  @Test
  void whatIsNoJsonIsNoResult() {
    for (String source :
        new String[] {
          "10n",
          "(() => 1)",
          "const a = []; a.push(a); a",
          "Symbol()",
          "new Promise(() => {})",
          "'\\ud800'"
        }) {
      assertThat(TestTools.js(source).run().reason()).as(source).isEqualTo("bad-result");
    }
  }

  @Test
  void paramsOfAnotherShapeAreRefused() {
    Call call = TestTools.builtin("js", "eval").params(JsonValue.object().build());
    assertThat(call.run().reason()).isEqualTo("bad-params");
  }
}
