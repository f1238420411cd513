package dev.writ.conform.world;

import static dev.writ.conform.world.Plot.ask;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.executor.Answer;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Makes golden-vectors/gate and golden-vectors/receipt, and what of golden-vectors/adversarial
 * attacks receipts: real documents of an installation, and each changed in one way.
 */
final class DocumentVectors {
  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    DocumentVectors vectors = new DocumentVectors();
    try (TestHome home = installation()) {
      vectors.gate(home);
    }
    try (TestHome home = installation()) {
      vectors.receipts(home);
    }
    return vectors.made;
  }

  private static TestHome installation() {
    TestTools tools = new TestTools();
    Plot.TOOLS.forEach(tools::register);
    return Scenario.setup(Plot.PARTIES, Plot.policy().toJson(), tools, Plot.START).found();
  }

  private static Envelope signed(Plot.Ask ask, String signer) {
    return Envelope.sign(Request.TYPE, ask.document(), TestKeys.key(signer));
  }

  // ---- the gate

  private static JsonValue.Obj with(JsonValue.Obj object, String member, JsonValue value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.put(member, value);
    return new JsonValue.Obj(members);
  }

  private static JsonValue.Obj without(JsonValue.Obj object, String member) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    members.remove(member);
    return new JsonValue.Obj(members);
  }

  private static JsonValue.Obj document(Envelope envelope) {
    return (JsonValue.Obj) envelope.document();
  }

  /** The document with another member, signed by that party. */
  private static JsonValue resigned(
      Envelope envelope, String member, JsonValue value, String signer) {
    return Envelope.sign(
            envelope.payloadType(), with(document(envelope), member, value), TestKeys.key(signer))
        .toJson();
  }

  /** The document with another member under the old signature. */
  private static JsonValue forged(Envelope envelope, String member, JsonValue value) {
    return with(
        envelope.toJson(),
        "payload",
        JsonValue.of(StrictBase64.encode(Jcs.write(with(document(envelope), member, value)))));
  }

  private void gate(String name, String about, String wanted, JsonValue.Obj input) {
    made.add(
        new Made("gate/" + name, about, Optional.empty(), "executor.gate", input, List.of(wanted)));
  }

  private static JsonValue keys() {
    return JsonValue.of(
        Plot.PARTIES.stream().map(party -> (JsonValue) party.trusted().toJson()).toList());
  }

  private static final JsonValue OTHER = JsonValue.of(Digest.sha256().toString());

  private void gate(TestHome home) {
    Envelope request = signed(ask("mail"), "alice");
    Answer answer = home.kernel().decide(request.toBytes(), List.of());
    Envelope decision = answer.decisionEnvelope();
    Envelope intent = answer.intent().orElseThrow();
    JsonValue.Obj good =
        JsonValue.object()
            .put("keys", keys())
            .put("policy", Plot.policy().toJson())
            .put(
                "audience",
                JsonValue.object()
                    .put("origin", TestHome.ORIGIN)
                    .put("incarnation", home.kernel().ledger().incarnation())
                    .build())
            .put("tenant", "acme")
            .put("run", "run-1")
            .put("submitter", TestKeys.key("alice").kid())
            .put("now", Plot.START)
            .put("decision", decision.toJson())
            .put("intent", intent.toJson())
            .put("request", request.document())
            .build();
    gate("passes", "all three documents of one request, handed in by its holder", "ok", good);
    preflight(good, decision, intent);
    signatures(good, decision, intent);
    bindings(home, good, request, decision, intent);
    holders(good);
    times(good, intent);
  }

  private void preflight(JsonValue.Obj good, Envelope decision, Envelope intent) {
    gate("missing-decision", "no decision", "EXE-001", without(good, "decision"));
    gate("missing-intent", "no intent", "EXE-002", without(good, "intent"));
    gate("missing-effect", "no effect", "EXE-003", without(good, "request"));
    gate(
        "decision-for-intent", "two decisions", "EXE-004", with(good, "intent", decision.toJson()));
    gate("intent-for-decision", "two intents", "EXE-004", with(good, "decision", intent.toJson()));
  }

  private void signatures(JsonValue.Obj good, Envelope decision, Envelope intent) {
    JsonValue later = JsonValue.of("2026-11-21T12:00:00.001Z");
    gate(
        "decision-forged",
        "check 1: the decision was changed under its signature",
        "EXE-101",
        with(good, "decision", forged(decision, "decided_at", later)));
    for (String signer : List.of("alice", "executor", "owner", "stranger")) {
      gate(
          "decision-signed-by-" + signer,
          "check 1: the decision is signed by a key that may not",
          "EXE-101",
          with(good, "decision", resigned(decision, "decided_at", later, signer)));
    }
    gate(
        "verdict-deny",
        "check 2: a DENY of the Guardian's",
        "EXE-102",
        with(good, "decision", resigned(decision, "verdict", JsonValue.of("DENY"), "guardian")));
    gate(
        "verdict-escalate",
        "check 2: an ESCALATE of the Guardian's",
        "EXE-102",
        with(
            good, "decision", resigned(decision, "verdict", JsonValue.of("ESCALATE"), "guardian")));
    gate(
        "intent-forged",
        "check 3: the intent was changed under its signature",
        "EXE-103",
        with(good, "intent", forged(intent, "issued_at", later)));
    for (String signer : List.of("alice", "executor", "owner", "stranger")) {
      gate(
          "intent-signed-by-" + signer,
          "check 3: the intent is signed by a key that may not",
          "EXE-103",
          with(good, "intent", resigned(intent, "issued_at", later, signer)));
    }
    gate(
        "guardian-revoked",
        "check 1: the Guardian's key is revoked",
        "EXE-101",
        with(good, "keys", revoked("guardian")));
  }

  private static JsonValue revoked(String name) {
    List<JsonValue> keys = new ArrayList<>();
    for (TestParty party : Plot.PARTIES) {
      JsonValue.Obj key = party.trusted().toJson();
      keys.add(
          party.name().equals(name)
              ? with(key, "writ_revoked_at", JsonValue.of("2026-11-21T11:00:00.000Z"))
              : key);
    }
    return JsonValue.of(keys);
  }

  /** Check 4: everything that ties the three documents together, one at a time. */
  private void bindings(
      TestHome home, JsonValue.Obj good, Envelope request, Envelope decision, Envelope intent) {
    Envelope second = signed(ask("alice", "mail", "n-2").params("{\"n\":2}"), "alice");
    Answer other = home.kernel().decide(second.toBytes(), List.of());
    gate(
        "binding-decision-of-another",
        "check 4: the decision is of another request",
        "EXE-104",
        with(good, "decision", other.decisionEnvelope().toJson()));
    gate(
        "binding-intent-of-another",
        "check 4: the intent is of another request",
        "EXE-104",
        with(good, "intent", other.intent().orElseThrow().toJson()));
    gate(
        "binding-effect-of-another",
        "check 4: the effect is another",
        "EXE-104",
        with(good, "request", second.document()));
    for (String member : List.of("decision", "request", "effect")) {
      gate(
          "binding-intent-" + member,
          "check 4: the intent names another " + member,
          "EXE-104",
          with(good, "intent", resigned(intent, member, OTHER, "guardian")));
    }
    for (String member : List.of("tenant", "run", "subject")) {
      gate(
          "binding-intent-" + member,
          "check 4: the intent is for another " + member,
          "EXE-104",
          with(good, "intent", resigned(intent, member, JsonValue.of("other"), "guardian")));
    }
    gate(
        "binding-intent-holder",
        "check 4: the intent has another holder than the decision",
        "EXE-104",
        with(
            good,
            "intent",
            resigned(intent, "holder", JsonValue.of(TestKeys.key("bob").kid()), "guardian")));
    JsonValue.Obj tool = (JsonValue.Obj) document(intent).get("tool");
    for (String member : List.of("name", "version")) {
      gate(
          "binding-tool-" + member,
          "check 4: the intent is for another tool's " + member,
          "EXE-104",
          with(
              good,
              "intent",
              resigned(intent, "tool", with(tool, member, JsonValue.of("other")), "guardian")));
    }
    gate(
        "binding-other-run",
        "check 4: it is served in another run",
        "EXE-104",
        with(good, "run", JsonValue.of("run-2")));
    gate(
        "binding-other-tenant",
        "check 4: it is served in another tenant",
        "EXE-104",
        with(good, "tenant", JsonValue.of("other")));
    gate(
        "binding-params",
        "check 4: one number of the params is another",
        "EXE-104",
        with(
            good,
            "request",
            with(
                document(request),
                "effect",
                with(
                    (JsonValue.Obj) document(request).get("effect"),
                    "params",
                    Plot.json("{\"n\":2}")))));
    gate(
        "audience-origin",
        "the intent is for another log",
        "EXE-105",
        with(good, "audience", Plot.json("{\"incarnation\":0,\"origin\":\"writ.example/other\"}")));
    gate(
        "audience-incarnation",
        "the intent is for an incarnation before",
        "EXE-105",
        with(good, "audience", Plot.json("{\"incarnation\":7,\"origin\":\"writ.example/log\"}")));
    gate(
        "audience-epoch",
        "the ledger is owned for a time, and the intent is of no owner",
        "EXE-105",
        with(
            good,
            "audience",
            Plot.json("{\"epoch\":7,\"incarnation\":1,\"origin\":\"writ.example/log\"}")));
  }

  private void holders(JsonValue.Obj good) {
    for (String name : List.of("bob", "eve", "rita", "guardian")) {
      gate(
          "holder-" + name,
          "somebody else hands it in",
          "EXE-106",
          with(good, "submitter", JsonValue.of(TestKeys.key(name).kid())));
    }
    gate(
        "holder-deputy",
        "a role that policy names may hand it in",
        "ok",
        with(good, "submitter", JsonValue.of(TestKeys.key("deputy").kid())));
  }

  private void times(JsonValue.Obj good, Envelope intent) {
    gate("expiry-last", "the last millisecond", "ok", at(good, Plot.START.plusMillis(299_999)));
    gate(
        "expiry",
        "the first millisecond after",
        "EXE-107",
        at(good, Plot.START.plusMillis(300_000)));
    gate(
        "issued-ahead",
        "two seconds early are tolerated",
        "ok",
        at(good, Plot.START.minusMillis(2000)));
    gate(
        "issued-too-far-ahead",
        "more than two seconds early",
        "EXE-107",
        at(good, Plot.START.minusMillis(2001)));
    gate(
        "expiry-longer-than-may-be",
        "an intent that says it lives for a day lives five minutes",
        "EXE-107",
        at(
            with(
                good,
                "intent",
                resigned(
                    intent, "expires_at", JsonValue.of("2026-11-22T12:00:00.000Z"), "guardian")),
            Plot.START.plusMillis(300_000)));
  }

  private static JsonValue.Obj at(JsonValue.Obj good, Instant now) {
    return with(good, "now", JsonValue.object().put("t", now).build().get("t"));
  }

  // ---- receipts

  private record Pair(Envelope request, Envelope receipt) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("request", request.toJson())
          .put("receipt", receipt.toJson())
          .build();
    }

    Pair with(Envelope other) {
      return new Pair(request, other);
    }
  }

  private static Pair served(TestHome home, Plot.Ask ask, String signer) {
    Envelope request = signed(ask, signer);
    Answer answer = home.kernel().submit(request.toBytes(), List.of());
    return new Pair(request, answer.served().orElseThrow().envelope());
  }

  /** The input of {@code receipt.chain} in the making. */
  private static final class Chain {
    final ObjectBuilder input = JsonValue.object().put("keys", keys());

    Chain(String run, JsonValue opening, List<Pair> receipts) {
      input
          .put("tenant", "acme")
          .put("run", run)
          .put("opening", opening)
          .putList("receipts", receipts, Pair::toJson);
    }

    Chain closing(Envelope closing) {
      input.put("closing", closing.toJson());
      return this;
    }

    JsonValue.Obj consuming(Envelope... receipts) {
      return input.putList("consumed", List.of(receipts), Envelope::toJson).build();
    }
  }

  private void chain(String name, String about, String wanted, JsonValue.Obj input) {
    made.add(
        new Made(
            "receipt/" + name, about, Optional.empty(), "receipt.chain", input, List.of(wanted)));
  }

  private void attack(String name, long promise, String about, String wanted, JsonValue.Obj input) {
    made.add(
        new Made(
            "adversarial/" + name,
            about,
            Optional.of(promise),
            "receipt.chain",
            input,
            List.of(wanted)));
  }

  private static Event opening(TestHome home, String run) {
    return first(home, run, EventKind.RUN_OPENED);
  }

  private static Event first(TestHome home, String run, String kind) {
    List<Event> found = new ArrayList<>();
    home.kernel()
        .ledger()
        .events(
            new RunId("acme", run),
            0,
            event -> {
              if (event.kind().equals(kind)) {
                found.add(event);
              }
            });
    return found.getFirst();
  }

  /** A receipt with another member, signed by that party. */
  private static Envelope changed(Envelope receipt, String member, JsonValue value, String by) {
    return Envelope.sign(
        receipt.payloadType(), with(document(receipt), member, value), TestKeys.key(by));
  }

  private void receipts(TestHome home) {
    Pair one = served(home, ask("alice", "mail", "n-1"), "alice");
    Pair two = served(home, ask("alice", "mail", "n-2").params("{\"n\":2}"), "alice");
    Pair three = served(home, ask("alice", "calc", "n-3").params("{\"n\":3}"), "alice");
    Pair consuming =
        served(
            home,
            ask("alice", "calc", "n-4")
                .with("run", "run-2")
                .with(
                    "consumes",
                    JsonValue.of(List.of(JsonValue.of(three.receipt().id().toString())))),
            "alice");
    Pair foreign = served(home, ask("eve", "calc", "n-5").with("run", "run-3"), "eve");
    Envelope close =
        Envelope.sign(
            RunClose.TYPE,
            new RunClose("acme", "run-1", Plot.START).toJson(),
            TestKeys.key("alice"));
    home.kernel().closeRun(close);
    Envelope closing =
        home.kernel()
            .ledger()
            .document(first(home, "run-1", EventKind.RUN_CLOSED).body())
            .orElseThrow();
    JsonValue open1 = JsonValue.of(opening(home, "run-1").id().toString());
    JsonValue open2 = JsonValue.of(opening(home, "run-2").id().toString());
    List<Pair> all = List.of(one, two, three);

    chain(
        "empty", "a run without receipts", "ok", new Chain("run-1", open1, List.of()).consuming());
    chain("one", "its first receipt", "ok", new Chain("run-1", open1, List.of(one)).consuming());
    chain("three", "three receipts", "ok", new Chain("run-1", open1, all).consuming());
    chain(
        "closed",
        "three receipts and the closing",
        "ok",
        new Chain("run-1", open1, all).closing(closing).consuming());
    chain(
        "consumes",
        "a receipt that consumes one of another run is later than that",
        "ok",
        new Chain("run-2", open2, List.of(consuming)).consuming(three.receipt()));
    chain(
        "consumes-missing",
        "the consumed receipt is not there",
        "EXE-952",
        new Chain("run-2", open2, List.of(consuming)).consuming());
    chain(
        "consumes-of-another-tenant",
        "the consumed receipt is of another tenant",
        "EXE-953",
        new Chain("run-2", open2, List.of(consuming)).consuming(foreign.receipt()));
    rules(open1, one, two, three);
    signers(open1, one);
    closings(open1, all, closing);
    attacks(open1, open2, all, consuming, closing);
  }

  private void rules(JsonValue open, Pair one, Pair two, Pair three) {
    for (long lamport : List.of(0L, 1L, 3L, 7L)) {
      chain(
          "lamport-" + lamport,
          "the second receipt says lamport " + lamport + " and not 2",
          "EXE-955",
          new Chain(
                  "run-1",
                  open,
                  List.of(
                      one,
                      two.with(
                          changed(two.receipt(), "lamport", JsonValue.of(lamport), "executor"))))
              .consuming());
    }
    chain(
        "region",
        "the second receipt says where it was made",
        "ok",
        new Chain(
                "run-1",
                open,
                List.of(
                    one,
                    two.with(changed(two.receipt(), "region", JsonValue.of("eu-1"), "executor"))))
            .consuming());
    Map<String, String> none =
        Map.of(
            "empty", "",
            "capitals", "EU-1",
            "dash-first", "-eu",
            "space", "eu 1",
            "line-end", "eu-1\n",
            "too-long", "e".repeat(64));
    none.forEach((name, region) ->
        chain(
            "region-" + name,
            "what is said is no region",
            "CAN-023",
            new Chain(
                    "run-1",
                    open,
                    List.of(
                        one,
                        two.with(
                            changed(two.receipt(), "region", JsonValue.of(region), "executor"))))
                .consuming()));
    chain(
        "prev-other",
        "the second receipt does not name the first",
        "EXE-955",
        new Chain(
                "run-1",
                open,
                List.of(one, two.with(changed(two.receipt(), "prev", OTHER, "executor"))))
            .consuming());
    chain(
        "prev-skips",
        "the third receipt names the first",
        "EXE-955",
        new Chain(
                "run-1",
                open,
                List.of(
                    one,
                    two,
                    three.with(
                        changed(
                            three.receipt(),
                            "prev",
                            JsonValue.of(one.receipt().id().toString()),
                            "executor"))))
            .consuming());
    chain(
        "opening-other",
        "the first receipt does not name the run's opening event",
        "EXE-955",
        new Chain("run-1", OTHER, List.of(one)).consuming());
    chain(
        "swapped",
        "the first two are swapped",
        "EXE-955",
        new Chain("run-1", open, List.of(two, one)).consuming());
    chain(
        "twice",
        "a receipt stands there twice",
        "EXE-957",
        new Chain("run-1", open, List.of(one, one)).consuming());
    chain(
        "of-another-request",
        "a receipt beside the request of another",
        "EXE-953",
        new Chain("run-1", open, List.of(new Pair(two.request(), one.receipt()))).consuming());
    for (String member : List.of("effect", "args_hash", "request")) {
      chain(
          "binding-" + member.replace('_', '-'),
          "the receipt's " + member + " is not the request's",
          "EXE-953",
          new Chain(
                  "run-1",
                  open,
                  List.of(one.with(changed(one.receipt(), member, OTHER, "executor"))))
              .consuming());
    }
    chain(
        "binding-subject",
        "the receipt is of another subject",
        "EXE-953",
        new Chain(
                "run-1",
                open,
                List.of(
                    one.with(changed(one.receipt(), "subject", JsonValue.of("bob"), "executor"))))
            .consuming());
    chain(
        "binding-retained",
        "the request wants its output kept, the receipt says it was not",
        "EXE-953",
        new Chain(
                "run-1",
                open,
                List.of(one.with(changed(one.receipt(), "retained", JsonValue.FALSE, "executor"))))
            .consuming());
    for (String member : List.of("tenant", "run")) {
      chain(
          "of-another-" + member,
          "a receipt of another " + member,
          "EXE-952",
          new Chain(
                  "run-1",
                  open,
                  List.of(
                      one.with(changed(one.receipt(), member, JsonValue.of("other"), "executor"))))
              .consuming());
    }
    chain(
        "request-for-receipt",
        "a request in the place of a receipt",
        "EXE-952",
        new Chain("run-1", open, List.of(new Pair(one.request(), one.request()))).consuming());
  }

  private void signers(JsonValue open, Pair one) {
    for (String signer : List.of("alice", "guardian", "operator", "stranger")) {
      chain(
          "signed-by-" + signer,
          "only an executor's key signs receipts",
          "EXE-951",
          new Chain(
                  "run-1",
                  open,
                  List.of(
                      one.with(
                          Envelope.signBytes(
                              one.receipt().payloadType(),
                              one.receipt().payload(),
                              TestKeys.key(signer)))))
              .consuming());
    }
    chain(
        "request-signed-by-executor",
        "an executor's key signs no requests",
        "EXE-951",
        new Chain(
                "run-1",
                open,
                List.of(
                    new Pair(
                        Envelope.signBytes(
                            one.request().payloadType(),
                            one.request().payload(),
                            TestKeys.key("executor")),
                        one.receipt())))
            .consuming());
  }

  private void closings(JsonValue open, List<Pair> all, Envelope closing) {
    chain(
        "closing-counts-another",
        "the closing counts one receipt more",
        "EXE-955",
        new Chain("run-1", open, all)
            .closing(changed(closing, "receipts", JsonValue.of(4), "executor"))
            .consuming());
    chain(
        "closing-names-another",
        "the closing names another last receipt",
        "EXE-955",
        new Chain("run-1", open, all)
            .closing(changed(closing, "last_receipt", OTHER, "executor"))
            .consuming());
    chain(
        "closing-of-another-run",
        "the closing is of another run",
        "EXE-952",
        new Chain("run-1", open, all)
            .closing(changed(closing, "run", JsonValue.of("run-2"), "executor"))
            .consuming());
    chain(
        "closing-signed-by-the-opener",
        "the opener asks for the closing, the executor states it",
        "EXE-951",
        new Chain("run-1", open, all)
            .closing(
                Envelope.signBytes(closing.payloadType(), closing.payload(), TestKeys.key("alice")))
            .consuming());
  }

  private void attacks(
      JsonValue open1, JsonValue open2, List<Pair> all, Pair consuming, Envelope closing) {
    Pair one = all.get(0);
    Pair two = all.get(1);
    Pair three = all.get(2);
    attack(
        "receipt-gap",
        7,
        "the second of three receipts is missing",
        "EXE-955",
        new Chain("run-1", open1, List.of(one, three)).consuming());
    attack(
        "receipt-gap-at-the-front",
        7,
        "the first of three receipts is missing",
        "EXE-955",
        new Chain("run-1", open1, List.of(two, three)).consuming());
    attack(
        "receipt-gap-mended",
        7,
        "the gap is mended by an executor's key that is not enrolled",
        "EXE-951",
        new Chain(
                "run-1",
                open1,
                List.of(
                    one,
                    three.with(
                        changed(
                            three.receipt(),
                            "prev",
                            JsonValue.of(one.receipt().id().toString()),
                            "stranger"))))
            .consuming());
    attack(
        "truncation",
        7,
        "the last receipt of a closed run is missing",
        "EXE-955",
        new Chain("run-1", open1, List.of(one, two)).closing(closing).consuming());
    attack(
        "truncation-recomputed",
        7,
        "the last receipt is missing, and the closing was computed anew by who has no key for it",
        "EXE-951",
        new Chain("run-1", open1, List.of(one, two))
            .closing(
                Envelope.sign(
                    closing.payloadType(),
                    with(
                        with(document(closing), "receipts", JsonValue.of(2)),
                        "last_receipt",
                        JsonValue.of(two.receipt().id().toString())),
                    TestKeys.key("alice")))
            .consuming());
    attack(
        "truncation-of-all",
        7,
        "a closed run with no receipt left",
        "EXE-951",
        new Chain("run-1", open1, List.of())
            .closing(
                Envelope.sign(
                    closing.payloadType(),
                    with(
                        with(document(closing), "receipts", JsonValue.of(0)),
                        "last_receipt",
                        open1),
                    TestKeys.key("stranger")))
            .consuming());
    attack(
        "graft-receipt-of-another-run",
        7,
        "a receipt of another run between those of this one",
        "EXE-952",
        new Chain("run-1", open1, List.of(one, consuming)).consuming(three.receipt()));
    attack(
        "graft-run-under-another-name",
        7,
        "a whole run told as another",
        "EXE-952",
        new Chain("run-2", open1, all).consuming());
    attack(
        "graft-opening",
        7,
        "the receipts of one run behind the opening of another",
        "EXE-955",
        new Chain("run-1", open2, all).consuming());
  }
}
