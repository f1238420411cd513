package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What {@code GET /v1/effects/{id}} hands out is enough to check it without trusting the server:
 * with the keys that it names alone (spec/gateway.md, Effects).
 */
class AnEffectTellsItsWholeStoryTest {
  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    gateway.home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
  }

  @AfterEach
  void stop() {
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  private JsonValue.Obj story(String who, Digest request) {
    Reply reply = gateway.get(who, "/v1/effects/" + request);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  private static JsonValue.Obj member(JsonValue.Obj from, String name) {
    return (JsonValue.Obj) from.get(name);
  }

  private static List<JsonValue> list(JsonValue.Obj from, String name) {
    return ((JsonValue.Arr) from.get(name)).items();
  }

  private static Envelope envelope(JsonValue shown) {
    return Envelope.parse(Jcs.write(((JsonValue.Obj) shown).get("envelope")));
  }

  /** Only from the keys in the answer, at the time of the event that has the document. */
  private static void signed(JsonValue.Obj story, String name, String type) {
    Envelope document = envelope(story.get(name));
    Trust trust = trust(story);
    Event event =
        events(story).stream()
            .filter(e -> e.body().equals(document.id()))
            .findFirst()
            .orElseThrow();
    assertThat(trust.verify(document, type, event.at())).as(name).isNotEmpty();
  }

  private static Trust trust(JsonValue.Obj story) {
    List<TrustedKey> keys = new ArrayList<>();
    list(story, "keys").forEach(key -> keys.add(TrustedKey.fromJson("key", key)));
    return Trust.of(keys);
  }

  private static List<Event> events(JsonValue.Obj story) {
    return list(story, "events").stream()
        .map(item -> Event.parse(Jcs.write(((JsonValue.Obj) item).get("event"))))
        .toList();
  }

  private static List<String> kinds(JsonValue.Obj story) {
    return events(story).stream().map(Event::kind).toList();
  }

  /** Every event is under the root of the checkpoint, which the log key has signed. */
  private static void proven(JsonValue.Obj story) {
    Checkpoint checkpoint =
        Checkpoint.parse(
            ((JsonValue.Str) story.get("checkpoint")).value().getBytes(StandardCharsets.UTF_8));
    checkpoint.verify(
        TestHome.ORIGIN, NoteKey.parse(((JsonValue.Str) story.get("log_key")).value()));
    List<JsonValue> proofs = list(story, "proofs");
    List<Event> events = events(story);
    assertThat(proofs).hasSameSizeAs(events).isNotEmpty();
    for (int i = 0; i < events.size(); i++) {
      Fields proof = Fields.of("proof", proofs.get(i));
      long index = proof.count("index");
      assertThat(((JsonValue.Obj) list(story, "events").get(i)).get("index"))
          .isEqualTo(JsonValue.of(index));
      Merkle.verifyInclusion(
          Merkle.leafHash(events.get(i).toBytes()),
          index,
          checkpoint.size(),
          MerkleProof.read(proof, "hashes"),
          checkpoint.root());
    }
  }

  @Test
  void what_was_done_is_checked_from_the_answer_alone() {
    Envelope before = gateway.home.ask("alice").sign();
    gateway.submit(before);
    Envelope request = gateway.home.ask("alice").params("{\"n\":42}").sign();
    Reply served = gateway.submit(request);
    gateway.submit(gateway.home.ask("alice").sign());

    JsonValue.Obj story = story("alice", request.id());
    assertThat(kinds(story))
        .containsExactly(
            "request.received",
            "decision.made",
            "intent.issued",
            "effect.dispatched",
            "effect.finished",
            "receipt.signed");
    proven(story);
    signed(story, "request", Request.TYPE);
    signed(story, "decision", Decision.TYPE);
    signed(story, "intent", Intent.TYPE);
    signed(story, "receipt", Receipt.TYPE);
    assertThat(envelope(story.get("receipt")).toBytes())
        .isEqualTo(Jcs.write(served.json().get("receipt")));
    assertThat(story.get("withheld")).isEqualTo(JsonValue.FALSE);
    assertThat(story.get("events_complete")).isEqualTo(JsonValue.TRUE);
    assertThat(member(member(story, "content"), "params").get("n")).isEqualTo(JsonValue.of(42));
    JsonValue.Obj output = member(member(story, "content"), "output");
    assertThat(output.get("kept")).isEqualTo(JsonValue.TRUE);
    assertThat(output.get("digest")).isEqualTo(member(served.json(), "output").get("digest"));
    assertThat(member(story, "observations").members()).containsKey("json");
    assertThat(member(story, "chain").members()).containsOnlyKeys("previous", "next");
    assertThat(story.members()).doesNotContainKeys("refusal", "guidance");
    assertThat(member(story, "explanation").get("requirement")).isEqualTo(JsonValue.of(1));
    assertThat(member(member(story, "explanation"), "tree").get("truth"))
        .isEqualTo(JsonValue.of("holds"));
  }

  @Test
  void another_agents_effects_in_between_are_not_taken_for_its_own() {
    Envelope waits = gateway.home.ask("alice").tool("pay").sign();
    gateway.submit(waits);
    Envelope other = gateway.home.ask("alice").tool("pay").sign();
    gateway.submit(other);
    gateway.submit(gateway.home.ask("alice").sign());
    gateway.home.approve(other, "roy");
    gateway.home.approve(waits, "rita");
    gateway.submit(other);
    gateway.submit(waits);
    JsonValue.Obj story = story("alice", waits.id());
    assertThat(kinds(story))
        .containsExactly(
            "request.received",
            "decision.made",
            "approval.received",
            "decision.made",
            "intent.issued",
            "effect.dispatched",
            "effect.finished",
            "receipt.signed");
    proven(story);
    Envelope approval = envelope(list(story, "approvals").getFirst());
    assertThat(Approval.read(approval.document()).approver()).isEqualTo("rita");
    assertThat(list(story, "earlier")).hasSize(1);
    assertThat(Decision.read(envelope(list(story, "earlier").getFirst()).document()).code())
        .contains("GRD-104");
    assertThat(member(story, "chain").members()).containsOnlyKeys("previous");
  }

  @Test
  void a_denial_and_a_refusal_say_why() {
    Envelope denied = gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign();
    gateway.submit(denied);
    JsonValue.Obj story = story("alice", denied.id());
    assertThat(kinds(story)).containsExactly("request.received", "decision.made");
    proven(story);
    assertThat(member(story, "guidance").get("code")).isEqualTo(JsonValue.of("GRD-102"));
    assertThat(new String(Jcs.write(story.get("explanation")), StandardCharsets.UTF_8))
        .contains("!has(params.forbidden)", "\"truth\":\"fails\"", "not_reached");

    gateway.home.driver.refusesToPrepare(new IllegalStateException("not ready"));
    Envelope refused = gateway.home.ask("alice").tool("mail").sign();
    gateway.submit(refused);
    gateway.home.driver.refusesToPrepare(null);
    JsonValue.Obj second = story("alice", refused.id());
    assertThat(kinds(second))
        .containsExactly("request.received", "decision.made", "intent.issued", "effect.refused");
    assertThat(Refusal.read(envelope(second.get("refusal")).document()).code())
        .isEqualTo("EXE-308");

    gateway.submit(refused); // judged again, and done
    JsonValue.Obj third = story("alice", refused.id());
    assertThat(kinds(third)).hasSize(9).endsWith("receipt.signed");
    assertThat(list(third, "earlier")).hasSize(3);
    assertThat(third.members()).doesNotContainKey("refusal");
    proven(third);
  }

  /** The revocation does not hide what the key signed before, and the answer says that it is. */
  @Test
  void the_key_of_that_time_comes_along_with_its_end() {
    Envelope request = gateway.home.ask("alice").sign();
    gateway.submit(request);
    gateway.home.revoke("alice");
    JsonValue.Obj story = story("deputy", request.id());
    assertThat(new String(Jcs.write(story.get("keys")), StandardCharsets.UTF_8))
        .contains("writ_revoked_at");
    assertThat(story.members()).containsKey("explanation");
    proven(story);
  }

  @Test
  void a_dropped_output_is_named_and_said_to_be_gone() {
    Envelope request = gateway.home.ask("alice").dropOutput().sign();
    gateway.submit(request);
    JsonValue.Obj output = member(member(story("alice", request.id()), "content"), "output");
    assertThat(output.get("kept")).isEqualTo(JsonValue.FALSE);
    assertThat(output.members()).containsKeys("digest", "size", "media_type");
  }
}
