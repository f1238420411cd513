package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.place;
import static dev.writ.conform.world.TrustVectors.saying;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle in which one document of a run, signed by who may, does not
 * belong to those before it: it is of another run or tenant, or names another request, decision,
 * effect, subject, holder, time or seed.
 */
final class BindingVectors {
  private static final String DOCUMENT = "EXE-952";
  private static final String BINDING = "EXE-953";
  private static final String ORDER = "EXE-954";

  /** One fault, by either of the two names that order and repetition have. */
  private static final String TWICE = "EXE-954 or EXE-957";

  private static final String OTHER = Digest.sha256().toString();
  private static final String SEED = "0".repeat(64);
  private static final String LATER = "2026-11-21T12:30:00.000Z";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    BindingVectors vectors = new BindingVectors();
    vectors.fields();
    vectors.seeds();
    vectors.seedsOfWhatIsRefused();
    vectors.signers();
    vectors.requests();
    vectors.approvals();
    vectors.decisions();
    vectors.dispatches();
    vectors.epochs();
    return vectors.made;
  }

  private void add(String name, String about, String wanted, Consumer<Remade> change) {
    add(FullRun.lean().closed, name, about, wanted, change);
  }

  private void add(
      byte[] bundle, String name, String about, String wanted, Consumer<Remade> change) {
    Remade remade = FullRun.remade(bundle);
    change.accept(remade);
    made.add(Made.bundle("binding-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  /** The first document of a kind, with another value in one place. */
  private void field(
      byte[] bundle, String kind, String wanted, String field, UnaryOperator<JsonValue.Obj> other) {
    String what = kind.substring(0, kind.indexOf('.'));
    add(
        bundle,
        what + "-of-another-" + field,
        "a document of " + kind + " says another " + field,
        wanted,
        remade -> remade.change(body(remade, kind), other));
  }

  private void fields() {
    byte[] lean = FullRun.lean().closed;
    field(lean, EventKind.REQUEST_RECEIVED, DOCUMENT, "run", set("run", "run-9"));
    field(lean, EventKind.APPROVAL_RECEIVED, DOCUMENT, "tenant", set("tenant", "other"));
    field(lean, EventKind.DECISION_MADE, DOCUMENT, "run", set("run", "run-9"));
    field(lean, EventKind.DECISION_MADE, BINDING, "time", set("decided_at", LATER));
    field(lean, EventKind.DECISION_MADE, BINDING, "effect", set("effect", OTHER));
    field(lean, EventKind.DECISION_MADE, "EXE-953 or EXE-956", "subject", set("subject", "bob"));
    field(lean, EventKind.DECISION_MADE, "EXE-953 or EXE-956", "holder", set("holder", kid("bob")));
    field(
        lean, EventKind.DECISION_MADE, "EXE-953 or EXE-956", "decision", set("supersedes", OTHER));
    field(lean, EventKind.INTENT_ISSUED, DOCUMENT, "run", set("run", "run-9"));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "decision", set("decision", OTHER));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "subject", set("subject", "bob"));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "holder", set("holder", kid("bob")));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "effect", set("effect", OTHER));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "seed", set("prng_seed", SEED));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "time", set("issued_at", LATER));
    field(
        lean, EventKind.INTENT_ISSUED, BINDING, "log", in("audience", set("origin", "other.log")));
    field(
        lean,
        EventKind.INTENT_ISSUED,
        BINDING,
        "incarnation",
        in("audience", set("incarnation", JsonValue.of(2))));
    field(lean, EventKind.INTENT_ISSUED, BINDING, "tool", set("tool", Plot.WORDS.ref().toJson()));
    byte[] refused = OtherRuns.refused();
    field(refused, EventKind.EFFECT_REFUSED, DOCUMENT, "run", set("run", "run-9"));
    field(refused, EventKind.EFFECT_REFUSED, BINDING, "decision", set("decision", OTHER));
    field(refused, EventKind.EFFECT_REFUSED, BINDING, "time", set("refused_at", LATER));
    field(refused, EventKind.EFFECT_REFUSED, "EXE-953 or EXE-954", "intent", set("intent", OTHER));
  }

  private void seeds() {
    for (String kind : List.of(EventKind.INTENT_ISSUED, EventKind.EFFECT_DISPATCHED)) {
      add(
          "seed-of-" + kind.replace('.', '-'),
          "an event of " + kind + " has another seed than its intent",
          BINDING,
          remade -> remade.steps.get(place(remade, kind, saying())).seed = Optional.of(SEED));
    }
  }

  /** Of an intent that is never dispatched. */
  private void seedsOfWhatIsRefused() {
    for (boolean both : List.of(false, true)) {
      add(
          OtherRuns.refused(),
          both ? "refused-intent-of-another-seed" : "refused-intent-of-another-seed-than-its-event",
          "an intent that is refused has another seed than follows, and its event "
              + (both ? "too" : "not"),
          BINDING,
          remade -> {
            int at = place(remade, EventKind.INTENT_ISSUED, saying());
            remade.change(remade.steps.get(at).body, set("prng_seed", SEED));
            remade.steps.get(at).seed = both ? Optional.of(SEED) : remade.steps.get(at).seed;
          });
    }
  }

  private void signers() {
    signer(FullRun.lean().closed, EventKind.DECISION_MADE, "executor");
    signer(FullRun.lean().closed, EventKind.INTENT_ISSUED, "executor");
    signer(OtherRuns.refused(), EventKind.EFFECT_REFUSED, "guardian");
    add(
        OtherRuns.refused(),
        "refused-intent-signed-by-executor",
        "an intent that is never dispatched is signed by the executor",
        "EXE-951",
        remade -> remade.signedBy(body(remade, EventKind.INTENT_ISSUED), List.of(kid("executor"))));
    signer(OtherRuns.troubled(), EventKind.DOUBT_RESOLVED, "guardian");
  }

  private void signer(byte[] bundle, String kind, String who) {
    add(
        bundle,
        kind.substring(0, kind.indexOf('.')) + "-signed-by-" + who,
        "a document of " + kind + " is signed by the " + who,
        "EXE-951",
        remade -> remade.signedBy(body(remade, kind), List.of(kid(who))));
  }

  private void requests() {
    add(
        "opened-by-another-request",
        "a run is opened with another request than its first",
        BINDING,
        remade ->
            remade.steps.stream()
                    .filter(step -> step.journal == Journal.RUN)
                    .findFirst()
                    .orElseThrow()
                    .body =
                body(remade, EventKind.REQUEST_RECEIVED, "n-8"));
    add(
        "request-of-another-holder",
        "a second agent of the tenant asks in the run that the first one opened",
        BINDING,
        remade -> {
          Digest request = body(remade, EventKind.REQUEST_RECEIVED, "n-8");
          remade.change(request, set("subject", "bob"));
          remade.signedBy(request, List.of(kid("bob")));
        });
    again(EventKind.REQUEST_RECEIVED);
    again(EventKind.APPROVAL_RECEIVED);
    again(EventKind.INTENT_ISSUED);
    again(EventKind.EFFECT_DISPATCHED);
  }

  /** Twice, one behind the other. */
  private void again(String kind) {
    add(
        "twice-" + kind.replace('.', '-'),
        "one event of " + kind + " follows on the same",
        TWICE,
        remade -> {
          int at = place(remade, kind, saying());
          remade.steps.add(at + 1, remade.steps.get(at).copy());
        });
  }

  private void approvals() {
    add(
        "approval-of-what-does-not-wait",
        "an approval comes in before the decision that asks for it",
        ORDER,
        remade -> {
          int at = place(remade, EventKind.APPROVAL_RECEIVED, saying());
          remade.steps.add(at - 1, remade.steps.remove(at));
        });
    add(
        "evidence-of-another-tenant",
        "a decision counts evidence that a key of another tenant signed",
        "EXE-953 or EXE-956",
        remade ->
            remade.change(
                body(remade, EventKind.KEY_ENROLLED, kid("ci")),
                in("detail", set("writ_tenant", "other"))));
  }

  private void decisions() {
    add(
        "step-of-another-decision",
        "two decisions are one step of the Guardian",
        "EXE-957",
        remade -> {
          JsonValue step =
              ((JsonValue.Obj) remade.document(body(remade, EventKind.DECISION_MADE)).get("inputs"))
                  .get("step");
          remade.change(
              remade.steps.get(last(remade, EventKind.DECISION_MADE)).body,
              in("inputs", set("step", step)));
        });
    add(
        "intent-without-its-decision",
        "an intent comes before the decision that allows it",
        ORDER,
        remade -> {
          int at = place(remade, EventKind.INTENT_ISSUED, saying());
          remade.steps.add(at - 1, remade.steps.remove(at));
        });
  }

  /** Owners of a log: its intents name the epoch of the one that issued them. */
  private void epochs() {
    epochs("intents-of-one-owner", "two intents are of one owner", "ok", 4, 4);
    epochs("intents-of-two-owners", "the second intent is of a later owner", "ok", 4, 5);
    epochs("intent-of-an-earlier-owner", "an intent is of an owner before", ORDER, 5, 4);
    epochs(
        "intents-of-epoch-nought", "an intent is of no epoch there is", "CAN-023 or EXE-952", 0, 1);
    add(
        OtherRuns.troubled(),
        "refused-intent-of-an-earlier-owner",
        "an intent that is never dispatched is of an owner before",
        ORDER,
        remade -> {
          epoch(remade, place(remade, EventKind.INTENT_ISSUED, saying()), 5);
          int refused = place(remade, EventKind.EFFECT_REFUSED, saying());
          epoch(remade, last(remade, EventKind.INTENT_ISSUED, refused), 4);
        });
    overlapping("dispatched-behind-an-intent-of-its-owner", "of the same owner", "ok", 4);
    overlapping("dispatched-under-an-earlier-owner", "of a later owner", ORDER, 5);
  }

  private void epochs(String name, String about, String wanted, long first, long second) {
    add(
        name,
        about,
        wanted,
        remade -> {
          List<Integer> intents = intents(remade);
          epoch(remade, intents.get(0), first);
          epoch(remade, intents.get(1), second);
        });
  }

  /** An effect of epoch 4 that is dispatched, finished and signed behind the next intent. */
  private void overlapping(String name, String owner, String wanted, long second) {
    add(
        OtherRuns.troubled(),
        name,
        "an intent is dispatched behind one " + owner,
        wanted,
        remade -> {
          int dispatched = place(remade, EventKind.EFFECT_DISPATCHED, saying());
          List<Integer> intents = intents(remade);
          epoch(remade, intents.get(0), 4);
          epoch(remade, intents.get(1), second);
          Collections.rotate(remade.steps.subList(dispatched, intents.get(1) + 1), -3);
        });
  }

  private static void epoch(Remade remade, int intent, long epoch) {
    remade.change(remade.steps.get(intent).body, in("audience", set("epoch", JsonValue.of(epoch))));
  }

  private static List<Integer> intents(Remade remade) {
    List<Integer> found = new ArrayList<>();
    for (int i = 0; i < remade.steps.size(); i++) {
      if (remade.steps.get(i).kind.equals(EventKind.INTENT_ISSUED)) {
        found.add(i);
      }
    }
    return found;
  }

  private static int last(Remade remade, String kind) {
    return last(remade, kind, remade.steps.size());
  }

  private static int last(Remade remade, String kind, int before) {
    int last = 0;
    for (int i = 0; i < before; i++) {
      last = remade.steps.get(i).kind.equals(kind) ? i : last;
    }
    return last;
  }

  private void dispatches() {
    add(
        "dispatched-in-another-incarnation",
        "an intent is dispatched after another incarnation of the ledger began",
        ORDER,
        remade -> {
          int at = place(remade, EventKind.EFFECT_DISPATCHED, saying());
          Instant time = remade.steps.get(at).at;
          JsonValue.Obj detail = Plot.json("{\"incarnation\":2}");
          JsonValue change = new SystemChange(EventKind.LEDGER_INCARNATED, detail, time).toJson();
          remade.bringSystemEvent(
              at,
              time,
              EventKind.LEDGER_INCARNATED,
              remade.bring(SystemChange.TYPE, change, List.of(kid("operator"))));
          remade.manifest = set("incarnation", JsonValue.of(2));
        });
    add(
        "receipt-without-dispatch",
        "an effect has a receipt and was not dispatched",
        ORDER,
        remade -> remade.steps.remove(place(remade, EventKind.EFFECT_DISPATCHED, saying())));
  }
}
