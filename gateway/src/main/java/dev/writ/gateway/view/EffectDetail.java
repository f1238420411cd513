package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.EventKind;
import dev.writ.gateway.view.EffectPage.Shown;
import dev.writ.gateway.view.EffectStory.Placed;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.NoteKey;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * The whole story of one request, with all that somebody needs who checks it without trusting
 * whoever hands it out: documents as they were signed, the events, their places in the log, proofs
 * under a checkpoint, and the keys.
 */
public final class EffectDetail {
  /** Larger observations are named by their digest. */
  private static final int OBSERVATIONS_BYTES_MAX = 1 << 20;

  private final LedgerView ledger;
  private final Surround surround;
  private final Sight sight;
  private final Shown shown;
  private final EffectStory story;
  private final Request request;
  private final Optional<Receipt> receipt;

  EffectDetail(LedgerView ledger, Surround surround, Sight sight, Shown shown, EffectStory story) {
    this.ledger = ledger;
    this.surround = surround;
    this.sight = sight;
    this.shown = shown;
    this.story = story;
    this.request = Request.read(document(shown.row().request()).document());
    this.receipt = story.receipt().map(id -> Receipt.read(document(id).document()));
  }

  private Envelope document(Digest id) {
    return ledger.document(id).orElseThrow();
  }

  /** Its row. */
  public EffectView row() {
    return shown.row();
  }

  /** Whether it shows what the effect was given and what was observed. */
  public boolean contents() {
    return shown.contents();
  }

  public JsonValue.Obj toJson() {
    ObjectBuilder json =
        JsonValue.object()
            .put("effect", shown.toJson())
            .put("withheld", !shown.contents())
            .put("policy_digest", decision().policy())
            .putList("events", story.events(), EffectDetail::event)
            .put("events_complete", story.isWhole());
    if (shown.contents()) {
      documents(json);
      json.put("content", content())
          .putIfPresent("observations", receipt.flatMap(Receipt::observations), this::observations)
          .putIfPresent("explanation", surround.explained(request()), this::explanation)
          .putIfPresent("guidance", surround.guidance(request()), Guidance::toJson);
    }
    proofs(json);
    return json.put("chain", chain()).build();
  }

  private Digest request() {
    return shown.row().request();
  }

  private Decision decision() {
    return Decision.read(document(shown.row().decision()).document());
  }

  private static JsonValue event(Placed placed) {
    return JsonValue.object()
        .put("event", placed.event().toJson())
        .put("index", placed.index())
        .build();
  }

  private void documents(ObjectBuilder json) {
    json.put("request", request(document(request())))
        .put("decision", judged(document(shown.row().decision())))
        .putIfPresent("intent", last(EventKind.INTENT_ISSUED), this::judged)
        .putIfPresent("refusal", refusal(), this::judged)
        .putIfPresent("receipt", story.receipt().map(this::document), this::judged)
        .putList("approvals", story.of(EventKind.APPROVAL_RECEIVED), this::judged)
        .putList("resolutions", story.of(EventKind.DOUBT_RESOLVED), this::judged)
        .putList("earlier", earlier(), this::judged);
  }

  /** A refusal stands only until the request is judged again. */
  private Optional<Envelope> refusal() {
    return shown.row().state() == EffectView.State.REFUSED
        ? last(EventKind.EFFECT_REFUSED)
        : Optional.empty();
  }

  private Optional<Envelope> last(String kind) {
    List<Envelope> all = story.of(kind);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
  }

  /** Decisions, intents and refusals that later ones took the place of. */
  private List<Envelope> earlier() {
    TreeSet<Digest> named = new TreeSet<>();
    named.add(shown.row().decision());
    last(EventKind.INTENT_ISSUED).map(Envelope::id).ifPresent(named::add);
    refusal().map(Envelope::id).ifPresent(named::add);
    return Stream.of(EventKind.DECISION_MADE, EventKind.INTENT_ISSUED, EventKind.EFFECT_REFUSED)
        .flatMap(kind -> story.of(kind).stream())
        .filter(envelope -> !named.contains(envelope.id()))
        .toList();
  }

  /** With its signature a request could be submitted, until it has an outcome. */
  private JsonValue request(Envelope envelope) {
    boolean over =
        switch (shown.row().state()) {
          case DONE, DENIED, IN_DOUBT, EXECUTING -> true;
          case JUDGED, WAITING, REFUSED -> false;
        };
    return over || sight.signedRequests(shown.row().scope()) ? judged(envelope) : payload(envelope);
  }

  /** An approver without other rights gets what waits without signatures. */
  private JsonValue judged(Envelope envelope) {
    return sight.rows(shown.row().scope()) && sight.contents(shown.row().scope())
        ? JsonValue.object().put("envelope", envelope.toJson()).build()
        : payload(envelope);
  }

  private static JsonValue payload(Envelope envelope) {
    return JsonValue.object().put("payload", envelope.document()).build();
  }

  private JsonValue.Obj content() {
    Effect effect = request.effect();
    return JsonValue.object()
        .put("params", effect.params())
        .put("inputs", effect.toJson().get("inputs"))
        .put("resources", effect.resources().toJson())
        .put("sandbox", effect.sandbox())
        .putIfPresent("output", receipt.flatMap(Receipt::output), this::content)
        .putIfPresent("raw_output", receipt.flatMap(Receipt::rawOutput), this::content)
        .putList(
            "artifacts",
            receipt.map(Receipt::artifacts).orElse(List.of()),
            artifact ->
                content(artifact.content(), JsonValue.object().put("name", artifact.name())))
        .build();
  }

  private JsonValue content(Content content) {
    return content(content, JsonValue.object());
  }

  private JsonValue content(Content content, ObjectBuilder json) {
    boolean kept =
        receipt.filter(Receipt::retained).isPresent() && ledger.hasBlob(content.digest());
    return json.put("digest", content.digest())
        .put("size", content.size())
        .put("media_type", content.mediaType())
        .put("kept", kept)
        .build();
  }

  private JsonValue observations(Digest digest) {
    ObjectBuilder json = JsonValue.object().put("digest", digest);
    boolean kept = ledger.hasBlob(digest);
    json.put("kept", kept);
    if (kept && ledger.blobSize(digest) <= OBSERVATIONS_BYTES_MAX) {
      try {
        json.put(
            "json",
            Jcs.parseCanonical(ledger.blob(digest, OBSERVATIONS_BYTES_MAX), Limits.DEFAULT));
      } catch (WritException e) {
        json.put("code", e.code().code()); // damaged, or collected just now
      }
    }
    return json.build();
  }

  private JsonValue explanation(PolicyExplain explain) {
    ObjectBuilder json = JsonValue.object();
    explain
        .toJson()
        .members()
        .forEach((name, value) -> {
          if (!name.equals("decision")) {
            json.put(name, value);
          }
        });
    return json.put("checks", explain.decision().toJson().get("checks")).build();
  }

  /** Proofs that its events are in the log, under a checkpoint that covers the last of them. */
  private void proofs(ObjectBuilder json) {
    long size = story.events().getLast().index() + 1;
    Optional<Checkpoint> checkpoint = surround.covering(size);
    json.putIfPresent(
            "checkpoint",
            checkpoint,
            c -> JsonValue.of(new String(c.toBytes(), StandardCharsets.UTF_8)))
        .putList(
            "proofs",
            checkpoint.isPresent() ? story.events() : List.<Placed>of(),
            placed ->
                JsonValue.object()
                    .put("index", placed.index())
                    .put(
                        "hashes",
                        ledger.inclusionProof(placed.index(), checkpoint.get().size()).toJson())
                    .build())
        .putIfPresent(
            "log_key",
            checkpoint.flatMap(this::logKey),
            key -> JsonValue.of(new NoteKey(ledger.origin(), key.key()).toString()))
        .putList("keys", keys(checkpoint), TrustedKey::toJson)
        .putIfPresent(
            "required_algorithms",
            Optional.ofNullable(surround.trust().toJson().get("writ_required_algorithms")),
            value -> value);
  }

  /** The key of the installation's that has signed a checkpoint. */
  private Optional<TrustedKey> logKey(Checkpoint checkpoint) {
    return surround.trust().keys().values().stream()
        .filter(key -> key.role() == KeyRole.LOG && hasSigned(key, checkpoint))
        .findFirst();
  }

  private boolean hasSigned(TrustedKey key, Checkpoint checkpoint) {
    try {
      checkpoint.verify(ledger.origin(), key.key());
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  /** Those that have signed what is handed out. */
  private List<TrustedKey> keys(Optional<Checkpoint> checkpoint) {
    Trust trust = surround.trust();
    Stream<Envelope> signed =
        shown.contents()
            ? Stream.concat(
                story.events().stream().flatMap(placed -> placed.document().stream()),
                request.delegations().stream())
            : Stream.empty();
    return Stream.concat(
            signed
                .flatMap(envelope -> envelope.signatures().stream())
                .flatMap(signature -> trust.key(signature.kid()).stream()),
            checkpoint.flatMap(this::logKey).stream())
        .distinct()
        .toList();
  }

  private JsonValue.Obj chain() {
    return JsonValue.object()
        .putIfPresent(
            "previous",
            receipt.map(Receipt::prev).filter(this::isReceipt),
            id -> JsonValue.of(id.toString()))
        .putIfPresent("next", story.nextReceipt(), id -> JsonValue.of(id.toString()))
        .build();
  }

  /** The first receipt of a run names the run's opening event. */
  private boolean isReceipt(Digest id) {
    return ledger.document(id).filter(e -> e.payloadType().equals(Receipt.TYPE)).isPresent();
  }
}
