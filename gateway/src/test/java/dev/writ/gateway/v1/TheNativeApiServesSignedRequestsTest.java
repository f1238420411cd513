package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TheNativeApiServesSignedRequestsTest {
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

  @Test
  void anAllowedEffectIsAnsweredWithReceiptAndOutputAndARepeatWithTheSame() {
    Envelope request = gateway.home.ask("alice").params("{\"n\":42}").sign();
    Reply first = gateway.submit(request);
    assertThat(first.status()).isEqualTo(200);
    assertThat(first.string("request_id")).isEqualTo(request.id().toString());
    assertThat(first.string("verdict")).isEqualTo("ALLOW");
    assertThat(first.json().get("repeated")).isEqualTo(JsonValue.FALSE);
    Envelope receipt = Envelope.parse(Jcs.write(first.json().get("receipt")));
    gateway
        .home
        .kernel()
        .system()
        .trust()
        .verify(receipt, Receipt.TYPE, gateway.home.clock.instant());
    JsonValue.Obj output = (JsonValue.Obj) first.json().get("output");
    assertThat(Jcs.digest(output.get("json")))
        .isEqualTo(Receipt.read(receipt.document()).output().orElseThrow().digest());
    assertThat(first.header("Writ-Receipt")).isEqualTo(receipt.id().toString());

    Reply again = gateway.submit(request);
    assertThat(again.json().get("repeated")).isEqualTo(JsonValue.TRUE);
    assertThat(again.json().get("receipt")).isEqualTo(first.json().get("receipt"));
    assertThat(gateway.home.driver.runsWith(object("{\"n\":42}"))).isEqualTo(1);
  }

  @Test
  void aDenialIs403WithTheSignedDecisionAndAnEscalationIs202() {
    Reply denied =
        gateway.submit(gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign());
    assertThat(denied.status()).isEqualTo(403);
    assertThat(denied.string("verdict")).isEqualTo("DENY");
    assertThat(denied.json().members()).containsKey("decision").doesNotContainKey("intent");

    Reply escalated = gateway.submit(gateway.home.ask("alice").tool("pay").sign());
    assertThat(escalated.status()).isEqualTo(202);
    assertThat(escalated.string("verdict")).isEqualTo("ESCALATE");
    assertThat(gateway.home.driver.runs()).isEmpty();
  }

  @Test
  void anApproverSeesWhatWaitsApprovesItAndTheHolderGetsItServed() {
    Envelope request = gateway.home.ask("alice").tool("pay").sign();
    gateway.submit(request);
    Reply waiting = gateway.get("rita", "/v1/approvals");
    assertThat(waiting.text()).contains(request.id().toString());
    assertThat(gateway.get("bob", "/v1/approvals").text()).isEqualTo("{\"waiting\":[]}");
    assertThat(gateway.get("eve", "/v1/approvals").text()).isEqualTo("{\"waiting\":[]}");
    Reply seen = gateway.get("rita", "/v1/requests/" + request.id());
    assertThat(seen.response().body()).isEqualTo(request.payload());

    Envelope approval = gateway.home.approval(request, "rita", Approval.Verdict.APPROVE);
    Reply approved = gateway.post("/v1/approvals", approval.toBytes());
    assertThat(approved.status()).isEqualTo(200);
    assertThat(approved.string("verdict")).isEqualTo("ALLOW");
    assertThat(gateway.home.driver.runs()).isEmpty();
    assertThat(gateway.get("rita", "/v1/requests/" + request.id()).status()).isEqualTo(404);

    Reply served = gateway.submit(request);
    assertThat(served.status()).isEqualTo(200);
    assertThat(gateway.home.driver.runs()).hasSize(1);
  }

  @Test
  void twoStepsDecideThenExecuteGiveTheSameAsOne() {
    Envelope request = gateway.home.ask("alice").sign();
    Reply decided = gateway.post("/v1/decisions", request.toBytes());
    assertThat(decided.status()).isEqualTo(200);
    assertThat(gateway.home.driver.runs()).isEmpty();
    JsonValue intent = decided.json().get("intent");
    byte[] body =
        Jcs.write(
            JsonValue.object()
                .put("decision", decided.json().get("decision"))
                .put("intent", intent)
                .put("order", gateway.home.order(TestGateway.idOf(intent), "alice").toJson())
                .build());
    Reply executed = gateway.post("/v1/executions", body);
    assertThat(executed.status()).isEqualTo(200);
    assertThat(executed.string("request_id")).isEqualTo(request.id().toString());
    byte[] stolen =
        Jcs.write(
            JsonValue.object()
                .put("decision", decided.json().get("decision"))
                .put("intent", intent)
                .put("order", gateway.home.order(TestGateway.idOf(intent), "bob").toJson())
                .build());
    assertThat(gateway.post("/v1/executions", stolen).string("code")).isEqualTo("EXE-106");
  }

  @Test
  void evidenceComesBesideTheRequest() {
    Envelope evidence =
        Envelope.sign(
            "application/vnd.example.scan+json",
            JsonValue.object().put("clean", true).build(),
            TestKeys.key("ci"));
    Envelope request = gateway.home.ask("alice").evidence(List.of(evidence.id())).sign();
    byte[] body =
        Jcs.write(
            JsonValue.object()
                .put("request", request.toJson())
                .put("evidence", JsonValue.of(List.of(evidence.toJson())))
                .build());
    assertThat(gateway.post("/v1/effects", body).status()).isEqualTo(200);
    assertThat(gateway.home.document(evidence.id()).payloadType())
        .isEqualTo("application/vnd.example.scan+json");
  }

  @Test
  void theIdempotencyKeyHeaderMustBeTheSignedOne() {
    Envelope request = gateway.home.ask("alice").key("once").sign();
    HttpRequest.Builder post =
        HttpRequest.newBuilder(gateway.uri("/v1/effects"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(request.toBytes()));
    Reply other = gateway.send(post.copy().header("Idempotency-Key", "twice"));
    assertThat(other.status()).isEqualTo(422);
    assertThat(other.string("code")).isEqualTo("GWY-031");
    assertThat(gateway.home.driver.runs()).isEmpty();
    assertThat(gateway.send(post.copy().header("Idempotency-Key", "once")).status()).isEqualTo(200);
    Envelope unsigned = gateway.home.ask("alice").sign();
    assertThat(
            gateway
                .send(
                    HttpRequest.newBuilder(gateway.uri("/v1/effects"))
                        .header("Content-Type", "application/json")
                        .header("Idempotency-Key", "once")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(unsigned.toBytes())))
                .string("code"))
        .isEqualTo("GWY-031");
  }

  @Test
  void refusalsAreProblemsWithTheCataloguesCode() {
    Envelope request = gateway.home.ask("alice").signedBy("stranger").sign();
    Reply unknown = gateway.submit(request);
    assertThat(unknown.status()).isEqualTo(401);
    assertThat(unknown.header("Content-Type")).isEqualTo("application/problem+json");
    assertThat(unknown.string("code")).isEqualTo("CAN-052");
    assertThat(unknown.string("type")).isEqualTo("urn:writ:error:CAN-052");
    assertThat(unknown.string("trace_id")).matches("[0-9a-f]{32}");
    assertThat(unknown.header("WWW-Authenticate")).contains("Bearer");

    Reply foreign = gateway.submit(gateway.home.ask("alice").signedBy("bob").sign());
    assertThat(foreign.status()).isEqualTo(403);
    assertThat(foreign.string("code")).isEqualTo("GRD-003");

    Reply notJson = gateway.post("/v1/effects", "{".getBytes(StandardCharsets.UTF_8));
    assertThat(notJson.status()).isEqualTo(400);
    assertThat(notJson.string("code")).startsWith("CAN-0");

    Reply form =
        gateway.send(
            HttpRequest.newBuilder(gateway.uri("/v1/effects"))
                .header("Content-Type", "text/plain")
                .POST(HttpRequest.BodyPublishers.ofByteArray(request.toBytes())));
    assertThat(form.status()).isEqualTo(415);
    assertThat(form.string("code")).isEqualTo("GWY-019");
  }

  @Test
  void aCallersTraceIsInTheProblemAndAMalformedOneIsNot() {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    HttpRequest.Builder get = HttpRequest.newBuilder(gateway.uri("/v1/nothing")).GET();
    assertThat(
            gateway
                .send(get.copy().header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01"))
                .string("trace_id"))
        .isEqualTo(trace);
    assertThat(gateway.send(get.copy().header("traceparent", "00-xyz-1-01")).string("trace_id"))
        .matches("[0-9a-f]{32}")
        .isNotEqualTo(trace);
  }

  @Test
  void aRunWhoseNameIsAStepInAPathIsClosedByItsQuery() {
    gateway.submit(gateway.home.ask("alice").run("..").sign());
    byte[] close = gateway.home.close("acme", "..", "alice").toBytes();
    assertThat(gateway.post("/v1/runs//close?run=.", close).string("code")).isEqualTo("GWY-018");
    Reply closed = gateway.post("/v1/runs//close?run=..", close);
    assertThat(closed.status()).as(closed.text()).isEqualTo(200);
  }

  @Test
  void aRunIsReadWithItsEventsClosedAndTakenAwayAsABundle() {
    Envelope request = gateway.home.ask("alice").sign();
    gateway.submit(request);
    Reply run = gateway.get("alice", "/v1/runs/run-1");
    assertThat(run.json().get("receipts")).isEqualTo(JsonValue.of(1));
    assertThat(gateway.get("alice", "/v1/runs").text()).contains("\"run-1\"");
    assertThat(gateway.get("alice", "/v1/runs?after=run-1").text()).isEqualTo("{\"runs\":[]}");
    assertThat(gateway.get("bob", "/v1/runs").text()).isEqualTo("{\"runs\":[]}");
    Reply events = gateway.get("alice", "/v1/runs/run-1/events?from=1");
    assertThat(((JsonValue.Arr) events.json().get("events")).items())
        .hasSize(gateway.home.kinds("acme", "run-1").size() - 1);

    byte[] close = gateway.home.close("acme", "run-1", "alice").toBytes();
    assertThat(gateway.post("/v1/runs/other/close", close).string("code")).isEqualTo("GWY-018");
    Reply closed = gateway.post("/v1/runs/run-1/close", close);
    assertThat(closed.status()).isEqualTo(200);
    assertThat(closed.text()).startsWith("writ.example/log\n");
    Reply bundle = gateway.get("alice", "/v1/runs/run-1/bundle");
    assertThat(bundle.status()).isEqualTo(200);
    assertThat(gateway.get("alice", "/v1/runs/run-1/bundle").response().body())
        .isEqualTo(bundle.response().body());
    Reply live =
        gateway.send(
            gateway.as("alice", "/v1/runs/run-1/events").header("Accept", "text/event-stream"));
    assertThat(live.header("Content-Type")).isEqualTo("text/event-stream");
    assertThat(live.text()).contains("event: run.opened\n").contains("event: run.closed\n");
    Reply rest =
        gateway.send(
            gateway
                .as("alice", "/v1/runs/run-1/events")
                .header("Accept", "text/event-stream")
                .header("Last-Event-ID", "2"));
    assertThat(rest.text()).startsWith("id: 3\n");

    // A browser comes again by itself when a stream ends: it is told the end again, and not left.
    long last = gateway.home.kinds("acme", "run-1").size() - 1;
    assertThat(resumed(last).text())
        .startsWith("id: " + last + "\nevent: run.closed\n")
        .containsOnlyOnce("id: ");
    assertThat(resumed(last + 1).string("code")).isEqualTo("GWY-018");
  }

  /** A typing error must not select everything. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/approvals?limits=1", "/v1/runs?foo=1", "/v1/runs/run-1/events?form=3",
        "/v1/checkpoints?limit=1&x", "/v1/keys?a=b", "/v1/openapi.json?x=1"
      })
  void aParameterThatIsNotKnownIsRefused(String address) {
    Reply reply = gateway.get("alice", address);
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(reply.string("code")).isEqualTo("GWY-018");
  }

  private Reply resumed(long last) {
    return gateway.send(
        gateway
            .as("alice", "/v1/runs/run-1/events")
            .header("Accept", "text/event-stream")
            .header("Last-Event-ID", Long.toString(last)));
  }

  @Test
  void proofsLeadFromAReceiptToACheckpointAndFromOneCheckpointToTheNext() {
    String receipt = gateway.submit(gateway.home.ask("alice").sign()).string("receipt_id");
    Reply proof = gateway.get("alice", "/v1/receipts/" + receipt + "/proof");
    assertThat(proof.status()).isEqualTo(200);
    assertThat(proof.string("checkpoint")).startsWith("writ.example/log\n");
    long index = (long) ((JsonValue.Num) proof.json().get("index")).value();
    var event = Event.parse(Jcs.write(proof.json().get("event")));
    var checkpoint =
        Checkpoint.verify(
            proof.string("checkpoint").getBytes(StandardCharsets.UTF_8),
            "writ.example/log",
            TestKeys.key("log").verifyingKey());
    var hashes =
        ((JsonValue.Arr) proof.json().get("hashes"))
            .items().stream().map(h -> Digest.parse(((JsonValue.Str) h).value())).toList();
    Merkle.verifyInclusion(
        Merkle.leafHash(event.toBytes()),
        index,
        checkpoint.size(),
        new MerkleProof(hashes),
        checkpoint.root());
    assertThat(gateway.get("alice", "/v1/checkpoints/latest").status()).isEqualTo(200);
    assertThat(gateway.get("alice", "/v1/checkpoints/" + checkpoint.size()).status())
        .isEqualTo(200);
    assertThat(gateway.get("alice", "/v1/checkpoints/999999").status()).isEqualTo(404);
    gateway.home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    JsonValue.Obj spread = gateway.get("alice", "/v1/checkpoints?limit=3").json();
    assertThat(((JsonValue.Arr) spread.get("checkpoints")).items())
        .hasSizeBetween(1, 3)
        .contains(JsonValue.of(gateway.get("alice", "/v1/checkpoints/latest").text()));
    assertThat(((JsonValue.Arr) spread.get("log_keys")).items()).isNotEmpty();
    assertThat(gateway.get("alice", "/v1/checkpoints?limit=101").string("code"))
        .isEqualTo("GWY-018");
    assertThat(gateway.get("alice", "/v1/proofs/consistency?from=1&to=2").status()).isEqualTo(200);
    assertThat(gateway.get("alice", "/v1/proofs/consistency?from=9&to=99999").string("code"))
        .isEqualTo("LED-040");
    assertThat(gateway.get("alice", "/v1/proofs/consistency?from=x&to=2").string("code"))
        .isEqualTo("GWY-018");
    assertThat(gateway.get("alice", "/v1/keys").text()).contains("\"writ_role\":\"executor\"");
  }

  @Test
  void blobsArePutUnderTheirDigestAndReadThroughTheDocumentThatNamesThem() {
    byte[] content = "0123456789".getBytes(StandardCharsets.UTF_8);
    Digest digest = Digest.sha256(content);
    Reply wrong =
        gateway.send(
            gateway
                .as("alice", "/v1/blobs/" + Digest.sha256(new byte[1]))
                .PUT(HttpRequest.BodyPublishers.ofByteArray(content)));
    assertThat(wrong.status()).isEqualTo(422);
    assertThat(wrong.string("code")).isEqualTo("GWY-032");
    assertThat(gateway.home.ledger().hasBlob(digest)).isFalse();
    Reply put =
        gateway.send(
            gateway
                .as("alice", "/v1/blobs/" + digest)
                .PUT(HttpRequest.BodyPublishers.ofByteArray(content)));
    assertThat(put.status()).isEqualTo(201);

    Envelope request = gateway.home.ask("alice").input("text", digest, 10).sign();
    assertThat(gateway.submit(request).status()).isEqualTo(200);
    String address = "/v1/blobs/" + digest + "?of=" + request.id();
    Reply whole = gateway.get("alice", address);
    assertThat(whole.text()).isEqualTo("0123456789");
    assertThat(whole.header("Content-Type")).isEqualTo("application/octet-stream");
    assertThat(whole.header("Writ-Media-Type")).isEqualTo("text/plain");
    Reply part = gateway.send(gateway.as("alice", address).header("Range", "bytes=2-4"));
    assertThat(part.status()).isEqualTo(206);
    assertThat(part.text()).isEqualTo("234");
    assertThat(part.header("Content-Range")).isEqualTo("bytes 2-4/10");
    assertThat(gateway.send(gateway.as("alice", address).header("Range", "bytes=-3")).text())
        .isEqualTo("789");
    Reply outside = gateway.send(gateway.as("alice", address).header("Range", "bytes=10-"));
    assertThat(outside.status()).isEqualTo(416);
    assertThat(outside.header("Content-Range")).isEqualTo("bytes */10");
    assertThat(outside.string("code")).isEqualTo("GWY-033");
    assertThat(gateway.get("bob", address).status()).isEqualTo(404);
    assertThat(gateway.get("eve", address).status()).isEqualTo(404);
    assertThat(gateway.get("alice", "/v1/blobs/" + digest).status()).isEqualTo(200); // she put it
    assertThat(gateway.get("bob", "/v1/blobs/" + digest).status()).isEqualTo(404);
    assertThat(gateway.get("deputy", "/v1/blobs/" + digest).status()).isEqualTo(200);
  }

  private Reply put(String who, String content) {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    return gateway.send(
        gateway
            .as(who, "/v1/blobs/" + Digest.sha256(bytes))
            .PUT(HttpRequest.BodyPublishers.ofByteArray(bytes)));
  }

  @Test
  void whoMayPutAndHowMuchPolicySays() {
    Reply approver = put("rita", "an approver has no role that has a tool");
    assertThat(approver.status()).isEqualTo(403);
    assertThat(approver.string("code")).isEqualTo("GWY-085");
    gateway.home.activate(
        TestPolicy.YAML + "storage: { bytes_max: 8192, unnamed_s: 60, put_by: [stand-in] }\n");
    assertThat(put("alice", "a worker").string("code")).isEqualTo("GWY-085");
    assertThat(put("deputy", "one").status()).isEqualTo(201);
    assertThat(put("deputy", "two").status()).isEqualTo(201);
    Reply tooMuch = put("deputy", "three");
    assertThat(tooMuch.status()).isEqualTo(507);
    assertThat(tooMuch.string("code")).isEqualTo("LED-080");
    assertThat(
            gateway.home.ledger().hasBlob(Digest.sha256("three".getBytes(StandardCharsets.UTF_8))))
        .isFalse();
    assertThat(put("deputy", "two").status()).as("its answer may have been lost").isEqualTo(201);
    byte[] other = "none of these".getBytes(StandardCharsets.UTF_8);
    Reply another =
        gateway.send(
            gateway
                .as("deputy", "/v1/blobs/" + Digest.sha256("two".getBytes(StandardCharsets.UTF_8)))
                .PUT(HttpRequest.BodyPublishers.ofByteArray(other)));
    assertThat(another.string("code")).as("under its name").isEqualTo("GWY-032");
    assertThat(gateway.home.ledger().hasBlob(Digest.sha256(other))).isFalse();
    assertThat(gateway.get("alice", "/v1/storage").text())
        .isEqualTo("{\"blobs\":2,\"bytes\":8192,\"bytes_max\":8192,\"unnamed_s\":60}");
    assertThat(gateway.get("eve", "/v1/storage").text()).contains("\"blobs\":0");
  }

  @Test
  void anOutputIsReadAtItsReceipt() {
    Reply served = gateway.submit(gateway.home.ask("alice").operation("text").sign());
    String receipt = served.string("receipt_id");
    Reply output = gateway.get("alice", "/v1/receipts/" + receipt + "/output");
    assertThat(output.status()).isEqualTo(200);
    assertThat(output.header("Writ-Media-Type")).isEqualTo("text/plain");
    String text =
        ((JsonValue.Str) ((JsonValue.Obj) served.json().get("output")).get("text")).value();
    assertThat(output.text()).isEqualTo(text);
  }

  @Test
  void theOutcomeOfARequestIsFetchedLater() {
    Envelope request = gateway.home.ask("alice").tool("pay").sign();
    gateway.submit(request);
    Reply pending = gateway.get("alice", "/v1/requests/" + request.id() + "/outcome");
    assertThat(pending.string("state")).isEqualTo("pending");
    gateway.home.approve(request, "rita");
    Reply served = gateway.submit(request);
    Reply later = gateway.get("alice", "/v1/requests/" + request.id() + "/outcome");
    assertThat(later.json().get("receipt")).isEqualTo(served.json().get("receipt"));
  }

  private static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }
}
