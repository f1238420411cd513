package dev.writ.surfaces.execute;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.Await;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.CallState;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.v1.NativeApi;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.SeedZero;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.host.Trees;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import dev.writ.tools.exec.ExecDriver;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.SecondVerifier;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 000 over a socket with the real sandbox: what a request gets, and that nothing stays. */
class EachRequestHasASandboxOfItsOwnTest {
  private static final String KEEPING = "22222222-2222-4222-8222-00000000cee9";

  /** The kernel holds a rate over periods of 100 ms, of which the first and last are not whole. */
  private static final long SLACK_MS = 300;

  /** Frames of a thread that judges, executes or confines, whatever thread it is. */
  private static final Pattern OF_A_REQUEST =
      Pattern.compile("dev\\.writ\\.(executor|tools|sandbox|surfaces)\\.");

  private static final String SECTION =
      """
      execute:
        freshness_s: 300
        sandboxes: { default: default, restricted: restricted, privileged: privileged }
        privileged: { role: reviewer, count: 1 }
        tenants:
          - tenant: acme
            id: "44444444-4444-4444-8444-444444444444"
            workspaces: ["66666666-6666-4666-8666-666666666666"]
            ceiling: privileged
            subjects: [ { subject: alice, id: "55555555-5555-4555-8555-555555555555" } ]
        intents:
      """
          + intent(SeedZero.INTENT_ID, "exec_ephemeral")
          + intent(KEEPING, "exec_keeping");

  private static String intent(String id, String tool) {
    return """
        - id: "%s"
          version: "1.0"
          state: open
          tenant: acme
          targets: [ { any: true } ]
          ceiling: privileged
          resources: { cpu: "1", memory: 256Mi, timeout_ms: 60000 }
          output_bytes: 1048576
          effect:
            tool: %s
            version: 1.0.0
            operation: run
            params: { shell: $target, commands: [sh], artifacts: $output_files, cpu_milli: $cpu_milli }
    """
        .formatted(id, tool);
  }

  private static final String POLICY =
      SeedServer.POLICY
              .replace(
                  "tools: [code_interpreter,",
                  "tools: [exec_ephemeral, exec_keeping, code_interpreter,")
              .replace(
                  "sandboxes: [box, missing-box]",
                  "sandboxes: [box, default, missing-box, privileged, restricted]\n"
                      + "    commands: [sh]")
              .replace(
                  "requirements:\n",
                  "requirements:\n"
                      + "  - { effect: { tool: exec_ephemeral }, require: { cel: 'true' } }\n"
                      + "  - { effect: { tool: exec_keeping }, require: { cel: 'true' } }\n")
          + SECTION;

  @TempDir private static Path dir;
  private static Path state;
  private static ProcessHost processes;
  private static SeedServer server;
  private static int asked;

  @BeforeAll
  static void start() throws IOException {
    state = Files.createTempDirectory("gate");
    Files.setPosixFilePermissions(state, PosixFilePermissions.fromString("rwx--x--x"));
    processes = ProcessHost.open(SandboxSettings.in(state.resolve("s")), SecretStore.none());
    server =
        new SeedServer(
            dir,
            SeedServer.POLICY,
            EachRequestHasASandboxOfItsOwnTest::surfaces,
            HttpLimits.DEFAULT);
    server.home.tools.register(BuiltinTools.manifest("exec_ephemeral", "1.0.0").orElseThrow());
    server.home.tools.register(keeping());
    server.home.drivers.add(server.running.cancellable(new ExecDriver(processes)));
    server.home.drivers.add(server.running.cancellable(ExecDriver.ephemeral(processes)));
    server.restart();
    server.home.activate(POLICY);
  }

  /** The built-in tool that keeps files, under another name: exec is a test tool here. */
  private static ToolManifest keeping() {
    JsonValue.Obj exec = BuiltinTools.manifest("exec", "1.0.0").orElseThrow().toJson();
    String json = new String(Jcs.write(exec), StandardCharsets.UTF_8);
    return ToolManifest.read(
        Jcs.parse(
            json.replace("\"name\":\"exec\"", "\"name\":\"exec_keeping\"")
                .getBytes(StandardCharsets.UTF_8)));
  }

  private static List<Surface> surfaces(SeedServer seed, Pipeline pipeline) {
    BundleExport.Packages packages = BundleExport.Packages.of(seed.home.tools);
    return List.of(
        new ExecuteSurface(pipeline, _ -> {}),
        new NativeApi(seed.backend(), new RunBundle(packages), 2 << 20, 8 << 20));
  }

  @AfterAll
  static void stop() {
    server.close();
    processes.close();
    Trees.remove(state);
    assertThat(server.failures).isEmpty();
  }

  /** The seed's example with another target, and an id of its own, in the same trace. */
  private static String example(String target) {
    asked++;
    return SeedZero.EXAMPLE
        .replace(SeedZero.ASKED_AT, server.home.clock.instant().toString())
        .replace(SeedZero.REQUEST_ID, "11111111-1111-4111-8111-%012d".formatted(asked))
        .replace(SeedZero.EXECUTION_ID, "77777777-7777-4777-8777-%012d".formatted(asked))
        .replace(
            "\"echo 'hello'\"",
            new String(Jcs.write(JsonValue.of(target)), StandardCharsets.UTF_8));
  }

  private static Reply execute(String body) {
    return server.post("alice", "/execute", body);
  }

  private static Reply ran(String body) {
    Reply reply = execute(body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply;
  }

  @Test
  void theSeedsOwnExampleRuns() {
    Reply reply = ran(example("echo 'hello'"));
    assertThat(reply.string("stdout")).as(reply.text()).isEqualTo("hello\n");
    assertThat(reply.string("status")).isEqualTo("success");
  }

  @Test
  void aRequestSeesNoFileOfAnotherOfItsTrace() {
    for (String end : List.of("exit 0", "exit 7", "while :; do :; done", "kill -9 $$")) {
      ran(example("echo kept > file; mkdir d; " + end).replace("30000", "500"));
      assertThat(ran(example("ls -A; cat file")).string("stdout")).as(end).isEmpty();
    }
  }

  @Test
  void aToolThatKeepsFilesIsNotRun() {
    Reply reply = execute(example("echo kept > file").replace(SeedZero.INTENT_ID, KEEPING));
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.string("code")).isEqualTo("GWY-131");
    assertThat(reply.string("remedy")).isNotEmpty();
    assertThat(reply.string("trace_id")).hasSize(32);
  }

  @Test
  void artifactsAreReadByTheirUri() {
    Reply reply =
        ran(
            example("echo one > b.txt; echo two > a.txt")
                .replace("\"output_files\": []", "\"output_files\": [\"*.txt\"]")
                .replace("\"persist\": false", "\"persist\": true"));
    List<String> uris =
        ((JsonValue.Arr) reply.json().get("artifacts"))
            .items().stream().map(uri -> ((JsonValue.Str) uri).value()).toList();
    assertThat(uris).hasSize(2);
    assertThat(uris.stream().map(uri -> server.get("alice", uri).text()))
        .containsExactly("two\n", "one\n");
    assertThat(server.get("eve", uris.getFirst()).status()).isEqualTo(404);
    String receipt = reply.response().headers().firstValue("Writ-Receipt").orElseThrow();
    assertThat(server.get("alice", "/v1/receipts/" + receipt).status()).isEqualTo(200);
    assertThat(reply.response().headers().map()).containsKeys("writ-request", "writ-decision");
  }

  /** The kernel's own count: a busy loop of two seconds, which load can only shorten. */
  @Test
  void processorsAreARate() {
    Reply reply =
        ran(
            example("timeout 2 sh -c 'while :; do :; done'")
                .replace("\"500m\"", "\"100m\"")
                .replace("\"persist\": false", "\"persist\": true"));
    assertThat(reply.json().get("exit_code")).as(reply.text()).isEqualTo(JsonValue.of(124));
    String observed =
        new String(
            server.home.ledger().blob(receipt(reply).observations().orElseThrow(), 1 << 20),
            StandardCharsets.UTF_8);
    assertThat(number(observed, "cpu_ms"))
        .as(observed)
        .isBetween(1L, (number(observed, "wall_ms") + SLACK_MS) / 10);
  }

  /** {@code tail} keeps a line until its end, and this one has none. */
  @Test
  void memoryIsALimit() {
    Reply reply = ran(example("tail /dev/zero"));
    assertThat(reply.string("status")).isEqualTo("error");
    assertThat(reply.json().get("exit_code")).as(reply.text()).isEqualTo(JsonValue.of(137));
    assertThat(receipt(reply).reason()).isEqualTo("out-of-memory");
  }

  @Test
  void noCommandHasACapabilityOrANetwork() {
    String target = "grep Cap /proc/self/status; tail -n +3 /proc/net/dev | cut -d : -f 1";
    for (String profile : List.of("default", "restricted")) {
      assertThat(
              ran(example(target).replace("\"default\"", '"' + profile + '"'))
                  .string("stdout")
                  .replaceAll("\\s+", " "))
          .as(profile)
          .isEqualTo(
              Stream.of("Inh", "Prm", "Eff", "Bnd", "Amb")
                      .map(set -> "Cap" + set + ": 0000000000000000 ")
                      .collect(Collectors.joining())
                  + "lo ");
    }
  }

  private static long number(String observed, String member) {
    Matcher found = Pattern.compile("\"" + member + "\":([0-9]+)").matcher(observed);
    assertThat(found.find()).as(observed).isTrue();
    return Long.parseLong(found.group(1));
  }

  private static Receipt receipt(Reply reply) {
    String id = reply.response().headers().firstValue("Writ-Receipt").orElseThrow();
    return Receipt.read(server.home.document(Digest.parse(id)).document());
  }

  @Test
  void eachProfileIsItsOwn() {
    String target = "echo $HOME $PATH; id -u";
    assertThat(ran(example(target)).string("stdout"))
        .isEqualTo("/workspace /usr/local/bin:/usr/bin:/bin\n65534\n");
    String restricted = example(target).replace("\"default\"", "\"restricted\"");
    assertThat(ran(restricted).string("stdout")).isEqualTo("/tmp /usr/bin:/bin\n65534\n");
    assertThat(receipt(ran(example("true"))).workspaceBefore()).isEmpty();
    String privileged = example(target).replace("\"default\"", "\"privileged\"");
    Reply waiting = execute(privileged);
    assertThat(waiting.string("rejection_code")).isEqualTo("R-SEC-002");
    Digest asked =
        Digest.parse(waiting.response().headers().firstValue("Writ-Request").orElseThrow());
    server
        .home
        .kernel()
        .approve(
            server.home.approval(server.home.document(asked), "rita", Approval.Verdict.APPROVE));
    assertThat(ran(privileged).string("stdout"))
        .isEqualTo("/workspace /usr/local/bin:/usr/bin:/bin\n65534\n");
  }

  @Test
  void statesAreToldInTheirOrder() throws InterruptedException {
    List<String> whole =
        List.of(
            "REQUEST_RECEIVED",
            "VALIDATION",
            "SANDBOX_CREATED",
            "EXECUTION",
            "SANDBOX_DESTROYED",
            "RESPONSE");
    String stuck = example("while :; do :; done").replace("30000", "500");
    for (String body :
        List.of(
            example("echo 'hello'"),
            example("exit 3"),
            example("kill -9 $$"),
            stuck,
            example("no-such-program"))) {
      assertThat(states(body, 200)).as(body).isEqualTo(whole);
    }
    String outside =
        example("echo x").replace("\"output_files\": []", "\"output_files\": [\"/etc\"]");
    assertThat(states(outside, 200))
        .as("the tool refuses it before there is a sandbox")
        .containsExactly("REQUEST_RECEIVED", "VALIDATION", "RESPONSE");
    List<String> rejected = List.of("REQUEST_RECEIVED", "VALIDATION", "REJECTED");
    for (String body :
        List.of(
            "{",
            example("echo x").replace("128Mi", "1Gi"),
            stuck, // a replay
            example("echo x").replace("\"default\"", "\"privileged\""))) { // waits for approval
      assertThat(states(body, 403)).as(body).isEqualTo(rejected);
    }
    assertThat(states(example("echo x").replace(SeedZero.INTENT_ID, KEEPING), 503))
        .isEqualTo(rejected);
  }

  private static List<String> states(String body, int status) throws InterruptedException {
    String trace = "%032x".formatted(++asked);
    Reply reply =
        server.send(
            server
                .to("/execute")
                .header("Authorization", "Bearer token-of-alice")
                .header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01")
                .POST(HttpRequest.BodyPublishers.ofString(body)));
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
    Observer.Finished call;
    do {
      call = server.finished.take(); // told after the answer was sent
    } while (!call.trace().traceId().equals(trace));
    return call.states().stream().map(CallState::name).toList();
  }

  @Test
  void nothingOfARequestIsThereAfterItsResponse() throws Exception {
    ran(example("true")); // what a server makes once
    Set<String> before = there();
    String leaving =
        "echo x > f; echo x > /tmp/f; (setsid sleep 600 > /dev/null 2>&1 &);"
            + " nohup sleep 600 > /dev/null 2>&1 & ";
    CompletableFuture<Reply> running =
        CompletableFuture.supplyAsync(
            () -> ran(example(leaving + "sleep 600").replace("30000", "1000")));
    Await.until(() -> processes.tally().running() != 0);
    assertThat(there()).as("what is looked at shows a request at work").isNotEqualTo(before);
    assertThat(running.get().json().get("exit_code")).isEqualTo(JsonValue.of(124));
    assertGone(before);
    for (String end : List.of("exit 0", "exit 1", "kill -9 $$", "no-such-program")) {
      ran(example(leaving + end));
      assertGone(before);
    }
  }

  /** The kernel takes a moment to bury processes that were killed; everything else is gone. */
  private static void assertGone(Set<String> before) throws IOException {
    long give = System.nanoTime() + 10_000_000_000L;
    Set<String> now = there();
    while (now.stream().anyMatch(x -> x.startsWith("process") && !before.contains(x))
        && System.nanoTime() < give) {
      now = there();
    }
    assertThat(before).containsAll(now);
  }

  /** Processes, threads that work for a request, and files of the sandboxes. */
  private static Set<String> there() throws IOException {
    Set<String> found = new TreeSet<>();
    ProcessHandle.current().descendants().forEach(p -> found.add("process " + p.pid()));
    Path dump = Files.createTempFile(dir, "threads", ".json");
    Files.delete(dump);
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
        .dumpThreads(dump.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
    for (String thread : Files.readString(dump).split("\n\n")) {
      if (OF_A_REQUEST.matcher(thread).find()) {
        found.add("thread " + thread.strip().split("\" ", 2)[0]);
      }
    }
    try (Stream<Path> files = Files.walk(state)) {
      files.forEach(file -> found.add("file " + state.relativize(file)));
    }
    return found;
  }

  @Test
  void theRunReplaysAndBothVerifiersAreContent() throws Exception {
    server.home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    ran(example("echo kept > file"));
    server.home.kernel().checkpoint();
    assertThat(server.audit().problems()).isEmpty();
    byte[] bundle =
        BundleExport.of(
            server.home.ledger(),
            new RunId("acme", SeedZero.TRACE_ID),
            BundleExport.Packages.of(server.home.tools),
            new BundleExport.Options(false, false, Optional.empty()));
    BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
    ReplayResult result =
        new Replay(Bundle.of(bundle), ReplayOptions.recorded(List.copyOf(server.home.drivers)))
            .run();
    assertThat(result.divergences()).isEmpty();
    assertThat(result.state()).isEqualTo(ReplayResult.State.COMPLETE);
    Path verifier = Files.write(dir.resolve("verify.mjs"), SecondVerifier.source());
    Process second =
        new ProcessBuilder(
                "node", verifier.toString(), Files.write(dir.resolve("b.writ"), bundle).toString())
            .redirectErrorStream(true)
            .start();
    String words = new String(second.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(second.waitFor()).as(words).isEqualTo(5); // whole, by keys that nobody pinned
  }
}
