package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.AccessDocument;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** protocol rules 3 and 4 over the wire. */
class ForeignAndUnknownAnswerAlikeTest {
  private static final Digest NOWHERE = Digest.sha256(new byte[] {1});

  @TempDir Path dir;
  private TestGateway gateway;
  private Envelope request;
  private Reply served;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    request = gateway.home.ask("alice").sign();
    served = gateway.submit(request);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  /**
   * Every address of something of alice's, with the id of something that is not there beside it.
   */
  private List<List<String>> pairs() {
    String decision = served.header("Writ-Decision");
    String receipt = served.string("receipt_id");
    String intent = TestGateway.idOf(served.json().get("intent")).toString();
    return List.of(
        List.of("/v1/requests/" + request.id(), "/v1/requests/" + NOWHERE),
        List.of(
            "/v1/requests/" + request.id() + "/outcome", "/v1/requests/" + NOWHERE + "/outcome"),
        List.of("/v1/decisions/" + decision, "/v1/decisions/" + NOWHERE),
        List.of("/v1/intents/" + intent, "/v1/intents/" + NOWHERE),
        List.of("/v1/receipts/" + receipt, "/v1/receipts/" + NOWHERE),
        List.of("/v1/receipts/" + receipt + "/output", "/v1/receipts/" + NOWHERE + "/output"),
        List.of("/v1/receipts/" + receipt + "/proof", "/v1/receipts/" + NOWHERE + "/proof"),
        List.of("/v1/runs/run-1", "/v1/runs/run-none"),
        List.of("/v1/runs/run-1/events", "/v1/runs/run-none/events"),
        List.of("/v1/runs/run-1/bundle", "/v1/runs/run-none/bundle"));
  }

  private static String shape(Reply reply) {
    return (reply.status() + " " + reply.text())
        .replaceAll("\"trace_id\":\"[0-9a-f]{32}\"", "")
        .replaceAll("sha256:[0-9a-f]{64}|run-1|run-none", "ID");
  }

  @Test
  void theOwnerAndWhoPolicyNamesReadIt() {
    for (List<String> pair : pairs()) {
      assertThat(gateway.get("alice", pair.get(0)).status()).as(pair.get(0)).isEqualTo(200);
      assertThat(gateway.get("deputy", pair.get(0)).status()).as(pair.get(0)).isEqualTo(200);
      assertThat(gateway.get("alice", pair.get(1)).status()).as(pair.get(1)).isEqualTo(404);
    }
  }

  @Test
  void aStrangerCannotTellWhatIsThereFromWhatIsNot() {
    for (String stranger : List.of("bob", "eve", "rita")) {
      for (List<String> pair : pairs()) {
        Reply foreign = gateway.get(stranger, pair.get(0));
        Reply unknown = gateway.get(stranger, pair.get(1));
        assertThat(foreign.status()).as(stranger + " " + pair.get(0)).isEqualTo(404);
        assertThat(shape(foreign)).isEqualTo(shape(unknown));
      }
    }
  }

  @Test
  void withoutCredentialsNothingIsRead() {
    for (List<String> pair : pairs()) {
      Reply none = gateway.send(HttpRequest.newBuilder(gateway.uri(pair.get(0))));
      assertThat(none.status()).isEqualTo(401);
      assertThat(none.string("code")).isEqualTo("GWY-020");
      Reply wrong =
          gateway.send(
              HttpRequest.newBuilder(gateway.uri(pair.get(0)))
                  .header("Authorization", "Bearer token-of-nobody"));
      assertThat(wrong.status()).isEqualTo(401);
    }
  }

  @Test
  void anAccessDocumentReadsWhatItsSignerMay() {
    String path = "/v1/requests/" + request.id();
    assertThat(withAccess(path, gateway.access("alice")).status()).isEqualTo(200);
    assertThat(withAccess(path, gateway.access("bob")).status()).isEqualTo(404);
    assertThat(withAccess(path, gateway.access("eve")).status()).isEqualTo(404);
  }

  @Test
  void anAccessDocumentThatDoesNotHoldIsRefused() {
    Instant now = gateway.home.clock.instant();
    refused("acme", TestHome.ORIGIN, now.minusSeconds(100), now, "alice", "GWY-021");
    refused("acme", TestHome.ORIGIN, now.plusSeconds(10), now.plusSeconds(20), "alice", "GWY-021");
    refused("acme", TestHome.ORIGIN, now, now.plusSeconds(301), "alice", "GWY-021");
    refused("acme", "another/log", now, now.plusSeconds(60), "alice", "GWY-021");
    refused("other", TestHome.ORIGIN, now, now.plusSeconds(60), "alice", "GWY-021");
    refused("acme", TestHome.ORIGIN, now, now.plusSeconds(60), "stranger", "CAN-052");
    refused("acme", TestHome.ORIGIN, now, now.plusSeconds(60), "guardian", "CAN-053");
    assertThat(withAccess("/v1/runs", "Writ %%%").string("code")).isEqualTo("GWY-021");
    assertThat(withAccess("/v1/runs", "Writ e30").string("code")).startsWith("CAN-0");
    assertThat(
            withAccess("/v1/runs", AccessDocument.header(gateway.home.ask("alice").sign()))
                .string("code"))
        .isEqualTo("CAN-061");
    gateway.home.revoke("alice");
    assertThat(withAccess("/v1/runs", gateway.access("alice")).string("code")).isEqualTo("CAN-055");
  }

  private void refused(
      String tenant, String audience, Instant from, Instant to, String key, String code) {
    String header =
        AccessDocument.header(
            Envelope.sign(
                AccessDocument.TYPE,
                new AccessDocument(tenant, audience, from, to).toJson(),
                TestKeys.key(key)));
    Reply reply = withAccess("/v1/runs", header);
    assertThat(reply.string("code")).isEqualTo(code);
    assertThat(reply.status()).isIn(401, 403);
  }

  private Reply withAccess(String path, String header) {
    return gateway.send(HttpRequest.newBuilder(gateway.uri(path)).header("Authorization", header));
  }
}
