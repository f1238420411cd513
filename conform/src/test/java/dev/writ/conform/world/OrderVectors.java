package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.place;
import static dev.writ.conform.world.TrustVectors.saying;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.Guardian;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Refusal;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on what may follow on what in a run: events of requests that
 * are not known, over, or not allowed any more; documents that are none of their kind; doubts; and
 * what is dispatched once.
 */
final class OrderVectors {
  private static final String DOCUMENT = "EXE-952";
  private static final String BINDING = "EXE-953";
  private static final String ORDER = "EXE-954";
  private static final String TWICE = "EXE-957";
  private static final String OTHER_TYPE = "application/vnd.example.other+json";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    OrderVectors vectors = new OrderVectors();
    vectors.straight();
    vectors.requests();
    vectors.decisions();
    vectors.intents();
    vectors.dispatches();
    vectors.refusals();
    vectors.otherTools();
    vectors.approvals();
    vectors.doubts();
    vectors.system();
    return vectors.made;
  }

  private void add(
      String name, String about, String wanted, Supplier<byte[]> bundle, Consumer<Remade> change) {
    Remade remade = ShortRuns.remade(bundle.get());
    change.accept(remade);
    add(name, about, wanted, remade.toBytes());
  }

  /** Of a bundle without tools: then no file of what is dispatched need be there. */
  private void bare(
      String name, String about, String wanted, Supplier<byte[]> bundle, Consumer<Remade> change) {
    Remade remade = ShortRuns.remade(bundle.get());
    change.accept(remade);
    add(name, about, wanted, ShortRuns.withoutTools(remade));
  }

  private void add(String name, String about, String wanted, byte[] bundle) {
    made.add(Made.bundle("order-" + name, about, wanted, Made.inline(bundle)));
  }

  // ---- what changes

  private static int at(Remade remade, String kind, String... texts) {
    return place(remade, kind, saying(texts));
  }

  private static int firstAt(Remade remade, String kind) {
    int at = 0;
    while (!remade.steps.get(at).kind.equals(kind)) {
      at++;
    }
    return at;
  }

  /** Has a document be of a type that no event calls for. */
  private static void retype(Remade remade, Digest document) {
    remade.bring(OTHER_TYPE, remade.document(document), remade.kids(document));
  }

  /** An event of the run, at the time of the one before it. */
  private static Remade.Step insert(Remade remade, int at, String kind, Digest body) {
    Remade.Step step = remade.steps.get(at - 1).copy();
    step.kind = kind;
    step.body = body;
    step.seed = Optional.empty();
    remade.steps.add(at, step);
    return step;
  }

  /** Another decision like one of the run, which it follows on. */
  private static Digest decideAgain(Remade remade, Digest before) {
    JsonValue.Obj again =
        set("supersedes", before.toString())
            .andThen(in("inputs", set("step", JsonValue.of(99))))
            .apply(remade.document(before));
    return remade.bring(Decision.TYPE, again, List.of(kid("guardian")));
  }

  /** The intent of another request or decision; its event has its seed. */
  private static void issue(Remade remade, int at, UnaryOperator<JsonValue.Obj> change) {
    JsonValue.Obj intent =
        change.apply(remade.document(body(remade, EventKind.INTENT_ISSUED, "calc")));
    Digest id = remade.bring(Intent.TYPE, intent, List.of(kid("guardian")));
    insert(remade, at, EventKind.INTENT_ISSUED, id).seed = seed(intent);
  }

  private static Optional<String> seed(JsonValue.Obj intent) {
    return Optional.of(((JsonValue.Str) intent.get("prng_seed")).value());
  }

  private static void dispatch(Remade remade, int at, Digest intent) {
    insert(remade, at, EventKind.EFFECT_DISPATCHED, intent).seed = seed(remade.document(intent));
  }

  private static Digest refusal(Remade remade) {
    JsonValue.Obj intent = remade.document(body(remade, EventKind.INTENT_ISSUED));
    JsonValue.Obj refusal =
        JsonValue.object()
            .put("code", "EXE-305")
            .put("decision", ((JsonValue.Str) intent.get("decision")).value())
            .put("found", "box")
            .put("intent", body(remade, EventKind.INTENT_ISSUED))
            .put("refused_at", ((JsonValue.Str) intent.get("issued_at")).value())
            .put("request", ((JsonValue.Str) intent.get("request")).value())
            .put("run", "run-1")
            .put("stage", "prepare")
            .put("subject", "alice")
            .put("tenant", Plot.TENANT)
            .build();
    return remade.bring(Refusal.TYPE, refusal, List.of(kid("executor")));
  }

  /** The run ends open there. */
  private static void endAt(Remade remade, int end) {
    remade.steps.subList(end, remade.steps.size()).clear();
  }

  // ---- vectors

  private void straight() {
    add("served", "one effect", "ok", ShortRuns.SERVED, _ -> {});
    add(
        "every-section",
        "one effect, under a policy that has every section",
        "ok",
        ShortRuns.EVERY_SECTION,
        _ -> {});
    add("denied", "an effect, and denials for four reasons", "ok", ShortRuns.DENIED, _ -> {});
    add(
        "told",
        "a denial by a requirement that says what callers are told",
        "ok",
        ShortRuns.TOLD,
        _ -> {});
    add("lapsed", "an intent that is refused", "ok", ShortRuns.LAPSED, _ -> {});
    add(
        "consuming",
        "an effect consumes a receipt of its run and one of another",
        "ok",
        ShortRuns.CONSUMING,
        _ -> {});
    add("approved", "an approval and a rejection", "ok", ShortRuns.APPROVED, _ -> {});
    add("doubted", "a doubt is resolved before the next effect", "ok", ShortRuns.DOUBTED, _ -> {});
    add(
        "two-keys",
        "a request is signed by two keys of one holder: that of Ed25519 is the holder's",
        "ok",
        ShortRuns.SERVED,
        OrderVectors::signedTwice);
    add(
        "without-tools",
        "the same as denied, without tools: what is allowed is not judged again",
        "ok",
        ShortRuns.withoutTools(ShortRuns.remade(ShortRuns.DENIED.get())));
  }

  private static void signedTwice(Remade remade) {
    TrustedKey first = TestKeys.trusted("alice", KeyRole.AGENT, Optional.of(Plot.TENANT));
    TrustedKey second =
        new TrustedKey(
            ShortRuns.QUANTUM.verifyingKey(),
            first.role(),
            first.tenant(),
            first.subject(),
            first.notBefore(),
            first.notAfter(),
            Optional.empty());
    int at = firstAt(remade, EventKind.POLICY_ACTIVATED);
    change(remade, at, EventKind.KEY_ENROLLED, second.toJson());
    remade.signedBy(
        body(remade, EventKind.REQUEST_RECEIVED), List.of(kid("alice"), ShortRuns.QUANTUM.kid()));
  }

  private static void change(Remade remade, int at, String kind, JsonValue.Obj detail) {
    Instant time = remade.steps.get(at).at;
    JsonValue document = new SystemChange(kind, detail, time).toJson();
    Digest id = remade.bring(SystemChange.TYPE, document, List.of(kid("operator")));
    remade.bringSystemEvent(at, time, kind, id);
  }

  private void requests() {
    add(
        "opening-without-seed",
        "a run in which nothing is allowed is opened without a seed",
        BINDING,
        ShortRuns.DENIED,
        remade -> {
          Digest first = body(remade, EventKind.REQUEST_RECEIVED, "n-1");
          List<Remade.Step> ofFirst = new ArrayList<>();
          for (int i = firstOfRun(remade) + 1; i < remade.steps.size(); i++) {
            if (remade.requestOf(i).filter(first::equals).isPresent()) {
              ofFirst.add(remade.steps.get(i));
            }
          }
          remade.steps.removeAll(ofFirst);
          remade.steps.get(firstOfRun(remade)).seed = Optional.empty();
          remade.chain();
        });
    add(
        "request-form",
        "a request says something more",
        DOCUMENT,
        ShortRuns.DENIED,
        remade -> remade.change(body(remade, EventKind.REQUEST_RECEIVED, "n-3"), set("more", "x")));
    add(
        "request-after-its-denial",
        "a denied request is received and denied again",
        "EXE-954 or EXE-957",
        ShortRuns.DENIED,
        remade -> {
          int request = at(remade, EventKind.REQUEST_RECEIVED, "n-3");
          Remade.Step again = remade.steps.get(request).copy();
          Digest denial =
              remade.bring(
                  Decision.TYPE,
                  in("inputs", set("step", JsonValue.of(99)))
                      .apply(remade.document(remade.steps.get(request + 1).body)),
                  List.of(kid("guardian")));
          remade.steps.add(request + 2, again);
          insert(remade, request + 3, EventKind.DECISION_MADE, denial);
          remade.chain();
        });
  }

  private static int firstOfRun(Remade remade) {
    int at = 0;
    while (remade.steps.get(at).journal != Journal.RUN) {
      at++;
    }
    return at;
  }

  private void decisions() {
    add(
        "decision-of-another-type",
        "a decision has the type of another document",
        DOCUMENT,
        ShortRuns.SERVED,
        remade -> retype(remade, body(remade, EventKind.DECISION_MADE)));
    add(
        "decision-without-its-request",
        "a decision is of a request that was not received",
        ORDER,
        ShortRuns.DENIED,
        remade -> remade.steps.remove(at(remade, EventKind.REQUEST_RECEIVED, "n-3")));
    add(
        "decision-after-the-dispatch",
        "a request is judged again while its effect runs",
        ORDER,
        ShortRuns.SERVED,
        remade ->
            insert(
                remade,
                at(remade, EventKind.EFFECT_DISPATCHED) + 1,
                EventKind.DECISION_MADE,
                decideAgain(remade, body(remade, EventKind.DECISION_MADE))));
    add(
        "decision-after-the-denial",
        "a denied request is judged again",
        ORDER,
        ShortRuns.DENIED,
        remade -> {
          int at = at(remade, EventKind.REQUEST_RECEIVED, "n-3") + 1;
          Digest again = decideAgain(remade, remade.steps.get(at).body);
          insert(remade, at + 1, EventKind.DECISION_MADE, again);
          remade.chain();
        });
  }

  private void intents() {
    add(
        "intent-of-another-type",
        "an intent has the type of another document",
        DOCUMENT,
        ShortRuns.SERVED,
        remade -> retype(remade, body(remade, EventKind.INTENT_ISSUED)));
    add(
        "intent-after-the-denial",
        "an intent is of a denied request",
        ORDER,
        ShortRuns.DENIED,
        remade -> {
          int at = at(remade, EventKind.REQUEST_RECEIVED, "n-3");
          issue(remade, at + 2, set("request", remade.steps.get(at).body.toString()));
        });
  }

  private void dispatches() {
    add(
        "dispatch-of-another-type",
        "what is dispatched has the type of another document",
        DOCUMENT,
        ShortRuns.SERVED,
        remade -> {
          int at = at(remade, EventKind.EFFECT_DISPATCHED);
          JsonValue.Obj other =
              set("expires_at", "2026-11-21T12:01:00.000Z")
                  .apply(remade.document(remade.steps.get(at).body));
          remade.steps.get(at).body = remade.bring(OTHER_TYPE, other, List.of(kid("guardian")));
        });
    add(
        "dispatch-after-the-denial",
        "an intent is dispatched that was not issued, of a denied request",
        ORDER,
        ShortRuns.DENIED,
        remade -> {
          int at = at(remade, EventKind.REQUEST_RECEIVED, "n-3");
          JsonValue.Obj intent =
              set("request", remade.steps.get(at).body.toString())
                  .apply(remade.document(body(remade, EventKind.INTENT_ISSUED)));
          dispatch(remade, at + 2, remade.bring(Intent.TYPE, intent, List.of(kid("guardian"))));
        });
    add(
        "dispatch-after-the-receipt",
        "an intent is dispatched again that has its receipt",
        TWICE,
        ShortRuns.SERVED,
        remade ->
            dispatch(
                remade,
                at(remade, EventKind.RECEIPT_SIGNED) + 1,
                body(remade, EventKind.INTENT_ISSUED)));
    add(
        "dispatch-of-the-intent-before",
        "an intent is dispatched whose request has another one since",
        ORDER,
        ShortRuns.SERVED,
        remade -> {
          int at = at(remade, EventKind.INTENT_ISSUED) + 1;
          Digest again = decideAgain(remade, body(remade, EventKind.DECISION_MADE));
          insert(remade, at, EventKind.DECISION_MADE, again);
          byte[] run =
              HexFormat.of().parseHex(remade.steps.get(firstOfRun(remade)).seed.orElseThrow());
          issue(
              remade,
              at + 1,
              intent ->
                  set("decision", again.toString())
                      .andThen(set("prng_seed", Guardian.effectSeed(run, again)))
                      .apply(intent));
        });
    bare(
        "dispatch-after-the-refusal",
        "an intent is dispatched that was refused",
        ORDER,
        ShortRuns.LAPSED,
        remade -> {
          int at = at(remade, EventKind.EFFECT_REFUSED) + 1;
          endAt(remade, at);
          dispatch(remade, at, body(remade, EventKind.INTENT_ISSUED));
        });
    for (boolean ends : List.of(true, false)) {
      add(
          ends ? "one-key-of-two" : "one-key-of-two-at-once",
          "two requests have one idempotency key, and the second "
              + (ends ? "is served" : "runs when the bundle ends"),
          TWICE,
          ShortRuns.CONSUMING,
          remade -> {
            for (String nonce : List.of("n-1", "n-2")) {
              remade.change(
                  body(remade, EventKind.REQUEST_RECEIVED, nonce), set("idempotency_key", "k"));
            }
            if (!ends) {
              endAt(remade, lastOf(remade, EventKind.EFFECT_DISPATCHED) + 1);
            }
          });
    }
  }

  private static int lastOf(Remade remade, String kind) {
    int at = remade.steps.size() - 1;
    while (!remade.steps.get(at).kind.equals(kind)) {
      at--;
    }
    return at;
  }

  private void refusals() {
    add(
        "refusal-after-the-dispatch",
        "an intent is refused that was dispatched",
        ORDER,
        ShortRuns.SERVED,
        remade ->
            insert(
                remade,
                at(remade, EventKind.EFFECT_DISPATCHED) + 1,
                EventKind.EFFECT_REFUSED,
                refusal(remade)));
    add(
        "refusal-after-the-receipt",
        "an intent is refused that has its receipt",
        ORDER,
        ShortRuns.SERVED,
        remade ->
            insert(
                remade,
                at(remade, EventKind.RECEIPT_SIGNED) + 1,
                EventKind.EFFECT_REFUSED,
                refusal(remade)));
    add(
        "refusal-twice",
        "an intent is refused twice",
        ORDER,
        ShortRuns.LAPSED,
        remade -> {
          int at = at(remade, EventKind.EFFECT_REFUSED);
          remade.steps.add(at, remade.steps.get(at).copy());
          remade.chain();
        });
  }

  /** Where it was never dispatched nothing else says which tool it is for. */
  private void otherTools() {
    String[][] changes = {
      {"name", "mail"}, {"version", "2.0.0"}, {"package", Digest.sha256().toString()}
    };
    for (String[] change : changes) {
      bare(
          "intent-of-another-" + change[0],
          "an intent that is refused is for a tool of another " + change[0],
          BINDING,
          ShortRuns.LAPSED,
          remade ->
              remade.change(
                  body(remade, EventKind.INTENT_ISSUED), in("tool", set(change[0], change[1]))));
    }
  }

  private void approvals() {
    add(
        "approval-form",
        "an approval says something more",
        DOCUMENT,
        ShortRuns.APPROVED,
        remade -> remade.change(body(remade, EventKind.APPROVAL_RECEIVED), set("more", "x")));
    add(
        "approval-of-nothing",
        "an approval is of a request that was not received",
        ORDER,
        ShortRuns.APPROVED,
        remade ->
            remade.change(
                body(remade, EventKind.APPROVAL_RECEIVED),
                set("request", Digest.sha256().toString())));
  }

  private void doubts() {
    UnaryOperator<JsonValue.Obj> elsewhere = set("tenant", "other");
    resolution("of-another-tenant", "is of another tenant", DOCUMENT, elsewhere);
    resolution(
        "of-nothing",
        "is of a receipt that is not there",
        ORDER,
        set("receipt", Digest.sha256().toString()));
    resolution("form", "says something more", DOCUMENT, set("more", "x"));
    add(
        "resolution-by-another-tenant",
        "a resolution is signed by an operator of another tenant",
        "EXE-951 or EXE-952",
        ShortRuns.DOUBTED,
        remade ->
            remade.change(
                body(remade, EventKind.KEY_ENROLLED, kid("warden")),
                in("detail", set("writ_tenant", "other"))));
  }

  private void resolution(
      String name, String about, String wanted, UnaryOperator<JsonValue.Obj> change) {
    add(
        "resolution-" + name,
        "a resolution " + about,
        wanted,
        ShortRuns.DOUBTED,
        remade -> remade.change(body(remade, EventKind.DOUBT_RESOLVED), change));
  }

  private void system() {
    add(
        "no-enrolment-first",
        "the first change of an installation revokes a key",
        "EXE-004 or EXE-950",
        ShortRuns.SERVED,
        remade -> {
          int at = firstAt(remade, EventKind.KEY_ENROLLED);
          JsonValue.Obj key =
              (JsonValue.Obj) remade.document(remade.steps.get(at).body).get("detail");
          change(remade, at, EventKind.KEY_REVOKED, key);
        });
  }
}
