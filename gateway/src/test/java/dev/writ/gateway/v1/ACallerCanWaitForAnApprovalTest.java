package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Approval;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a caller is told of a refusal, and how it waits for what only an approver can give. */
class ACallerCanWaitForAnApprovalTest {
  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
  }

  @AfterEach
  void stop() {
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  private static JsonValue.Obj member(Reply reply, String name) {
    return (JsonValue.Obj) reply.json().get(name);
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  @Test
  void aDenialSaysInClearWhatWouldHelpAndSoDoesItsOutcomeLater() {
    Envelope request = gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign();
    Reply denied = gateway.submit(request);
    JsonValue.Obj guidance = member(denied, "guidance");
    assertThat(guidance.get("code")).isEqualTo(JsonValue.of("GRD-102"));
    assertThat(text(guidance.get("missing"))).contains("\"names\":[\"forbidden\"]");
    Reply later = gateway.get("alice", "/v1/requests/" + request.id() + "/outcome");
    assertThat(member(later, "guidance")).isEqualTo(guidance);
    assertThat(later.json().members()).doesNotContainKey("waiting");
  }

  @Test
  void whatIsAllowedComesWithoutAdvice() {
    Reply served = gateway.submit(gateway.home.ask("alice").sign());
    assertThat(served.json().members()).doesNotContainKeys("guidance", "waiting");
  }

  /** It ran, so nothing waits and nothing failed; what policy would say is beside the receipt. */
  @Test
  void whatIsOnlyObservedIsServedAndSaysWhatWouldBeRefused() {
    gateway.home.activate(TestPolicy.YAML.replace("name: test\n", "name: test\nmode: observe\n"));
    Envelope request = gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign();
    Reply served = gateway.submit(request);
    assertThat(served.status()).isEqualTo(200);
    assertThat(served.json().members()).containsKey("receipt").doesNotContainKey("waiting");
    JsonValue.Obj guidance = member(served, "guidance");
    assertThat(guidance.get("observed")).isEqualTo(JsonValue.of("DENY"));
    assertThat(guidance.get("code")).isEqualTo(JsonValue.of("GRD-102"));
    assertThat(text(guidance.get("help"))).contains("Not enforced").contains("forbidden");
    Reply later = gateway.get("alice", "/v1/requests/" + request.id() + "/outcome");
    assertThat(member(later, "guidance")).isEqualTo(guidance);
  }

  @Test
  void anEscalationSaysWhereToWaitAndTheWaitEndsWithTheApproval() throws Exception {
    Envelope request = gateway.home.ask("alice").tool("pay").sign();
    Reply escalated = gateway.submit(request);
    assertThat(text(member(escalated, "guidance").get("help"))).contains("reviewer");
    JsonValue.Obj waiting = member(escalated, "waiting");
    assertThat(waiting.get("approve")).isEqualTo(JsonValue.of("writ approve " + request.id()));
    String outcome = ((JsonValue.Str) waiting.get("outcome")).value();
    assertThat(outcome).endsWith("/outcome?wait_s=50");

    CountDownLatch asked = new CountDownLatch(1);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      CompletableFuture<Reply> answer =
          CompletableFuture.supplyAsync(
              () -> {
                asked.countDown();
                return gateway.get("alice", outcome);
              },
              threads);
      asked.await();
      assertThat(answer).isNotDone();
      Envelope approval = gateway.home.approval(request, "rita", Approval.Verdict.APPROVE);
      gateway.post("/v1/approvals", approval.toBytes());
      Reply told = answer.get();
      assertThat(told.string("state")).isEqualTo("allowed");
      assertThat(told.json().members()).doesNotContainKeys("guidance", "waiting");
    }
    assertThat(gateway.home.driver.runs()).isEmpty(); // waiting executes nothing
    assertThat(gateway.submit(request).status()).isEqualTo(200);
  }

  @Test
  void theWaitEndsWithARejectionToo() {
    Envelope request = gateway.home.ask("alice").tool("pay").sign();
    gateway.submit(request);
    Envelope rejection = gateway.home.approval(request, "rita", Approval.Verdict.REJECT);
    gateway.post("/v1/approvals", rejection.toBytes());
    Reply told = gateway.get("alice", "/v1/requests/" + request.id() + "/outcome?wait_s=50");
    assertThat(told.string("state")).isEqualTo("denied");
    assertThat(member(told, "guidance").get("code")).isEqualTo(JsonValue.of("GRD-105"));
  }

  @Test
  void nobodyWaitsForWhatIsAnothersOrLongerThanMayBe() {
    Envelope request = gateway.home.ask("alice").tool("pay").sign();
    gateway.submit(request);
    String outcome = "/v1/requests/" + request.id() + "/outcome";
    assertThat(gateway.get("bob", outcome + "?wait_s=50").string("code")).isEqualTo("GWY-040");
    assertThat(gateway.get("alice", outcome + "?wait_s=51").status()).isEqualTo(400);
    assertThat(gateway.get("alice", outcome + "?wait_s=-1").status()).isEqualTo(400);
    assertThat(gateway.get("alice", outcome).string("state")).isEqualTo("pending");
  }
}
