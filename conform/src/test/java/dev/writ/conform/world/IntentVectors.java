package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.Remade;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * The part of golden-vectors/bundle on an intent's times (rule 4 of spec/intent.md): two of them
 * are disagreements of the verifiers that the fuzzer of whole bundles found.
 */
final class IntentVectors {
  private static final byte[] RUN = OtherRuns.shared();

  /** When the approval ends that a decision of {@link FullRun#lean} counts, in these vectors. */
  private static final Instant APPROVED_UNTIL = Plot.START.plusSeconds(300);

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    IntentVectors vectors = new IntentVectors();
    vectors.dispatches();
    vectors.lives();
    return vectors.made;
  }

  private void add(
      byte[] bundle, String name, String about, String wanted, Consumer<Remade> change) {
    Remade remade = FullRun.remade(bundle);
    change.accept(remade);
    made.add(Made.bundle("intent-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  /** The last of that kind. */
  private static int last(Remade remade, String kind) {
    return IntStream.range(0, remade.steps.size())
        .filter(i -> remade.steps.get(i).kind.equals(kind))
        .max()
        .orElseThrow();
  }

  private static Instant at(Remade remade, String kind) {
    return remade.steps.get(last(remade, kind)).at;
  }

  private static void ends(Remade remade, Instant end) {
    remade.change(
        remade.steps.get(last(remade, EventKind.INTENT_ISSUED)).body,
        set("expires_at", Timestamps.format(end)));
  }

  private void dispatches() {
    for (long early : List.of(2000L, 2001L)) {
      add(
          RUN,
          early == 2000 ? "dispatched-in-the-skew" : "dispatched-too-early",
          "an intent is dispatched " + early + " ms before it was issued",
          early == 2000 ? "ok" : "EXE-954",
          remade -> remade.shift(last(remade, EventKind.EFFECT_DISPATCHED), -early));
    }
    add(
        RUN,
        "dispatched-just-in-time",
        "an intent is dispatched a millisecond before it ends",
        "ok",
        remade -> ends(remade, at(remade, EventKind.EFFECT_DISPATCHED).plusMillis(1)));
    add(
        RUN,
        "dispatched-when-it-ended",
        "an intent is dispatched when it ends",
        "EXE-954",
        remade -> ends(remade, at(remade, EventKind.EFFECT_DISPATCHED)));
    for (long late : List.of(60_000L, 60_001L)) {
      add(
          RUN,
          late == 60_000 ? "dispatched-as-its-key-is-revoked" : "dispatched-under-a-revoked-key",
          "the key that signed an intent is revoked " + late + " ms before it is dispatched",
          late == 60_000 ? "ok" : "EXE-951",
          remade -> {
            int at = last(remade, EventKind.EFFECT_DISPATCHED);
            JsonValue guardian = JsonValue.object().put("kid", kid("guardian")).build();
            TrustVectors.change(remade, at, EventKind.KEY_REVOKED, guardian);
            Instant revoked = remade.steps.get(at).at;
            Instant dispatched = remade.steps.get(at + 1).at;
            remade.shift(at + 1, late - Duration.between(revoked, dispatched).toMillis());
          });
    }
  }

  private void lives() {
    add(
        RUN,
        "issued-before-its-decision",
        "an intent is issued a millisecond before its decision",
        "EXE-953",
        remade -> remade.shift(last(remade, EventKind.INTENT_ISSUED), -1));
    add(
        RUN,
        "longer-than-five-minutes",
        "an intent lives five minutes and a millisecond",
        "EXE-953",
        remade -> ends(remade, at(remade, EventKind.INTENT_ISSUED).plusMillis(300_001)));
    for (long more : List.of(0L, 1L)) {
      add(
          FullRun.lean().closed,
          more == 0 ? "ends-with-its-approval" : "outlives-its-approval",
          "an intent ends " + more + " ms after the approval that its decision counts",
          more == 0 ? "ok" : "EXE-953",
          remade -> {
            JsonValue end =
                remade.document(body(remade, EventKind.APPROVAL_RECEIVED)).get("expires_at");
            remade.replace(((JsonValue.Str) end).value(), Timestamps.format(APPROVED_UNTIL));
            remade.change(
                approved(remade),
                set("expires_at", Timestamps.format(APPROVED_UNTIL.plusMillis(more))));
          });
    }
  }

  /** The intent that follows on the approval. */
  private static Digest approved(Remade remade) {
    return remade.steps.stream()
        .skip(last(remade, EventKind.APPROVAL_RECEIVED))
        .filter(step -> step.kind.equals(EventKind.INTENT_ISSUED))
        .findFirst()
        .orElseThrow()
        .body;
  }
}
