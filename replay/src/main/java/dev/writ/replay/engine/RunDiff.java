package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * Two runs side by side. Requests for the same effect are paired in order; of each pair the
 * request, decision, outcome and output are compared. Ids, times, seeds, nonces and chains always
 * differ, and are compared only if all fields are requested.
 */
public final class RunDiff {
  /**
   * One request, or a pair of them.
   *
   * @param effect what it asks for, in words
   * @param seqA of {@code request.received} in the first run
   * @param fields what differs: {@code recorded} is the first run, {@code replayed} the second
   * @param diff of the outputs, where they are text and differ
   */
  public record Pair(
      String effect,
      Optional<Long> seqA,
      Optional<Long> seqB,
      List<Field> fields,
      Optional<String> diff) {
    public Pair {
      fields = List.copyOf(fields);
    }

    public boolean isSame() {
      return seqA.isPresent() && seqB.isPresent() && fields.isEmpty();
    }

    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("effect", effect)
          .put("same", JsonValue.of(isSame()))
          .putIfPresent("seq_a", seqA, JsonValue::of)
          .putIfPresent("seq_b", seqB, JsonValue::of)
          .putList(
              "fields",
              fields,
              f ->
                  JsonValue.object()
                      .put("field", f.pointer())
                      .put("a", f.recorded())
                      .put("b", f.replayed())
                      .build())
          .putIfPresent("diff", diff, JsonValue::of)
          .build();
    }
  }

  /** What is kept of a request. */
  private static final class Asked {
    final long seq;
    final Digest request;
    final Effect effect;
    final String key;
    final List<Digest> decisions = new ArrayList<>();
    final List<Digest> refusals = new ArrayList<>();
    Optional<Digest> receipt = Optional.empty();

    Asked(long seq, Digest request, Effect effect) {
      this.seq = seq;
      this.request = request;
      this.effect = effect;
      this.key = effect.digest().hex();
    }

    String words() {
      return effect.tool() + " " + effect.version() + " " + effect.operation();
    }
  }

  private final RecordedRun a;
  private final RecordedRun b;
  private final boolean all;

  private RunDiff(RecordedRun a, RecordedRun b, boolean all) {
    this.a = a;
    this.b = b;
    this.all = all;
  }

  /**
   * @param all compares every field of the documents too
   */
  public static List<Pair> of(RecordedRun a, RecordedRun b, boolean all) {
    return new RunDiff(a, b, all).pairs();
  }

  private List<Pair> pairs() {
    List<Asked> one = asked(a);
    List<Asked> other = asked(b);
    List<Pair> pairs = new ArrayList<>();
    int i = 0;
    int j = 0;
    List<Character> script =
        TextDiff.script(
            one.stream().map(x -> x.key).toList(), other.stream().map(x -> x.key).toList());
    int at = 0;
    while (at < script.size()) {
      if (script.get(at) == ' ') {
        pairs.add(pair(one.get(i++), other.get(j++)));
        at++;
        continue;
      }
      int removed = 0;
      int added = 0;
      while (at < script.size() && script.get(at) != ' ') {
        removed += script.get(at) == '-' ? 1 : 0;
        added += script.get(at) == '+' ? 1 : 0;
        at++;
      }
      between(one.subList(i, i + removed), other.subList(j, j + added), pairs);
      i += removed;
      j += added;
    }
    return pairs;
  }

  /**
   * Pairs requests between two pairs for the same effect: those of one tool and operation, in
   * order.
   */
  private void between(List<Asked> one, List<Asked> other, List<Pair> pairs) {
    List<Asked> left = new ArrayList<>(other);
    for (Asked x : one) {
      Optional<Asked> match = left.stream().filter(y -> y.words().equals(x.words())).findFirst();
      match.ifPresent(left::remove);
      pairs.add(
          match
              .map(y -> pair(x, y))
              .orElseGet(() ->
                  new Pair(
                      x.words(),
                      Optional.of(x.seq),
                      Optional.empty(),
                      List.of(new Field("/request", x.request.toString(), "nothing")),
                      Optional.empty())));
    }
    for (Asked y : left) {
      pairs.add(
          new Pair(
              y.words(),
              Optional.empty(),
              Optional.of(y.seq),
              List.of(new Field("/request", "nothing", y.request.toString())),
              Optional.empty()));
    }
  }

  private static List<Asked> asked(RecordedRun recording) {
    LinkedHashMap<Digest, Asked> asked = new LinkedHashMap<>();
    recording.events((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN) {
        event(recording, asked, event);
      }
    });
    return List.copyOf(asked.values());
  }

  private static void event(
      RecordedRun recording, LinkedHashMap<Digest, Asked> asked, Event event) {
    switch (event.kind()) {
      case EventKind.REQUEST_RECEIVED ->
          asked.put(
              event.body(),
              new Asked(
                  event.seq(),
                  event.body(),
                  Request.read(document(recording, event.body()).document()).effect()));
      case EventKind.DECISION_MADE -> {
        Decision decision = Decision.read(document(recording, event.body()).document());
        asked.get(decision.request()).decisions.add(event.body());
      }
      case EventKind.EFFECT_REFUSED -> {
        Refusal refusal = Refusal.read(document(recording, event.body()).document());
        asked.get(refusal.request()).refusals.add(event.body());
      }
      case EventKind.RECEIPT_SIGNED -> {
        Receipt receipt = Receipt.read(document(recording, event.body()).document());
        asked.get(receipt.request()).receipt = Optional.of(event.body());
      }
      default -> {
        // follows from the others
      }
    }
  }

  private Pair pair(Asked x, Asked y) {
    JsonValue one = comparable(a, x);
    JsonValue other = comparable(b, y);
    return new Pair(
        x.words(),
        Optional.of(x.seq),
        Optional.of(y.seq),
        FieldDifferences.of("", one, other),
        diff(x, y));
  }

  private JsonValue comparable(RecordedRun recording, Asked asked) {
    List<JsonValue> decisions = new ArrayList<>();
    for (Digest id : asked.decisions) {
      JsonValue document = document(recording, id).document();
      Decision decision = Decision.read(document);
      decisions.add(
          all
              ? document
              : JsonValue.object()
                  .put("verdict", decision.verdict().name())
                  .putIfPresent("code", decision.code(), JsonValue::of)
                  .build());
    }
    List<JsonValue> refusals = new ArrayList<>();
    for (Digest id : asked.refusals) {
      JsonValue document = document(recording, id).document();
      Refusal refusal = Refusal.read(document);
      refusals.add(
          all
              ? document
              : JsonValue.object()
                  .put("stage", refusal.stage())
                  .put("code", refusal.code())
                  .build());
    }
    return JsonValue.object()
        .put("effect", asked.effect.toJson())
        .put("decisions", new JsonValue.Arr(decisions))
        .put("refusals", new JsonValue.Arr(refusals))
        .putIfPresent("receipt", asked.receipt, id -> receipt(recording, id))
        .build();
  }

  private JsonValue receipt(RecordedRun recording, Digest id) {
    JsonValue document = document(recording, id).document();
    if (all) {
      return document;
    }
    Receipt receipt = Receipt.read(document);
    return JsonValue.object()
        .put("status", receipt.status().text())
        .putIfPresent("code", receipt.code(), JsonValue::of)
        .put("reason", receipt.reason())
        .put("message", receipt.message())
        .putIfPresent("output", receipt.output(), Content::toJson)
        .putIfPresent("raw_output", receipt.rawOutput(), Content::toJson)
        .build();
  }

  private Optional<String> diff(Asked x, Asked y) {
    if (x.receipt.isEmpty() || y.receipt.isEmpty()) {
      return Optional.empty();
    }
    Receipt one = Receipt.read(document(a, x.receipt.get()).document());
    Receipt other = Receipt.read(document(b, y.receipt.get()).document());
    Optional<Content> left = one.output().or(one::rawOutput);
    Optional<Content> right = other.output().or(other::rawOutput);
    if (left.isEmpty() || right.isEmpty() || left.get().digest().equals(right.get().digest())) {
      return Optional.empty();
    }
    Optional<byte[]> bytes = a.blob(left.get().digest());
    Optional<byte[]> others = b.blob(right.get().digest());
    return bytes.isEmpty() || others.isEmpty()
        ? Optional.empty()
        : TextDiff.of(left.get().mediaType(), bytes.get(), others.get());
  }

  private static Envelope document(RecordedRun recording, Digest id) {
    return recording
        .document(id)
        .orElseThrow(() -> new WritException(BundleError.ENTRY_MISSING, "document " + id));
  }
}
