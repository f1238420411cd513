package dev.writ.tools.code;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.Call;
import dev.writ.tools.process.TestHosts;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Code runs as a person would expect it to, and its value is the last expression's or null. */
class CodeInterpreterTest {
  private static TestHosts hosts;
  private static CodeCalls code;

  @BeforeAll
  static void open() {
    hosts = TestHosts.open();
    code = new CodeCalls(hosts.host());
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  @AfterEach
  void wipe() {
    hosts.host().runWorkspaces().wipe("acme", "run-1", "test", Instant.EPOCH);
  }

  private static JsonValue.Obj run(String language, String text, String... more) {
    return CodeCalls.output(code.interpreter(language, text, more).run());
  }

  private static String text(JsonValue.Obj output, String member) {
    return ((JsonValue.Str) output.get(member)).value();
  }

  private static String value(JsonValue.Obj output) {
    return new String(Jcs.write(output.get("return_value")), StandardCharsets.UTF_8)
        + " "
        + text(output, "return_value_state");
  }

  @Test
  void whatIsPrintedWhatIsReadAndWhatItExitsWith() {
    JsonValue.Obj python =
        run(
            "python",
            "import sys\nprint(input() * 2)\nprint(sys.stdin.read(), file=sys.stderr)\nsys.exit(4)",
            "stdin",
            "ab\nrest\u00e9");
    assertThat(text(python, "stdout")).isEqualTo("abab\n");
    assertThat(text(python, "stderr")).isEqualTo("rest\u00e9\n");
    assertThat(python.get("exit_code")).isEqualTo(JsonValue.of(4));
    assertThat(value(python)).isEqualTo("null absent");
    JsonValue.Obj node =
        run(
            "node",
            "const all = require('fs').readFileSync(0, 'utf8');"
                + "console.log(all.length); console.error('e'); process.exitCode = 5; 6 * 7",
            "stdin",
            "ab\nrest\u00e9");
    assertThat(text(node, "stdout")).isEqualTo("8\n");
    assertThat(text(node, "stderr")).isEqualTo("e\n");
    assertThat(node.get("exit_code")).isEqualTo(JsonValue.of(5));
    assertThat(value(node)).isEqualTo("42 json");
  }

  /** In fresh workspaces: making one for a run takes longer than most of these. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "python | 6 * 7                                   | 42 json",
        "python | x = 1                                   | null absent",
        "python | print('hello')                          | null json",
        "python | {'a': [1, 2.5, None, True], 'b': 'é'}   | {\"a\":[1,2.5,null,true],\"b\":\"é\"}"
            + " json",
        "python | (1, 2)                                  | [1,2] json",
        "python | 2**53 - 1                               | 9007199254740991 json",
        "python | 2**53                                   | null not-json",
        "python | [10**30]                                | null not-json",
        "python | float('nan')                            | null not-json",
        "python | {1: 2}                                  | null not-json",
        "python | {1, 2}                                  | null not-json",
        "python | '\\ud800'                               | null not-json",
        "python | object()                                | null not-json",
        "python | 'x' * 600000                            | null too-large",
        "python | a = []; a.append(a); a                  | null not-json",
        "python | import os; os._exit(0)                  | null absent",
        "python | import os; os.fork() and os.wait(); 7   | 7 json",
        "python | import json; json.dumps = None; 8       | 8 json",
        "node   | 6 * 7                                   | 42 json",
        "node   | const x = 1                             | null absent",
        "node   | console.log('hello')                    | null absent",
        "node   | ({a: [1, 2.5, null, true]})             | {\"a\":[1,2.5,null,true]} json",
        "node   | 10n                                     | null not-json",
        "node   | (() => 1)                               | null not-json",
        "node   | const a = []; a.push(a); a              | null not-json",
        "node   | '\\ud800'                               | null not-json",
        "node   | 'x'.repeat(600000)                      | null too-large",
        "node   | (async () => { await 1; return 9 })()   | 9 json",
        "node   | new Promise(() => {})                   | null absent",
        "node   | setTimeout(() => console.log(1), 5); 3  | 3 json",
        "node   | process.exit(0)                         | null absent"
      })
  void theValueIsTheLastExpressionsAsJsonOrNull(String language, String text, String expected) {
    DriverOutcome outcome = code.call("code_reproducible", language, text).run();
    assertThat(value(CodeCalls.output(outcome))).isEqualTo(expected);
  }

  @Test
  void anErrorIsToldAsTheLanguageTellsItWithoutOurFrames() {
    JsonValue.Obj python = run("python", "def f():\n    return 1 / 0\nprint('before')\nf()");
    assertThat(text(python, "stdout")).isEqualTo("before\n");
    assertThat(text(python, "stderr"))
        .startsWith("Traceback (most recent call last):\n  File \"<code>\", line 4, in <module>\n")
        .contains("    return 1 / 0\n")
        .endsWith("ZeroDivisionError: division by zero\n")
        .doesNotContain("<string>");
    assertThat(python.get("exit_code")).isEqualTo(JsonValue.of(1));
    assertThat(value(python)).isEqualTo("null absent");
    JsonValue.Obj syntax = run("python", "x = = 1");
    assertThat(text(syntax, "stderr"))
        .startsWith("  File \"<code>\", line 1\n")
        .contains("SyntaxError")
        .doesNotContain("<string>");
    JsonValue.Obj node = run("node", "function f() { throw new TypeError('no'); }\nf()");
    assertThat(text(node, "stderr"))
        .startsWith("code:1\nfunction f() {")
        .endsWith("\nTypeError: no\n    at f (code:1:22)\n    at code:2:1\n");
    assertThat(node.get("exit_code")).isEqualTo(JsonValue.of(1));
    assertThat(text(run("node", "let = 1 2"), "stderr"))
        .startsWith("code:1")
        .contains("SyntaxError");
    assertThat(text(run("node", "throw 3"), "stderr")).isEqualTo("Uncaught 3\n");
    assertThat(text(run("node", "Promise.reject(new Error('late'))"), "stderr"))
        .startsWith("Error: late\n");
  }

  @Test
  void filesStayForTheRunAndInputsAreFiles() {
    DriverOutcome first =
        code.interpreter("python", "open('out.txt', 'w').write(open('in/a.csv').read() * 2)")
            .input("a.csv", "1;2\n")
            .run();
    assertThat(value(CodeCalls.output(first))).isEqualTo("8 json");
    Digest tree = hosts.host().runWorkspaces().treeDigest("acme", "run-1");
    JsonValue.Obj listed =
        run("node", "require('fs').readdirSync('/workspace', {recursive: true}).sort()");
    assertThat(value(listed)).isEqualTo("[\"in\",\"in/a.csv\",\"out.txt\"] json");
    assertThat(hosts.host().runWorkspaces().treeDigest("acme", "run-1")).isEqualTo(tree);
  }

  /** Seed 001, 2.1: no persistence. What is to leave the call is an artifact. */
  @Test
  void anEphemeralCallLeavesNoFileAndSeesNone() {
    run("python", "open('of-the-run.txt', 'w').write('1')");
    Digest tree = hosts.host().runWorkspaces().treeDigest("acme", "run-1");
    String listing = "import os\nopen('x.txt', 'w').write('1')\nsorted(os.listdir('.'))";
    for (int i = 0; i < 2; i++) {
      DriverOutcome outcome =
          code.with("code_ephemeral", "artifacts", "*.txt", "python", listing).run();
      assertThat(value(CodeCalls.output(outcome))).isEqualTo("[\"x.txt\"] json");
      assertThat(outcome.artifacts())
          .extracting(DriverOutcome.Artifact::name)
          .containsExactly("x.txt");
    }
    assertThat(hosts.host().runWorkspaces().treeDigest("acme", "run-1")).isEqualTo(tree);
  }

  @Test
  void filesThatPatternsNameAreArtifactsAndSecretsAreInNothing() {
    try (TestHosts others =
        TestHosts.open(
            (manifest, invocation) ->
                List.of(new SecretFile("k", "hunter2-hunter2".getBytes(StandardCharsets.UTF_8))),
            Optional.empty())) {
      CodeCalls calls = new CodeCalls(others.host());
      DriverOutcome outcome =
          calls
              .with(
                  "code_interpreter",
                  "artifacts",
                  "*.txt",
                  "python",
                  "s = open('/run/secrets/k').read()\nopen('a.txt', 'w').write('<' + s + '>')\n"
                      + "print(s)\n[s, {'s': s}]")
              .run();
      assertThat(Call.show(outcome)).doesNotContain("hunter2");
      assertThat(value(CodeCalls.output(outcome)))
          .isEqualTo("[\"[secret]\",{\"s\":\"[secret]\"}] json");
      assertThat(outcome.artifacts()).hasSize(1);
      assertThat(outcome.artifacts().getFirst().name()).isEqualTo("a.txt");
      assertThat(new String(outcome.artifacts().getFirst().bytes(), StandardCharsets.UTF_8))
          .isEqualTo("<[secret]>");
    }
  }

  @Test
  void onlyThePlacesThatItNamesAreReached() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 5);
          exchange.getResponseBody().write("there".getBytes(StandardCharsets.UTF_8));
          exchange.close();
        });
    server.start();
    try {
      String place = "127.0.0.1:" + server.getAddress().getPort();
      String get = "import urllib.request as r\nr.urlopen('http://%s/').read().decode()";
      DriverOutcome allowed =
          code.with("code_interpreter", "network", place, "python", get.formatted(place)).run();
      assertThat(value(CodeCalls.output(allowed))).isEqualTo("\"there\" json");
      assertThat(new String(Jcs.write(allowed.observations()), StandardCharsets.UTF_8))
          .contains("\"host\":\"127.0.0.1\"");
      DriverOutcome other =
          code.with("code_interpreter", "network", "127.0.0.1:1", "python", get.formatted(place))
              .run();
      assertThat(other.end()).isEqualTo(DriverOutcome.End.FAILED);
      assertThat(other.reason()).isEqualTo("egress-denied");
      assertThat(other.message())
          .as("place and rule reach the caller")
          .endsWith("; the egress proxy refused " + place + " (not listed)");
      assertThat(Call.text(other))
          .as("and the program")
          .contains("403: writ refuses " + place + ": not listed");
      JsonValue.Obj none = run("python", get.formatted(place));
      assertThat(none.get("exit_code")).isEqualTo(JsonValue.of(1));
      assertThat(text(none, "stderr")).contains("URLError");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void theRunnersOwnImportsAreNotTheWorkspaces() {
    for (String module : new String[] {"json", "ast", "pickle", "sitecustomize", "types"}) {
      run("python", "open('" + module + ".py', 'w').write('raise SystemExit(9)'); None");
    }
    run("python", "open('own.py', 'w').write('x = 5'); None");
    assertThat(value(run("python", "import own\nown.x"))).isEqualTo("5 json");
  }

  @Test
  void whatIsInTheValuesPlaceIsNoValueOfALaterCall() {
    run("python", "import os; os.mkdir('.writ-value'); None");
    assertThat(value(run("python", "1"))).isEqualTo("null absent");
    run("python", "import os; os.rmdir('.writ-value'); os.symlink('/etc/passwd', '.writ-value')");
    assertThat(value(run("python", "2"))).isEqualTo("2 json");
    DriverOutcome forged =
        code.interpreter(
                "python",
                "import os\nopen('.writ-value', 'w').write('{\"state\":\"json\"}\\n1e999')\n"
                    + "os._exit(0)")
            .run();
    assertThat(value(CodeCalls.output(forged))).isEqualTo("null not-json");
    assertThat(value(run("python", "import os; sorted(os.listdir())"))).isEqualTo("[] json");
  }

  @Test
  void aPythonSessionKeepsValuesAndDefinitions() {
    String[] session = {"session", "one"};
    run(
        "python",
        """
        import math as m
        from collections import Counter
        n = 3
        class P:
            def __init__(self, x=n): self.x = x
        def area(r, scale=n): return m.pi * r * r * scale
        p = P(4)
        words = Counter('aab')
        """,
        session);
    JsonValue.Obj next =
        run(
            "python",
            "import sys\ns = sys.stdout\n[n, p.x, P().x, words['a'], round(area(1), 3)]",
            session);
    assertThat(value(next)).isEqualTo("[3,4,3,2,9.425] json");
    assertThat(new String(Jcs.write(next.get("session_kept")), StandardCharsets.UTF_8))
        .isEqualTo("[\"n\",\"p\",\"words\"]");
    assertThat(new String(Jcs.write(next.get("session_lost")), StandardCharsets.UTF_8))
        .isEqualTo("[\"s\"]");
    JsonValue.Obj failed = run("python", "n = 10\nraise ValueError()", session);
    assertThat(failed.get("exit_code")).isEqualTo(JsonValue.of(1));
    assertThat(value(run("python", "n", session))).isEqualTo("10 json");
    assertThat(value(run("python", "'n' in globals()", "session", "two"))).isEqualTo("false json");
    assertThat(value(run("python", "'n' in globals()"))).isEqualTo("false json");
  }

  @Test
  void aNodeSessionKeepsWhatCanBeCopied() {
    String[] session = {"session", "one"};
    run(
        "node",
        "var n = 3; globalThis.m = new Map([['a', 1]]); var f = () => 1; let gone = 1",
        session);
    JsonValue.Obj next = run("node", "[n, m.get('a'), typeof f, typeof gone]", session);
    assertThat(value(next)).isEqualTo("[3,1,\"undefined\",\"undefined\"] json");
  }

  @Test
  void aSessionThatCannotBeReadIsNotOverwritten() {
    run("python", "n = 1", "session", "s");
    run("python", "open('.writ-session-python-s', 'wb').write(b'no pickle'); None");
    JsonValue.Obj refused = run("python", "n", "session", "s");
    assertThat(text(refused, "stderr")).contains("state cannot be read");
    assertThat(refused.get("exit_code")).isEqualTo(JsonValue.of(1));
    assertThat(value(run("python", "open('.writ-session-python-s').read()")))
        .isEqualTo("\"no pickle\" json");
    run("node", "require('fs').writeFileSync('.writ-session-node-s', 'no'); 0");
    assertThat(text(run("node", "1", "session", "s"), "stderr")).contains("state cannot be read");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "python | print('part'); x = bytearray(2 << 28)          | KILLED    | out-of-memory",
        "python | print('part'); exec('while True: pass')        | KILLED    | cpu-limit",
        "node   | console.log('part'); for (;;) {}               | KILLED    | cpu-limit",
        "python | print('part'); import time; time.sleep(60)     | TIMED_OUT | timed-out",
        "python | print('part'); print('x' * 3000000)            | KILLED    | output-limit"
      })
  void aLimitEndsItAndWhatItSaidIsKept(
      String language, String text, DriverOutcome.End end, String reason) {
    DriverOutcome outcome =
        code.interpreter(language, text)
            .cpuMs(reason.equals("cpu-limit") ? 1_000 : 20_000)
            .wallMs(reason.equals("timed-out") ? 4_000 : 120_000)
            .run();
    assertThat(outcome.reason()).isEqualTo(reason);
    assertThat(outcome.end()).isEqualTo(end);
    assertThat(text(CodeCalls.parsed(outcome), "stdout")).startsWith("part\n");
  }

  @Test
  void theRestrictedProfileRunsItToo() {
    DriverOutcome outcome =
        code.interpreter("python", "import os\nos.path.exists('/usr/bin/node')")
            .sandbox("restricted")
            .run();
    assertThat(value(CodeCalls.output(outcome))).isEqualTo("false json");
    assertThat(
            value(
                CodeCalls.output(
                    code.interpreter("node", "process.env.HOME").sandbox("restricted").run())))
        .isEqualTo("\"/tmp\" json");
  }

  @Test
  void thePrivilegedProfileNeedsAnApproval() {
    Call call = code.interpreter("python", "1").sandbox("privileged");
    assertThat(call.run().message()).contains("SBX-021");
    assertThat(value(CodeCalls.output(call.approved().run()))).isEqualTo("1 json");
  }

  @Test
  void theObservationsNameEngineLanguageAndProgram() {
    DriverOutcome outcome = code.interpreter("node", "1").run();
    String observed = new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8);
    assertThat(observed)
        .contains("\"engine\":\"bubblewrap ")
        .contains("\"language\":{\"name\":\"node\",\"version\":\"")
        .contains("\"programs\":{\"node\":{\"digest\":\"sha256:");
  }
}
