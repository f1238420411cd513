package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.CallPeer;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.End;
import dev.writ.executor.driver.ExpectedCall;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.tools.Call;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Two clients of one subject in one run share a server: what it asks one reaches no other. */
class QuestionsStayWithTheirCallTest {
  private static final String FORM =
      "{\"message\":\"Which?\",\"requestedSchema\":{\"properties\":{},\"type\":\"object\"}}";

  private static TestHosts hosts;
  private static McpDriver driver;
  private static byte[] script;

  @BeforeAll
  static void open() throws IOException {
    hosts = TestHosts.open((_, _) -> List.of(), Optional.empty());
    driver =
        new McpDriver(
            hosts.host(),
            RunningServers.Terms.looking(0, System::nanoTime)); // looks before each call
    try (InputStream in = QuestionsStayWithTheirCallTest.class.getResourceAsStream("passing.py")) {
      script = in.readAllBytes();
    }
  }

  @AfterAll
  static void close() {
    driver.close();
    hosts.close();
  }

  private static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  private static Driver.Prepared prepared(String tool, Invocation call, String... passes) {
    ServerSpec spec =
        new ServerSpec(
                List.of("python3", "/tool/passing.py"),
                new TreeMap<>(),
                new TreeMap<>(),
                List.of(),
                List.of(),
                60_000)
            .passing(Passes.of(List.of(passes)));
    TreeMap<String, byte[]> own = new TreeMap<>();
    own.put("passing.py", script);
    PinnedTools tools =
        UpstreamProbe.look(hosts.host(), spec, own, call.scope(), List.of()).tools();
    UpstreamPackage upstream = UpstreamPackage.of("notes", "1.0.0", spec, tools, own);
    return driver.prepare(
        upstream.manifest(),
        tool,
        file -> upstream.files().get(file.path()),
        HostTerms.NONE,
        new ExpectedCall(call.scope(), call.resources(), call.sandbox(), false));
  }

  private static Invocation of(CallPeer peer, long wallMs, String params) {
    Invocation call =
        new Call(null).sandbox("default").wallMs(wallMs).params(object(params)).invocation();
    return call.of(
        call.call()
            .observedBy(
                new SandboxObserver() {
                  @Override
                  public CallPeer peer() {
                    return peer;
                  }
                }));
  }

  /** A client that answers with its name once it may. */
  private record Person(String name, CountDownLatch isAsked, CountDownLatch mayAnswer)
      implements CallPeer {
    @Override
    public boolean answers(String method, JsonValue.Obj params) {
      return true;
    }

    @Override
    public Optional<JsonValue.Obj> ask(String method, JsonValue.Obj params, long atMostMs) {
      isAsked.countDown();
      try {
        mayAnswer.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return Optional.of(
          JsonValue.object()
              .put("action", "accept")
              .put("content", JsonValue.object().put("who", name).build())
              .build());
    }
  }

  private static String asking() {
    return "{\"method\":\"elicitation/create\",\"params\":" + FORM + "}";
  }

  @Test
  void eachCallsQuestionReachesItsOwnClientAndItsWaitIsNotTheServersTime() throws Exception {
    Person ada = new Person("ada", new CountDownLatch(1), new CountDownLatch(1));
    Person bob = new Person("bob", new CountDownLatch(1), new CountDownLatch(0));
    Invocation first = of(ada, 5_000, asking());
    Invocation second = of(bob, 60_000, asking());
    Driver.Prepared tool = prepared("asks", first, "elicitation");
    CompletableFuture<DriverOutcome> adas = CompletableFuture.supplyAsync(() -> tool.run(first));
    ada.isAsked().await();
    CompletableFuture<DriverOutcome> bobs = CompletableFuture.supplyAsync(() -> tool.run(second));
    // A third call whose time is over before its turn comes: nothing of it was sent.
    DriverOutcome late = tool.run(of(CallPeer.NONE, 1, asking()));
    assertThat(late.end()).as(Call.show(late)).isEqualTo(End.FAILED);
    assertThat(late.message()).startsWith("TOL-246");
    assertThat(bob.isAsked().getCount()).as("bob's call waits for its turn").isEqualTo(1);
    ada.mayAnswer().countDown();
    assertThat(Call.text(adas.get())).contains("ada").doesNotContain("bob");
    assertThat(Call.text(bobs.get())).contains("bob").doesNotContain("ada");
    assertThat(Call.show(adas.get())).contains("elicitation/create").doesNotContain("Which?");
  }

  @Test
  void whatMayNotBeAskedIsObservedWithItsCodesWords() {
    Person ada = new Person("ada", new CountDownLatch(1), new CountDownLatch(0));
    Invocation call = of(ada, 60_000, asking().replace("Which?", "Your API key?"));
    DriverOutcome outcome = prepared("asks", call, "elicitation").run(call);
    assertThat(Call.show(outcome)).contains("a form that asks for a secret");
    assertThat(ada.isAsked().getCount()).isEqualTo(1);
    assertThatThrownBy(() ->
            ServerQuestion.ELICITATION.shaped(
                "notes", object(FORM.replace("Which?", "Your password?"))))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_QUESTION));
  }

  @Test
  void aPromptThatChangesIsSeenWhetherTheServerSaysSoOrNot() {
    for (String silently : List.of("true", "false")) {
      Invocation call = of(CallPeer.NONE, 60_000, "{\"silently\":" + silently + "}");
      Driver.Prepared tool = prepared("relists", call, "prompts", "resources");
      assertThat(tool.run(call).end()).isEqualTo(End.SUCCEEDED);
      DriverOutcome again = tool.run(call);
      assertThat(again.end()).isEqualTo(End.FAILED);
      assertThat(again.message()).startsWith("TOL-232").contains("prompt greet");
      driver.close();
      driver = new McpDriver(hosts.host(), RunningServers.Terms.looking(0, System::nanoTime));
    }
  }
}
