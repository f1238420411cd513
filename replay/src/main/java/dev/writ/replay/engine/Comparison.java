package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.Divergence.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Compares the documents and events of a replay with the recorded events of one step. It is called
 * when a document is signed or an event is placed, before anything is written, so an attempt at a
 * step that diverges has no effect.
 *
 * <p>A document with the recorded payload gets the recorded envelope. A document with another
 * payload is a divergence; the replay then continues with the recorded document, so that a later
 * divergence has a cause of its own.
 */
final class Comparison implements DocumentSigner {
  /** The order of the events of one effect. */
  private static final List<String> ORDER =
      List.of(
          EventKind.RUN_OPENED,
          EventKind.REQUEST_RECEIVED,
          EventKind.APPROVAL_RECEIVED,
          EventKind.DECISION_MADE,
          EventKind.INTENT_ISSUED,
          EventKind.EFFECT_DISPATCHED,
          EventKind.EFFECT_FINISHED,
          EventKind.RECEIPT_SIGNED);

  private final DocumentSource documents;
  private final RunId run;
  private final Outputs outputs;
  private List<Placed> step = List.of();
  private int placed;
  private int committed;
  private boolean following;
  private final TreeMap<String, List<Field>> held = new TreeMap<>();
  private final TreeMap<String, Optional<String>> diffs = new TreeMap<>();
  private final List<Divergence> found = new ArrayList<>();
  private long lastMatch = -1;
  private long committedMatch = -1;
  private String runSeed = "none";
  private final TreeMap<String, Digest> bodies = new TreeMap<>();
  private Chain chain = Chain.EMPTY;
  private Chain committedChain = Chain.EMPTY;

  Comparison(DocumentSource documents, RunId run, Outputs outputs) {
    this.documents = documents;
    this.run = run;
    this.outputs = outputs;
  }

  /** Expects the events of the next step. */
  void step(List<Placed> events) {
    step = events;
    committed = 0;
    if (events.getFirst().kind().equals(EventKind.RUN_OPENED)) {
      runSeed = events.getFirst().event().prngSeed().orElse("none");
    }
    attempt(false);
  }

  /**
   * Begins an attempt at the rest of the step.
   *
   * @param follow whether to continue after a document or event that differs
   */
  void attempt(boolean follow) {
    placed = committed;
    following = follow;
    held.clear();
    diffs.clear();
    bodies.clear();
    chain = committedChain;
    lastMatch = committedMatch;
    found.clear();
  }

  /** Whether all events of the step were written. */
  boolean isDone() {
    return committed == step.size();
  }

  List<Divergence> found() {
    return List.copyOf(found);
  }

  Chain chain() {
    return chain;
  }

  // Documents.

  @Override
  public Envelope sign(String payloadType, JsonValue document) {
    return sign(payloadType, document, Function.identity(), Function.identity()).envelope();
  }

  @Override
  public <T> Signed<T> sign(
      String payloadType,
      T document,
      Function<T, ? extends JsonValue> write,
      Function<JsonValue, T> read) {
    String kind = kindOf(payloadType);
    Optional<Event> expected =
        step.subList(placed, step.size()).stream()
            .filter(p -> p.kind().equals(kind))
            .map(Placed::event)
            .findFirst();
    if (expected.isEmpty()) {
      throw departed(
          kind, FieldDifferences.of("/body", JsonValue.object().build(), write.apply(document)));
    }
    Envelope recorded =
        documents
            .document(expected.get().body())
            .orElseThrow(
                () -> new IllegalStateException("not in the recording: " + expected.get().body()));
    JsonValue said = recorded.document();
    JsonValue replayed = write.apply(document);
    Digest id = Jcs.digest(replayed);
    if (recorded.id().equals(id)) {
      return new Signed<>(document, recorded);
    } else if (Messages.asRecorded(replayed, said).equals(said)) {
      return new Signed<>(read.apply(said), recorded);
    }
    held.put(kind, FieldDifferences.of("/body", said, replayed));
    diffs.put(kind, outputs.diff(said, replayed));
    bodies.put(kind, id);
    return new Signed<>(read.apply(said), recorded);
  }

  private static String kindOf(String payloadType) {
    if (payloadType.equals(Decision.TYPE)) {
      return EventKind.DECISION_MADE;
    } else if (payloadType.equals(Intent.TYPE)) {
      return EventKind.INTENT_ISSUED;
    } else if (payloadType.equals(Receipt.TYPE)) {
      return EventKind.RECEIPT_SIGNED;
    } else if (payloadType.equals(Refusal.TYPE)) {
      return EventKind.EFFECT_REFUSED;
    } else if (payloadType.equals(RunClosing.TYPE)) {
      return EventKind.RUN_CLOSED;
    }
    throw new IllegalArgumentException(payloadType);
  }

  // Events.

  /** Compares the event that the replay would write, and returns the recorded one. */
  Event place(Event next) {
    if (placed == step.size() || !step.get(placed).kind().equals(next.kind())) {
      throw departed(next.kind(), List.of());
    }
    Event recorded = step.get(placed).event();
    List<Field> fields = held.get(next.kind());
    if (fields == null) { // else its differences follow from its document
      fields =
          recorded.equals(next)
              ? List.of()
              : FieldDifferences.of("", recorded.toJson(), next.toJson());
    }
    chain = chain.with(next, Optional.ofNullable(bodies.remove(next.kind())).orElse(next.body()));
    if (!fields.isEmpty()) {
      differs(
          divergence(
              Kind.MISMATCH,
              recorded.seq(),
              recorded.kind(),
              fields,
              diffs.getOrDefault(next.kind(), Optional.empty()),
              seed(Optional.of(recorded))));
    } else {
      lastMatch = recorded.seq();
    }
    placed++;
    return recorded;
  }

  private void differs(Divergence divergence) {
    chain = chain.apart();
    if (!following) {
      throw new ReplayMismatch(divergence, chain);
    }
    found.add(divergence);
  }

  /** Records a difference in an outcome, which shows in no event of the replay. */
  void outcome(Event receipt, List<Field> fields, Optional<String> diff) {
    chain = chain.apart();
    found.add(
        divergence(
            Kind.OUTCOME, receipt.seq(), receipt.kind(), fields, diff, seed(Optional.of(receipt))));
  }

  /** The events placed since the last call are committed. */
  void appended() {
    committed = placed;
    committedChain = chain;
    committedMatch = lastMatch;
  }

  /**
   * The mismatch of an event of another kind than recorded.
   *
   * @param body of the replayed event, if it has a document of its own
   */
  private ReplayMismatch departed(String kind, List<Field> body) {
    List<Placed> left = step.subList(placed, step.size());
    long seq = step.getFirst().event().seq() + placed;
    chain = chain.apart();
    List<Field> fields = new ArrayList<>();
    if (left.isEmpty() || precedes(kind, left.getFirst().kind())) {
      fields.add(new Field("/kind", "nothing", kind));
      fields.addAll(body);
      return new ReplayMismatch(
          divergence(Kind.EXTRA, seq, kind, fields, Optional.empty(), seed(Optional.empty())),
          chain);
    }
    Event recorded = left.getFirst().event();
    if (left.stream().anyMatch(p -> p.kind().equals(kind))) {
      return new ReplayMismatch(missing("before " + kind), chain);
    }
    fields.add(new Field("/kind", recorded.kind(), kind));
    fields.addAll(body);
    return new ReplayMismatch(
        divergence(
            Kind.MISMATCH,
            seq,
            recorded.kind(),
            fields,
            Optional.empty(),
            seed(Optional.of(recorded))),
        chain);
  }

  /** The divergence of a replay that writes an event after the step which was not recorded. */
  Divergence extra(String kind) {
    chain = chain.apart();
    return divergence(
        Kind.EXTRA,
        step.getLast().event().seq() + 1,
        kind,
        List.of(new Field("/kind", "nothing", kind)),
        Optional.empty(),
        seed(Optional.empty()));
  }

  private static boolean precedes(String one, String other) {
    int a = ORDER.indexOf(one);
    int b = ORDER.indexOf(other);
    return a >= 0 && b >= 0 && a < b;
  }

  /** The divergence of a replay that does not reach the next recorded event. */
  Divergence missing(String instead) {
    chain = chain.apart();
    Event recorded = step.get(placed).event();
    return divergence(
        Kind.MISSING,
        recorded.seq(),
        recorded.kind(),
        List.of(new Field("/kind", recorded.kind(), "nothing, " + instead)),
        Optional.empty(),
        seed(Optional.of(recorded)));
  }

  private Divergence divergence(
      Kind kind, long seq, String event, List<Field> fields, Optional<String> diff, String seed) {
    return new Divergence(kind, run, seq, event, fields, lastMatch, seed, diff);
  }

  /** The seed of an event's effect, or of the run if it has none. */
  private String seed(Optional<Event> event) {
    Optional<String> own = event.flatMap(Event::prngSeed);
    if (own.isPresent()) {
      return own.get();
    }
    return event
        .filter(e -> e.kind().equals(EventKind.RECEIPT_SIGNED))
        .flatMap(e -> documents.document(e.body()))
        .map(e -> Receipt.read(e.document()).prngSeed())
        .orElse(runSeed);
  }
}
