package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.AccessDocument;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Who may submit, execute, fetch, approve, administer: spec/gateway.md, "What a credential may do".
 */
class ACredentialDoesWhatItsRolesAllowTest {
  private static final String CONFIG =
      "writ_gateway: 1\nlisten: { port: 0 }\ntokens:\n"
          + WholeGateway.token("whole", "alice", "")
          + WholeGateway.token("worker", "alice", "roles: [worker]")
          + WholeGateway.token("stranger", "alice", "roles: [stand-in]")
          + WholeGateway.token("reviewer", "alice", "roles: [reviewer]")
          + WholeGateway.token("deputy", "deputy", "")
          + WholeGateway.token("deputy-worker", "deputy", "roles: [worker]")
          + WholeGateway.token("deputy-stand-in", "deputy", "roles: [stand-in]");

  @TempDir Path dir;
  private WholeGateway server;

  @BeforeEach
  void start() {
    server = new WholeGateway(TestGateway.newHome(dir), CONFIG, dir);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
  }

  private String done(String token) throws Exception {
    var answer = server.post(token, "/test/r/calc", "{\"n\":1}");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return answer.body();
  }

  private Optional<List<String>> rolesIn(Digest request) {
    return Request.read(server.home.document(request).document()).origin().orElseThrow().roles();
  }

  private Digest requestOf(String receipt) {
    return server.home.kernel().receipt("acme", Digest.parse(receipt)).receipt().request();
  }

  @Test
  void submittingTakesARoleOfTheCredentialAndTheJournalSaysSo() throws Exception {
    assertThat(rolesIn(requestOf(done("whole")))).isEmpty();
    assertThat(rolesIn(requestOf(done("worker")))).contains(List.of("worker"));
    for (String narrowed : List.of("stranger", "reviewer")) {
      var refused = server.post(narrowed, "/test/r/calc", "{\"n\":1}");
      assertThat(refused.statusCode()).isEqualTo(403);
      assertThat(refused.body()).isEqualTo("GRD-405");
    }
    assertThat(server.home.driver.runs()).hasSize(2);
    // Judged again from the documents alone, each comes to what it came to.
    try (LedgerView reader = Ledger.openReadOnly(server.home.ledgerConfig().dir())) {
      var report =
          Audit.check(reader, new Tools(server.home.tools, server.home.drivers), (_, _) -> {});
      assertThat(report.problems()).isEmpty();
    }
  }

  @Test
  void anAccessDocumentReadsAndAsksForNoEffect() throws Exception {
    String receipt = done("whole");
    Envelope access =
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(
                    "acme",
                    TestHome.ORIGIN,
                    server.home.clock.instant(),
                    server.home.clock.instant().plusSeconds(60))
                .toJson(),
            TestKeys.key("alice"));
    String header = AccessDocument.header(access);
    assertThat(
            server
                .send(server.to("/v1/receipts/" + receipt).header("Authorization", header).GET())
                .statusCode())
        .isEqualTo(200);
    var asked =
        server.send(
            server
                .to("/test/r/calc")
                .header("Authorization", header)
                .POST(HttpRequest.BodyPublishers.ofString("{\"n\":1}")));
    assertThat(asked.statusCode()).isEqualTo(403);
    assertThat(asked.body()).contains("GWY-022");
    assertThat(server.home.driver.runs()).hasSize(1);
  }

  @Test
  void fetchingWhatIsAnothersTakesARoleThatPolicyNamesForIt() throws Exception {
    String path = "/v1/receipts/" + done("whole");
    for (String own : List.of("whole", "worker", "stranger")) {
      assertThat(server.get(own, path).statusCode()).as(own).isEqualTo(200);
    }
    assertThat(server.get("deputy", path).statusCode()).isEqualTo(200);
    assertThat(server.get("deputy-stand-in", path).statusCode()).isEqualTo(200);
    assertThat(server.get("deputy-worker", path).statusCode()).isEqualTo(404);
  }

  @Test
  void lookingAtWhatWaitsTakesTheApproversRole() throws Exception {
    Envelope waits = server.home.ask("bob").tool("pay").sign();
    server.home.submit(waits);
    for (String approver : List.of("whole", "reviewer")) {
      assertThat(server.get(approver, "/v1/approvals").body()).contains(waits.id().toString());
    }
    for (String other : List.of("worker", "deputy")) {
      assertThat(server.get(other, "/v1/approvals").body()).isEqualTo("{\"waiting\":[]}");
      assertThat(server.get(other, "/v1/requests/" + waits.id() + "/outcome").statusCode())
          .as(other)
          .isEqualTo(other.equals("deputy") ? 200 : 404);
    }
  }

  @Test
  void noTokenApprovesOrAdministersOrExecutesAnothersIntent() throws Exception {
    Envelope waits = server.home.ask("bob").tool("pay").sign();
    server.home.submit(waits);
    Envelope approval = server.home.approval(waits, "bob", Approval.Verdict.APPROVE);
    var policy =
        Envelope.sign(
            SystemState.POLICY_TYPE,
            TestPolicy.after(server.home.policy(), TestPolicy.YAML, server.home.tools).toJson(),
            TestKeys.key("alice"));
    for (String path :
        List.of("/v1/approvals", "/v1/policies", "/v1/system-changes", "/v1/resolutions")) {
      assertThat(server.post("whole", path, "{}").statusCode()).as(path).isEqualTo(400);
    }
    // A key of the wrong role, with the best of tokens beside it.
    for (var signed :
        List.of(new Signed("/v1/approvals", approval), new Signed("/v1/policies", policy))) {
      var answer =
          server.send(
              server
                  .as("whole", signed.path)
                  .POST(HttpRequest.BodyPublishers.ofByteArray(signed.envelope.toBytes())));
      assertThat(answer.statusCode()).as(signed.path).isEqualTo(403);
      assertThat(answer.body()).contains("CAN-053");
    }
    assertThat(server.home.runState("acme", "run-1").unfinished().pending()).isEqualTo(1);
  }

  private record Signed(String path, Envelope envelope) {}

  @Test
  void whatWaitedGoesOnForACredentialOfTheSameRolesAlone() throws Exception {
    assertThat(server.post("worker", "/test/r/pay", "{}").statusCode()).isEqualTo(403);
    Digest id =
        Digest.parse("sha256:" + Tables.lastPart(server.home.rows(Tables.PENDING).getFirst()));
    server.home.approve(server.home.document(id), "rita");
    Pipeline pipeline = server.pipeline();
    for (Caller other :
        List.of(
            new Caller("bearer", "whole", "acme", "alice", List.of()),
            new Caller("bearer", "stranger", "acme", "alice", List.of("stand-in")),
            new Caller("access", "kid", "acme", "alice", List.of()))) {
      assertThatThrownBy(() -> pipeline.again(other, id, Optional.empty()))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GWY-022");
    }
    assertThatThrownBy(() ->
            pipeline.again(
                new Caller("bearer", "deputy", "acme", "deputy", List.of()), id, Optional.empty()))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-040");
    Caller same = new Caller("bearer", "worker", "acme", "alice", List.of("worker"));
    assertThat(pipeline.again(same, id, Optional.empty()).served()).isPresent();
  }
}
