package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.sandbox.SecretFile;
import dev.writ.tools.Call;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server of others in its sandbox: what it says is pinned, and what it lies ends in a refusal.
 */
class AServerThatLiesIsRefusedTest {
  private static final String SECRET = "correct horse battery";
  private static TestHosts hosts;
  private static McpDriver driver;
  private static byte[] script;

  @BeforeAll
  static void open() throws IOException {
    hosts =
        TestHosts.open(
            (manifest, invocation) ->
                manifest.capabilities().ownSecrets().stream()
                    .map(n -> new SecretFile(n, SECRET.getBytes(StandardCharsets.UTF_8)))
                    .toList(),
            Optional.empty());
    driver = new McpDriver(hosts.host());
    try (InputStream in = AServerThatLiesIsRefusedTest.class.getResourceAsStream("server.py")) {
      script = in.readAllBytes();
    }
  }

  @AfterAll
  static void close() {
    driver.close();
    hosts.close();
  }

  private static ServerSpec spec(String lie) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("LIE", lie);
    TreeMap<String, String> secrets = new TreeMap<>();
    if (lie.equals("secret")) {
      secrets.put("TOKEN", "token");
    }
    return new ServerSpec(
        List.of("python3", "/tool/server.py"), environment, secrets, List.of(), List.of(), 60_000);
  }

  private static TreeMap<String, byte[]> own() {
    TreeMap<String, byte[]> own = new TreeMap<>();
    own.put("server.py", script);
    return own;
  }

  /** What an honest server of ours lists. */
  private static PinnedTools honest() {
    return UpstreamProbe.look(
            hosts.host(), spec(""), own(), new Call(null).invocation().scope(), List.of())
        .tools();
  }

  private static Driver.Prepared prepared(String lie, Invocation call) {
    UpstreamPackage upstream = UpstreamPackage.of("calc", "1.0.0", spec(lie), honest(), own());
    return driver.prepare(
        upstream.manifest(),
        "add",
        file -> upstream.files().get(file.path()),
        HostTerms.NONE,
        new ExpectedCall(call.scope(), call.resources(), call.sandbox(), false));
  }

  private static Call call() {
    return new Call(null)
        .sandbox("default")
        .outputBytes(50_000)
        .params(JsonValue.object().put("a", 2L).put("b", 3L).build());
  }

  private static DriverOutcome run(String lie, Call call) {
    return prepared(lie, call.invocation()).run(call.invocation());
  }

  @Test
  void anHonestOneAnswersAndIsKeptForTheNextCall() {
    DriverOutcome first = run("", call());
    assertThat(first.end()).as(Call.show(first)).isEqualTo(End.SUCCEEDED);
    assertThat(Call.text(first)).isEqualTo("{\"content\":[{\"text\":\"5\",\"type\":\"text\"}]}");
    assertThat(Call.text(run("", call()))).isEqualTo(Call.text(first));
  }

  @ParameterizedTest
  @ValueSource(strings = {"changed", "new", "gone"})
  void anotherListThanThePinnedOneIsRefusedBeforeDispatch(String lie) {
    assertThatThrownBy(() -> prepared(lie, call().invocation()))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_CHANGED));
  }

  @Test
  void aListThatChangesWithinASessionIsRefusedAtTheNextCall() {
    assertThat(run("later", call()).end()).isEqualTo(End.SUCCEEDED);
    Call again = call();
    // The notification may come after the answer was read: then the call after this one meets it.
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 3; i++) {
                run("later", again);
              }
            })
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_CHANGED));
  }

  @ParameterizedTest
  @CsvSource({
    "stateless,2026-07-28",
    "stateless-not,2025-11-25",
    "'',2025-11-25",
    "silent,2025-11-25",
    "timid,2025-11-25",
  })
  void theVersionIsFoundWhateverAServerMakesOfTheQuestion(String lie, String version) {
    ServerSpec given = spec(lie);
    ServerSpec quick = new ServerSpec(given.local(), given.remote(), 8_000, given.passes());
    assertThat(
            UpstreamProbe.look(
                    hosts.host(), quick, own(), new Call(null).invocation().scope(), List.of())
                .protocol())
        .isEqualTo(version);
    if (!lie.equals("silent")) { // that one is waited for
      assertThat(run(lie, call()).end()).isEqualTo(End.SUCCEEDED);
    }
  }

  private static ServerSpec speaking(String lie, String version) {
    return spec(lie).started(local -> local.speaking(Optional.of(version)));
  }

  private static UpstreamProbe.Seen look(ServerSpec spec) {
    return UpstreamProbe.look(
        hosts.host(), spec, own(), new Call(null).invocation().scope(), List.of());
  }

  @Test
  void oneThatWasAddedWithAHandshakeIsNotAskedForAnotherVersion() {
    ServerSpec added = speaking("tells", "2025-11-25");
    assertThat(look(spec("tells")).server().get("name"))
        .isEqualTo(JsonValue.of("server/discover,initialize"));
    assertThat(look(added).server().get("name")).isEqualTo(JsonValue.of("initialize"));
    UpstreamPackage upstream = UpstreamPackage.of("calc", "1.0.0", added, honest(), own());
    assertThat(ServerSpec.parse(upstream.files().get(ServerSpec.FILE))).isEqualTo(added);
  }

  @Test
  void oneThatKnowsNoHandshakeAnyMoreIsAskedAgain() {
    ServerSpec before = speaking("stateless-alone", "2025-11-25");
    assertThat(look(before).protocol()).isEqualTo("2026-07-28");
  }

  @Test
  void aVersionWithoutHandshakeIsNotKept() {
    assertThat(speaking("", "2026-07-28").local().orElseThrow().protocol()).isEmpty();
    assertThatThrownBy(() ->
            ServerSpec.parse(
                "{\"command\":[\"x\"],\"environment\":{},\"hosts\":[],\"protocol\":\"2026-07-28\",\"reads\":[],\"secrets\":{},\"start_ms\":1}"
                    .getBytes(StandardCharsets.UTF_8)))
        .hasMessageContaining("TOL-238");
  }

  @Test
  void withoutSessionsARequestOfTheServerIsALie() {
    assertThat(run("stateless-asks", call()).message()).startsWith("TOL-235");
  }

  @Test
  void aVersionThatNobodyKnowsIsRefused() {
    assertThatThrownBy(() -> prepared("version", call().invocation()))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_VERSION));
  }

  @ParameterizedTest
  @CsvSource({
    "foreign-id,TOL-235",
    "text-id,TOL-235",
    "no-json,TOL-235",
    "two-members,TOL-235",
    "no-content,TOL-235",
    "floods,TOL-236",
    "endless,TOL-236",
  })
  void whatIsNoAnswerLeavesTheCallInDoubt(String lie, String code) {
    DriverOutcome outcome = run(lie, call());
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(End.IN_DOUBT);
    assertThat(outcome.reason()).isEqualTo("in-doubt");
    assertThat(outcome.message()).startsWith(code);
    assertThat(outcome.output()).isEmpty();
  }

  @Test
  void aLineOfALogIsCalledThat() {
    assertThat(run("no-json", call()).message())
        .contains("a line of 5 bytes", "standard error")
        .doesNotContain("hello");
  }

  @Test
  void aNameThatNoToolCanHaveIsShownWithoutWhatSteersATerminal() {
    JsonValue.Obj tool =
        JsonValue.object()
            .put("name", "send \u001b[31m\u202email")
            .put("inputSchema", JsonValue.object().put("type", "object").build())
            .build();
    assertThatThrownBy(() -> PinnedTools.of(List.of(tool)))
        .hasMessageContaining("TOL-231")
        .hasMessageContaining("\"send ?[31m?mail\"");
  }

  @Test
  void oneThatAnswersTwiceIsStartedAgain() {
    for (int i = 0; i < 3; i++) {
      DriverOutcome outcome = run("twice", call());
      // The second answer may be read before the call is over; a wrong result is never given.
      assertThat(outcome.end() == End.SUCCEEDED || outcome.message().startsWith("TOL-235"))
          .as(Call.show(outcome))
          .isTrue();
    }
  }

  @Test
  void oneThatDiesInTheMiddleLeavesTheCallInDoubt() {
    DriverOutcome outcome = run("dies", call());
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(End.IN_DOUBT);
    assertThat(outcome.message()).contains("TOL-240").contains("exit status 3");
  }

  @Test
  void timeAndProcessorTimeAndOutputAreThoseOfTheCall() {
    assertThat(run("hangs", call().wallMs(300)).end()).isEqualTo(End.TIMED_OUT);
    DriverOutcome spins = run("spins", call().cpuMs(200));
    assertThat(spins.end()).as(Call.show(spins)).isEqualTo(End.KILLED);
    assertThat(spins.reason()).isEqualTo("cpu-limit");
    assertThat(spins.message()).startsWith("TOL-242").contains("at most 200");
    assertThat(spins.output()).isEmpty();
    assertThat(run("big", call()).reason()).isEqualTo("output-limit");
  }

  @Test
  void aToolsOwnFailureIsOneAndAnErrorOfTheProtocolToo() {
    DriverOutcome failed = run("fails", call());
    assertThat(failed.end()).isEqualTo(End.FAILED);
    assertThat(failed.reason()).isEqualTo("tool-error");
    assertThat(failed.message()).isEqualTo("no such number");
    assertThat(failed.output()).isPresent();
    assertThat(run("error", call()).message()).isEqualTo("-32602: bad");
  }

  @Test
  void aSecretIsGivenAndNeverComesBack() {
    assertThat(Call.show(run("secret", call()))).contains("[secret]").doesNotContain(SECRET);
  }

  @Test
  void whatTheServerAsksIsAnsweredThatItIsNotOffered() {
    assertThat(Call.text(run("asks", call()))).contains("-32601");
  }
}
