package dev.writ.surfaces.execute;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.guardian.SeedZero;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.profile.RejectionCode;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.seed.SeedServer.Reply;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleExport;
import dev.writ.verify.bundle.BundleExport.Options;
import dev.writ.verify.bundle.BundleVerifier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 000 as its clients meet it: bodies, codes, audit lines. */
class TheStrictGatewayOverASocketTest {
  private static final String REQUEST = "11111111-1111-4111-8111-111111111111";
  private static final String OTHER = "99999999-9999-4999-8999-999999999999";
  private static final String CLOSED = "22222222-2222-4222-8222-00000000c105";
  private static final String RESTRICTED = "22222222-2222-4222-8222-0000000000e5";
  private static final String UNSERVED = "22222222-2222-4222-8222-000000000503";
  private static final String DENIED = "22222222-2222-4222-8222-000000000403";
  private static final String EXECUTION = "77777777-7777-4777-8777-777777777777";

  private static String intent(String id, String state, String ceiling, String tool) {
    return ("    - { id: \"%s\", version: \"1.0\", state: %s, tenant: acme,"
            + " targets: [ { program: echo } ], ceiling: %s,"
            + " resources: { cpu: \"1\", memory: 256Mi, timeout_ms: 60000 }, output_bytes: 1048576,"
            + " effect: { tool: %s, version: 1.0.0, operation: twice,"
            + " params: { argv: $argv, with: $parameters } } }\n")
        .formatted(id, state, ceiling, tool);
  }

  private static final String SECTION =
      """
      execute:
        freshness_s: 300
        sandboxes: { default: box, restricted: box, privileged: box }
        privileged: { role: reviewer, count: 1 }
        tenants:
          - tenant: acme
            id: "44444444-4444-4444-8444-444444444444"
            workspaces: ["66666666-6666-4666-8666-666666666666"]
            ceiling: privileged
            subjects: [ { subject: alice, id: "55555555-5555-4555-8555-555555555555" } ]
          - tenant: other
            id: "44444444-4444-4444-8444-0000000000ee"
            workspaces: ["66666666-6666-4666-8666-6666666666ee"]
            ceiling: default
            subjects: [ { subject: eve, id: "55555555-5555-4555-8555-5555555555ee" } ]
        intents:
      """
          + intent("22222222-2222-4222-8222-222222222222", "open", "privileged", "mail")
          + intent(CLOSED, "closed", "privileged", "mail")
          + intent(RESTRICTED, "open", "restricted", "mail")
          + intent(UNSERVED, "open", "privileged", "nodriver")
          + intent(DENIED, "open", "privileged", "exec");

  @TempDir Path dir;
  private final List<JsonValue.Obj> audit = Collections.synchronizedList(new ArrayList<>());
  private SeedServer server;

  private List<Surface> surfaces(Pipeline pipeline) {
    return List.of(new ExecuteSurface(pipeline, audit::add));
  }

  @BeforeEach
  void start() {
    server =
        new SeedServer(
            dir,
            // exec is the developer's, whose role holds too little memory for it here
            SeedServer.POLICY.replace("memory_bytes: 4294967296", "memory_bytes: 1") + SECTION,
            this::surfaces);
    says("hello\n", "", 0);
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private void says(String stdout, String stderr, int exitCode) {
    server.home.driver.does(
        "mail",
        Behaviours.gives(
            Jcs.write(
                JsonValue.object()
                    .put("stdout", stdout)
                    .put("stderr", stderr)
                    .put("exit_code", exitCode)
                    .build()),
            Behaviours.JSON));
  }

  private String example() {
    return SeedZero.EXAMPLE.replace(SeedZero.ASKED_AT, server.home.clock.instant().toString());
  }

  /** The example with members replaced; null takes one away. */
  private String with(Object... changes) {
    JsonValue.Obj json = (JsonValue.Obj) Jcs.parse(example().getBytes(StandardCharsets.UTF_8));
    for (int i = 0; i < changes.length; i += 2) {
      json = put(json, changes[i].toString().substring(1), (JsonValue) changes[i + 1]);
    }
    return new String(Jcs.write(json), StandardCharsets.UTF_8);
  }

  private static JsonValue.Obj put(JsonValue.Obj object, String path, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    int slash = path.indexOf('/');
    if (slash >= 0) {
      String key = path.substring(0, slash);
      members.put(key, put((JsonValue.Obj) members.get(key), path.substring(slash + 1), value));
    } else if (value == null) {
      members.remove(path);
    } else {
      members.put(path, value);
    }
    return new JsonValue.Obj(members);
  }

  private static JsonValue text(String text) {
    return JsonValue.of(text);
  }

  private Reply execute(String body) {
    return server.post("alice", "/execute", body);
  }

  private String code(String body) {
    Reply reply = execute(body);
    assertThat(reply.status()).as(reply.text()).isEqualTo(403);
    assertThat(reply.json().members().keySet())
        .containsExactlyInAnyOrder(
            "execution_request_id", "status", "rejection_code", "reason", "trace_id", "timestamp");
    assertThat(reply.string("status")).isEqualTo("rejected");
    assertThat(reply.string("reason")).isNotBlank();
    return reply.string("rejection_code");
  }

  @Test
  void theSeedsOwnExampleRuns() {
    Reply reply = execute(example());
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.json().members().keySet())
        .containsExactlyInAnyOrder(
            "execution_request_id",
            "status",
            "exit_code",
            "stdout",
            "stderr",
            "artifacts",
            "started_at",
            "finished_at");
    assertThat(reply.string("execution_request_id")).isEqualTo(REQUEST);
    assertThat(reply.string("status")).isEqualTo("success");
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(0));
    assertThat(reply.string("stdout")).isEqualTo("hello\n");
    assertThat(reply.json().get("artifacts")).isEqualTo(JsonValue.of(List.of()));
    assertThat(server.home.driver.runs().getFirst().invocation().params())
        .isEqualTo(
            Jcs.parse(
                "{\"argv\":[\"echo\",\"hello\"],\"with\":{}}".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void whatIsNotPersistedIsGoneAndItsDigestStays() {
    execute(example());
    Receipt receipt = lastReceipt();
    assertThat(receipt.retained()).isFalse();
    Digest output = receipt.output().orElseThrow().digest();
    assertThat(server.home.ledger().hasBlob(output)).isFalse();
    execute(
        with(
            "/artifacts/persist",
            JsonValue.TRUE,
            "/execution_request_id",
            text(OTHER),
            "/audit/parent_trace_id",
            text(OTHER)));
    assertThat(server.home.ledger().hasBlob(lastReceipt().output().orElseThrow().digest()))
        .isTrue();
  }

  private Receipt lastReceipt() {
    return server.home.log().stream()
        .filter(event -> event.kind().equals("receipt.signed"))
        .map(event -> Receipt.read(server.home.document(event.body()).document()))
        .reduce((_, last) -> last)
        .orElseThrow();
  }

  @Test
  void theAuditLineHasTenFieldsAndNothingElse() {
    execute(example());
    execute("{\"hunter2\": \"password\"}");
    assertThat(audit).hasSize(2);
    for (JsonValue.Obj line : audit) {
      assertThat(line.members().keySet())
          .containsExactlyInAnyOrder(
              "execution_request_id",
              "intent_id",
              "tenant_id",
              "subject_id",
              "trace_id",
              "sandbox_profile",
              "rejection_code",
              "exit_code",
              "started_at",
              "finished_at");
      assertThat(line.toString()).doesNotContain("hunter2").doesNotContain("echo");
    }
    assertThat(audit.getFirst().get("rejection_code")).isEqualTo(JsonValue.NULL);
    assertThat(audit.getFirst().get("exit_code")).isEqualTo(JsonValue.of(0));
    assertThat(audit.getFirst().get("sandbox_profile")).isEqualTo(text("default"));
    assertThat(audit.getLast().get("rejection_code")).isEqualTo(text("R-SCHEMA-002"));
    assertThat(audit.getLast().get("exit_code")).isEqualTo(JsonValue.NULL);
  }

  @Test
  void all24CodesFromTheSurfaceAndEachInASignedDecision() throws Exception {
    TreeSet<String> provoked = new TreeSet<>();
    provoked.add(code("{"));
    provoked.add(code(with("/more", text("x"))));
    provoked.add(code(with("/audit", null)));
    provoked.add(code(with("/context/tenant_id", null)));
    provoked.add(code(with("/context/subject_id", null)));
    provoked.add(code(with("/context/trace_id", null)));
    provoked.add(code(with("/context/workspace_id", text(OTHER))));
    provoked.add(code(with("/intent_ref/intent_id", null)));
    provoked.add(code(with("/intent_ref/intent_id", text(OTHER))));
    provoked.add(code(with("/intent_ref/intent_version", text("2.0"))));
    provoked.add(code(with("/intent_ref/intent_id", text(CLOSED))));
    provoked.add(code(with("/sandbox/network", text("enabled"))));
    provoked.add(
        code(
            with(
                "/sandbox/profile",
                text("privileged"),
                "/intent_ref/intent_id",
                text(RESTRICTED))));
    provoked.add(
        code(
            with(
                "/execution_spec/parameters",
                JsonValue.object().put("api_key", "hunter2").build())));
    provoked.add(code(with("/sandbox/profile", text("lax"))));
    provoked.add(code(with("/intent_ref/intent_id", text(RESTRICTED))));
    provoked.add(code(with("/resources/cpu", null)));
    provoked.add(code(with("/resources/memory", null)));
    provoked.add(code(with("/resources/timeout_ms", null)));
    provoked.add(code(with("/resources/memory", text("1Gi"))));
    assertThat(provoked).hasSize(20);

    String body = example();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    server.home.driver.does("mail", Behaviours.blocks(begun, goOn));
    CompletableFuture<Reply> running = CompletableFuture.supplyAsync(() -> execute(body));
    begun.await();
    provoked.add(code(body)); // R-STATE-002
    assertThat(code(body + " ")).as("another body while it runs").isEqualTo("R-STATE-003");
    goOn.countDown();
    assertThat(running.get().status()).isEqualTo(200);
    provoked.add(code(body)); // R-STATE-001
    provoked.add(code(body + " ")); // R-STATE-003
    provoked.add(
        code(
            with("/execution_request_id", text(OTHER), "/audit/parent_trace_id", text(EXECUTION))));
    assertThat(provoked)
        .containsExactlyInAnyOrderElementsOf(
            Stream.of(RejectionCode.values()).map(RejectionCode::code).toList());
    assertThat(server.home.driver.runs()).as("one of all these ran").hasSize(1);
    assertThat(server.decisionCodes()).containsAll(provoked);
    assertThat(server.audit().problems()).as("judging all of it again gives the same").isEmpty();
    server.home.log().stream()
        .filter(event -> event.kind().equals("request.received"))
        .forEach(event ->
            assertThat(server.home.document(event.body()).document().toString())
                .doesNotContain("hunter2"));
  }

  @Test
  void staleAndFutureTimestampsAreReplays() {
    for (long seconds : List.of(-301L, 301L)) {
      assertThat(
              code(
                  with(
                      "/audit/timestamp",
                      text(server.home.clock.instant().plusSeconds(seconds).toString()))))
          .isEqualTo("R-STATE-002");
    }
  }

  @Test
  void whatWasDoneIsKnownAfterARestart() {
    String body = example();
    assertThat(execute(body).status()).isEqualTo(200);
    server.restart();
    assertThat(code(body)).isEqualTo("R-STATE-001");
    assertThat(code(body + "\n")).isEqualTo("R-STATE-003");
    assertThat(
            code(
                with(
                    "/execution_request_id",
                    text(OTHER),
                    "/audit/parent_trace_id",
                    text(EXECUTION))))
        .isEqualTo("R-STATE-004");
    assertThat(server.home.driver.runs()).hasSize(1);
  }

  @Test
  void privilegedRunsOnceItIsApprovedAlsoAfterARestart() {
    String body = with("/sandbox/profile", text("privileged"));
    assertThat(code(body)).isEqualTo("R-SEC-002");
    assertThat(server.decisionCodes()).containsExactly("R-SEC-002");
    assertThat(code(body)).as("it waits still").isEqualTo("R-SEC-002");
    assertThat(server.decisionCodes()).as("and is asked for once").hasSize(1);
    Digest request =
        server.home.log().stream()
            .filter(event -> event.kind().equals("request.received"))
            .map(event -> event.body())
            .findFirst()
            .orElseThrow();
    server.restart();
    assertThat(code(body + " ")).as("another body is refused for good").isEqualTo("R-SEC-002");
    assertThat(
            server
                .home
                .runState("acme", "33333333-3333-4333-8333-333333333333")
                .unfinished()
                .pending())
        .as("only the first waits")
        .isEqualTo(1);
    server
        .home
        .kernel()
        .approve(
            server.home.approval(server.home.document(request), "rita", Approval.Verdict.APPROVE));
    assertThat(execute(body).status()).isEqualTo(200);
    assertThat(server.home.driver.runs()).hasSize(1);
    assertThat(code(body)).isEqualTo("R-STATE-001");
  }

  @Test
  void aTimeoutIsAnErrorWith124AndKeepsWhatThereWas() {
    server.home.driver.does("mail", Behaviours.ends(DriverOutcome.End.TIMED_OUT, "timed-out"));
    Reply reply = execute(example());
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.string("status")).isEqualTo("error");
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(124));
    assertThat(reply.string("stdout")).isEqualTo("half an answer");
    assertThat(lastReceipt().retained()).isFalse();
  }

  @Test
  void aProgramThatFailsIsAnErrorWithItsCodeAndStreams() {
    says("out", "err", 3);
    Reply reply = execute(example());
    assertThat(reply.string("status")).isEqualTo("error");
    assertThat(reply.json().get("exit_code")).isEqualTo(JsonValue.of(3));
    assertThat(reply.string("stderr")).isEqualTo("err");
    assertThat(server.home.driver.runs()).as("and is not tried again").hasSize(1);
  }

  @Test
  void streamsThatAreNotCapturedAreEmpty() {
    says("out", "err", 0);
    Reply reply =
        execute(
            with(
                "/artifacts/capture_stdout",
                JsonValue.FALSE,
                "/artifacts/capture_stderr",
                JsonValue.FALSE));
    assertThat(reply.string("stdout")).isEmpty();
    assertThat(reply.string("stderr")).isEmpty();
  }

  @Test
  void whatIsMissingHereIsNoFaultOfTheRequest() {
    Reply reply = execute(with("/intent_ref/intent_id", text(UNSERVED)));
    assertThat(reply.status()).isEqualTo(503);
    assertThat(reply.string("code")).isEqualTo("EXE-304");
    assertThat(reply.response().headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void laterDenialsAreToldInTheSeedsWords() {
    assertThat(code(with("/intent_ref/intent_id", text(DENIED))))
        .as("above the role's ceiling")
        .isEqualTo("R-RES-004");
    assertThat(server.decisionCodes()).containsExactly("GRD-406");
  }

  /** A surface's profile is a check before the four, and the denied tool is in no bundle. */
  @Test
  void aDenialOfTheEnvelopeReplaysWithoutItsTool() {
    server.home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    execute(with("/intent_ref/intent_id", text(DENIED)));
    server.home.kernel().checkpoint();
    RunId run =
        server.home.log().stream()
            .filter(event -> event.kind().equals("decision.made"))
            .map(Event::runId)
            .findFirst()
            .orElseThrow();
    byte[] bundle =
        BundleExport.of(
            server.home.ledger(), run, NO_PACKAGES, new Options(false, false, Optional.empty()));
    BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {});
    ReplayResult result =
        new Replay(Bundle.of(bundle), ReplayOptions.recorded(List.copyOf(server.home.drivers)))
            .run();
    assertThat(result.divergences()).isEmpty();
    assertThat(result.state()).isEqualTo(ReplayResult.State.COMPLETE);
  }

  private static final BundleExport.Packages NO_PACKAGES =
      new BundleExport.Packages() {
        @Override
        public Optional<ToolManifest> manifest(ToolRef tool) {
          return Optional.empty();
        }

        @Override
        public Driver.PackageContent files(ToolManifest manifest) {
          throw new IllegalStateException("there is none");
        }
      };

  @Test
  void aBudgetThatIsSpentExceedsPolicy() {
    server.home.activate(
        SeedServer.POLICY.replace("unit: calls, limit: 100000", "unit: calls, limit: 0") + SECTION);
    Reply refused = execute(example());
    assertThat(refused.string("rejection_code")).isEqualTo("R-RES-004");
    assertThat(refused.string("reason"))
        .startsWith("a budget is exhausted")
        .endsWith(": its limit is less than what was asked for.");
    assertThat(server.decisionCodes()).containsExactly("GRD-201");
  }

  @Test
  void aLedgerThatFailsIsNoFaultOfTheRequest() {
    server.home.beforeWrite(() -> {
      throw new UncheckedIOException(new IOException("disk"));
    });
    Reply reply = execute(example());
    assertThat(reply.status()).as(reply.text()).isEqualTo(503);
    assertThat(reply.text()).doesNotContain("disk");
    server.home.beforeWrite(() -> {});
  }

  @Test
  void nobodyIsServedWithoutAToken() {
    Reply reply =
        server.send(server.to("/execute").POST(HttpRequest.BodyPublishers.ofString(example())));
    assertThat(reply.status()).isEqualTo(401);
    assertThat(audit).isEmpty();
    assertThat(server.decisionCodes()).isEmpty();
  }

  @Test
  void anotherTenantSeesNothingOfIt() {
    execute(example());
    Reply foreign = server.post("eve", "/execute", example());
    assertThat(foreign.string("rejection_code")).isEqualTo("R-CTX-004");
    Reply unknown = server.post("eve", "/execute", with("/context/tenant_id", text(OTHER)));
    assertThat(unknown.string("reason")).isEqualTo(foreign.string("reason"));
  }

  @Test
  void healthIsHealthy() {
    Reply reply = server.send(server.to("/health").GET());
    assertThat(reply.status()).isEqualTo(200);
    assertThat(reply.text()).isEqualTo("{\"status\":\"healthy\"}");
  }

  @Test
  void tenAtOnceRunOnce() {
    String body = example();
    List<CompletableFuture<Reply>> all = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      all.add(CompletableFuture.supplyAsync(() -> execute(body)));
    }
    assertThat(all.stream().map(CompletableFuture::join).filter(r -> r.status() == 200)).hasSize(1);
    assertThat(server.home.driver.runs()).hasSize(1);
    assertThat(Optional.of(server.home.fsck().problems())).contains(List.of());
  }

  @Test
  void decisionsCanBeReadBack() {
    execute(with("/resources/cpu", null));
    Decision decision =
        server.home.log().stream()
            .filter(event -> event.kind().equals("decision.made"))
            .map(event -> Decision.read(server.home.document(event.body()).document()))
            .findFirst()
            .orElseThrow();
    assertThat(decision.code()).contains("R-RES-001");
    assertThat(decision.checks().getFirst().check()).isEqualTo("profile");
  }

  /** The seed forbids queues: where there is no slot, it says so at once. */
  @Test
  void whoFindsNoSlotIsRefusedAndDoesNotWait() throws Exception {
    int quota = server.home.policy().engine().quotas().of(TestKeys.TENANT).running();
    Ticket ticket = new Ticket(TestKeys.TENANT, "alice", "mail", "small", Ticket.AS_POLICY_SAYS);
    CountDownLatch begun = new CountDownLatch(quota);
    CountDownLatch end = new CountDownLatch(1);
    try (ExecutorService others = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < quota; i++) {
        others.submit(() ->
            server
                .lane()
                .run(
                    ticket,
                    () -> {
                      begun.countDown();
                      try {
                        return end.await(1, TimeUnit.MINUTES);
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
                    }));
      }
      begun.await();
      Reply reply = execute(example());
      assertThat(reply.status()).as(reply.text()).isEqualTo(503);
      assertThat(reply.string("code")).isEqualTo("GWY-082");
      assertThat(reply.response().headers().firstValue("Retry-After")).contains("1");
      assertThat(server.home.driver.runs()).isEmpty();
      end.countDown();
    }
    assertThat(execute(example()).status()).isEqualTo(200);
  }
}
