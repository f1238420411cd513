package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on whose word counts: what pins say, and where in the log keys
 * are enrolled, revoked and out of their window, and tools governed. All of them are written by who
 * holds every key: each digest, chain, signature and proof fits.
 */
final class TrustVectors {
  private static final Instant EARLY = Instant.parse("2026-02-01T00:00:00.000Z");
  private static final Instant LATE = Instant.parse("2029-01-01T00:00:00.000Z");

  /** When alice's key is revoked in the latest bundle. */
  private static final Instant REVOKED = revokedAt();

  private static final TestParty ALICE =
      new TestParty("alice", KeyRole.AGENT, Optional.of(Plot.TENANT));

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    TrustVectors vectors = new TrustVectors();
    vectors.holders();
    vectors.holders("role", new TestParty("ci", KeyRole.SURFACE, Optional.of(Plot.TENANT)));
    vectors.holders("tenant", new TestParty("eve", KeyRole.AGENT, Optional.of("other")));
    vectors.holders("subject", new TestParty("bob", KeyRole.AGENT, Optional.of(Plot.TENANT)));
    vectors.revocations();
    vectors.windows();
    vectors.algorithms();
    vectors.placesInTheLog();
    vectors.governance();
    vectors.shares();
    return vectors.made;
  }

  /** The bundles that pins are held against, by their file names. */
  static SortedMap<String, byte[]> files() {
    TreeMap<String, byte[]> files = new TreeMap<>();
    files.put("bundle/lean-closed.writ", FullRun.lean().closed);
    files.put("bundle/lean-latest.writ", FullRun.lean().latest);
    return files;
  }

  private static Instant revokedAt() {
    return FullRun.remade(FullRun.lean().latest).steps.stream()
        .filter(step -> step.kind.equals(EventKind.KEY_REVOKED))
        .findFirst()
        .orElseThrow()
        .at;
  }

  // ---- pins

  private static TrustedKey with(
      TrustedKey key, Instant from, Instant end, Optional<Instant> revoked) {
    return new TrustedKey(
        key.key(), key.role(), key.tenant(), key.subject(), from, Optional.of(end), revoked);
  }

  static UnaryOperator<TrustedKey> revoked(Instant at) {
    return key -> with(key, key.notBefore(), key.notAfter().orElseThrow(), Optional.of(at));
  }

  static UnaryOperator<TrustedKey> from(Instant at) {
    return key -> with(key, at, key.notAfter().orElseThrow(), Optional.empty());
  }

  static UnaryOperator<TrustedKey> until(Instant at) {
    return key -> with(key, key.notBefore(), at, Optional.empty());
  }

  private static UnaryOperator<TrustedKey> held(KeyRole role, String tenant, String subject) {
    return key ->
        new TrustedKey(
            key.key(),
            role,
            Optional.ofNullable(tenant),
            subject,
            key.notBefore(),
            key.notAfter(),
            Optional.empty());
  }

  /** Everybody's key is pinned as it is enrolled, one of them otherwise. */
  private static ObjectBuilder pinned(String file, String name, UnaryOperator<TrustedKey> change) {
    return JsonValue.object()
        .put("bundle_file", file)
        .putList(
            "keys",
            FullRun.PARTIES,
            party ->
                party.name().equals(name)
                    ? change.apply(party.trusted()).toJson()
                    : party.trusted().toJson());
  }

  private void add(String name, String about, String wanted, ObjectBuilder input) {
    made.add(Made.bundle(name, about, wanted, input));
  }

  private void pins(
      String name, String about, String wanted, String who, UnaryOperator<TrustedKey> change) {
    add("pins-" + name, about, wanted, pinned("lean-closed.writ", who, change));
  }

  private void latest(
      String name, String about, String wanted, String who, UnaryOperator<TrustedKey> change) {
    add("pins-" + name, about, wanted, pinned("lean-latest.writ", who, change));
  }

  private void holders() {
    pins("all", "everybody is pinned as enrolled", "ok", "", key -> key);
    pins(
        "other-role",
        "the guardian's key is pinned as an executor's",
        "RPL-080",
        "guardian",
        held(KeyRole.EXECUTOR, null, "guardian"));
    pins(
        "other-tenant",
        "an agent's key is pinned as one of another tenant",
        "RPL-080",
        "alice",
        held(KeyRole.AGENT, "other", "alice"));
    pins(
        "other-subject",
        "an agent's key is pinned as somebody else's",
        "RPL-080",
        "alice",
        held(KeyRole.AGENT, "acme", "bob"));
    pins(
        "founder-of-a-tenant",
        "the founding operator's key is pinned as one of a tenant",
        "RPL-080",
        "operator",
        held(KeyRole.OPERATOR, "acme", "operator"));
    pins(
        "log-in-another-role",
        "the log's key is pinned as a guardian's",
        "RPL-041",
        "log",
        held(KeyRole.GUARDIAN, null, "log"));
    pins(
        "holder-of-a-key-not-used",
        "a pin of a key that signed nothing here says nothing",
        "ok",
        "bob",
        held(KeyRole.SURFACE, "acme", "bob"));
  }

  private void revocations() {
    for (String name :
        List.of(
            "operator",
            "owner",
            "log",
            "guardian",
            "executor",
            "alice",
            "rita",
            "boss",
            "ci",
            "pub",
            "ada")) {
      pins(
          "revoked-" + name,
          name + "'s key is pinned as revoked, and the log does not show it",
          "RPL-081",
          name,
          revoked(LATE));
    }
    pins("revoked-not-used", "a revoked key that signed nothing here", "ok", "bob", revoked(EARLY));
    latest("shown", "the log shows the revocation", "ok", "alice", revoked(REVOKED));
    latest(
        "shown-earlier",
        "the log shows it earlier than the pins say",
        "ok",
        "alice",
        revoked(LATE));
    latest(
        "shown-later",
        "the log shows it later than the pins say, and nothing was signed between",
        "ok",
        "alice",
        revoked(REVOKED.minusMillis(1)));
    Instant last = FullRun.remade(FullRun.lean().closed).steps.getLast().at;
    latest(
        "signed-then",
        "the last of what it signed is at the time that the pins say, and before the log's",
        "RPL-081",
        "alice",
        revoked(last));
    latest(
        "signed-before",
        "the last of what it signed is a moment before the time that the pins say",
        "ok",
        "alice",
        revoked(last.plusMillis(1)));
    latest(
        "signed-between",
        "it signed after the time that the pins say and before the log's",
        "RPL-081",
        "alice",
        revoked(Plot.START.plusSeconds(125)));
    latest(
        "shown-of-another",
        "the log shows the revocation of another key",
        "RPL-081",
        "rita",
        revoked(LATE));
  }

  private void windows() {
    for (String name : List.of("operator", "log", "guardian", "alice", "boss", "ci", "ada")) {
      pins(
          "ended-" + name,
          "the pinned window of " + name + "'s key ended before it signed",
          "RPL-082",
          name,
          until(EARLY));
      pins(
          "not-begun-" + name,
          "the pinned window of " + name + "'s key begins after it signed",
          "RPL-082",
          name,
          from(LATE));
    }
    pins("window-of-a-key-not-used", "one that signed nothing", "ok", "bob", until(EARLY));
    Instant first =
        FullRun.remade(FullRun.lean().closed).steps.stream()
            .filter(step -> step.kind.equals(EventKind.REQUEST_RECEIVED))
            .findFirst()
            .orElseThrow()
            .at;
    Instant last = FullRun.remade(FullRun.lean().closed).steps.getLast().at;
    pins("begins-then", "a window begins with its first instant", "ok", "alice", from(first));
    pins(
        "begins-a-moment-later",
        "the first of what it signed is before the window",
        "RPL-082",
        "alice",
        from(first.plusMillis(1)));
    pins("ends-then", "a window ends before its last instant", "RPL-082", "alice", until(last));
    pins(
        "ends-a-moment-later",
        "the last of what it signed is in the window",
        "ok",
        "alice",
        until(last.plusMillis(1)));
    pins(
        "log-ends-then",
        "the checkpoint is no older than the last event that it covers",
        "RPL-082",
        "log",
        until(last));
  }

  private void algorithms() {
    JsonValue both = Plot.json("{\"guardian\":[\"Ed25519\",\"ML-DSA-65\"]}");
    add(
        "pins-algorithms",
        "the pins require two algorithms of the guardian, and it signs with one",
        "RPL-083",
        pinned("lean-closed.writ", "", key -> key).put("required_algorithms", both));
    add(
        "pins-algorithms-of-nobody-here",
        "the pins require two algorithms of a role that signed nothing here",
        "ok",
        pinned("lean-closed.writ", "", key -> key)
            .put("required_algorithms", Plot.json("{\"surface\":[\"ML-DSA-65\"]}")));
    forms();
  }

  /** Trust files that are none. */
  private void forms() {
    String[][] algorithms = {
      {"none", "{\"guardian\":[]}", "CAN-023"},
      {"twice", "{\"guardian\":[\"Ed25519\",\"Ed25519\"]}", "CAN-023"},
      {"unknown", "{\"guardian\":[\"RSA\"]}", "CAN-023"},
      {"no-list", "{\"guardian\":\"Ed25519\"}", "CAN-022"},
      {"of-no-role", "{\"nobody\":[\"Ed25519\"]}", "CAN-021 or CAN-023"}
    };
    for (String[] each : algorithms) {
      add(
          "pins-algorithms-" + each[0],
          "required algorithms that are none: " + each[1],
          each[2],
          pinned("lean-closed.writ", "", key -> key)
              .put("required_algorithms", Plot.json(each[1])));
    }
    add(
        "pins-no-list",
        "pins that are no list",
        "CAN-022",
        JsonValue.object().put("bundle_file", "lean-closed.writ").put("keys", "none"));
    JsonValue.Obj alice = ALICE.trusted().toJson();
    add(
        "pins-window-of-no-time",
        "a pinned window that ends when it begins",
        "CAN-023",
        JsonValue.object()
            .put("bundle_file", "lean-closed.writ")
            .put(
                "keys",
                JsonValue.of(
                    List.of(set("writ_not_after", alice.get("writ_not_before")).apply(alice)))));
    add(
        "pins-twice",
        "a key that is pinned twice",
        "CAN-056",
        JsonValue.object()
            .put("bundle_file", "lean-closed.writ")
            .put("keys", JsonValue.of(List.of(alice, alice))));
  }

  /** One document, two keys of one algorithm that differ in one thing: whose it is, stays open. */
  private void holders(String name, TestParty second) {
    TestParty first = ALICE;
    Envelope envelope =
        Envelope.sign(
            PayloadTypes.of("request"),
            Plot.json("{\"a\":1}"),
            TestKeys.key(first.name()),
            TestKeys.key(second.name()));
    made.add(
        new Made(
            "adversarial/two-holders-" + name,
            "two keys sign one document, of another " + name,
            Optional.of(6L),
            "trust.verify",
            JsonValue.object()
                .put("at", "2026-11-21T12:00:00.000Z")
                .put("envelope_b64", StrictBase64.encode(envelope.toBytes()))
                .put("keys", JsonValue.of(List.of(first.trusted().toJson(), held(second).toJson())))
                .put("payload_type", PayloadTypes.of("request"))
                .build(),
            List.of("CAN-063")));
  }

  /** Under the first one's name. */
  private static TrustedKey held(TestParty second) {
    TrustedKey key = second.trusted();
    return new TrustedKey(
        key.key(),
        key.role(),
        key.tenant(),
        second.name().equals("bob") ? "bob" : "alice",
        key.notBefore(),
        key.notAfter(),
        key.revokedAt());
  }

  // ---- the log

  private void forged(String name, String about, String wanted, Consumer<Remade> change) {
    forged(name, about, wanted, FullRun.lean().latest, change);
  }

  private void forged(
      String name, String about, String wanted, byte[] bundle, Consumer<Remade> change) {
    Remade remade = FullRun.remade(bundle);
    change.accept(remade);
    add(
        name,
        about,
        wanted,
        JsonValue.object().put("bundle_b64", StrictBase64.encode(remade.toBytes())));
  }

  static int place(Remade remade, String kind, Predicate<JsonValue.Obj> body) {
    for (int i = 0; i < remade.steps.size(); i++) {
      Remade.Step step = remade.steps.get(i);
      if (step.kind.equals(kind) && body.test(remade.document(step.body))) {
        return i;
      }
    }
    throw new IllegalStateException("no " + kind);
  }

  static Predicate<JsonValue.Obj> saying(String... texts) {
    return document -> List.of(texts).stream().allMatch(document.toString()::contains);
  }

  static Digest body(Remade remade, String kind, String... texts) {
    return remade.steps.get(place(remade, kind, saying(texts))).body;
  }

  static String kid(String name) {
    return TestKeys.key(name).kid();
  }

  static UnaryOperator<JsonValue.Obj> set(String member, JsonValue value) {
    return document -> {
      TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
      members.put(member, value);
      return new JsonValue.Obj(members);
    };
  }

  static UnaryOperator<JsonValue.Obj> set(String member, String value) {
    return set(member, JsonValue.of(value));
  }

  static UnaryOperator<JsonValue.Obj> in(String outer, UnaryOperator<JsonValue.Obj> change) {
    return document ->
        set(outer, change.apply((JsonValue.Obj) document.get(outer))).apply(document);
  }

  /** A change of the system run, brought in before the first event of the run, two minutes ago. */
  private static void change(Remade remade, String kind, JsonValue detail) {
    int at = 0;
    while (remade.steps.get(at).journal != Journal.RUN) {
      at++;
    }
    change(remade, at, kind, detail);
  }

  static void change(Remade remade, int at, String kind, JsonValue detail) {
    Instant time = remade.steps.get(at - 1).at;
    JsonValue change = new SystemChange(kind, (JsonValue.Obj) detail, time).toJson();
    remade.bringSystemEvent(
        at, time, kind, remade.bring(SystemChange.TYPE, change, List.of(kid("operator"))));
  }

  private static Consumer<Remade> revoke(String name) {
    return remade ->
        change(remade, EventKind.KEY_REVOKED, JsonValue.object().put("kid", kid(name)).build());
  }

  private static Consumer<Remade> enrolled(String name, UnaryOperator<JsonValue.Obj> change) {
    return remade ->
        remade.change(body(remade, EventKind.KEY_ENROLLED, kid(name)), in("detail", change));
  }

  private void placesInTheLog() {
    byte[] closed = FullRun.lean().closed;
    for (String name : List.of("guardian", "executor", "alice", "rita")) {
      forged(
          "revoked-before-" + name,
          name + "'s key signs a document that comes after its revocation",
          "EXE-951",
          closed,
          revoke(name));
    }
    for (String name : List.of("boss", "ci")) {
      forged(
          "revoked-before-" + name,
          name + "'s key signs what a request brings after its revocation",
          "EXE-951 or EXE-956",
          closed,
          revoke(name));
    }
    forged(
        "revoked-before-log",
        "the checkpoint is signed by a log key that was revoked before",
        "RPL-040",
        closed,
        revoke("log"));
    forged(
        "revoked-before-operator",
        "a revoked operator changes something",
        "CAN-055",
        closed,
        remade -> {
          revoke("operator").accept(remade);
          revoke("bob").accept(remade);
        });
    forged(
        "window-ended",
        "an agent's window ended before it asked",
        "EXE-951",
        closed,
        enrolled("alice", set("writ_not_after", "2026-11-21T12:01:00.000Z")));
    forged(
        "window-not-begun",
        "a guardian's window begins after it decided",
        "EXE-951",
        closed,
        enrolled("guardian", set("writ_not_before", "2027-01-01T00:00:00.000Z")));
    forged(
        "window-of-an-operator",
        "an operator's window ended before what it changed",
        "CAN-054",
        closed,
        remade -> {
          revoke("bob").accept(remade);
          enrolled("operator", set("writ_not_after", "2026-11-21T12:00:00.001Z")).accept(remade);
        });
    forged(
        "role-of-a-guardian",
        "decisions are signed by a key that is enrolled as an executor's",
        "EXE-951",
        closed,
        enrolled("guardian", set("writ_role", "executor")));
    forged(
        "role-of-a-founder",
        "the first key is no operator's",
        "CAN-053 or EXE-004 or EXE-950",
        closed,
        enrolled("operator", set("writ_role", "guardian")));
    forged(
        "role-of-the-log",
        "the checkpoint is signed by a key that is enrolled as a guardian's",
        "RPL-040",
        closed,
        enrolled("log", set("writ_role", "guardian")));
    Instant last = FullRun.remade(closed).steps.getLast().at;
    forged(
        "log-key-ends-then",
        "the log's key ends at the time of the last event that its checkpoint covers",
        "RPL-040",
        closed,
        enrolled("log", set("writ_not_after", Timestamps.format(last))));
    forged(
        "log-key-ends-a-moment-later",
        "it ends a moment after that",
        "ok",
        closed,
        enrolled("log", set("writ_not_after", Timestamps.format(last.plusMillis(1)))));
    forged(
        "log-key-not-begun",
        "the log's key begins a moment after that",
        "RPL-040",
        closed,
        enrolled("log", set("writ_not_before", Timestamps.format(last.plusMillis(1)))));
    forged(
        "policy-by-an-operator",
        "a policy is signed by a key that is no policy owner's",
        "CAN-053",
        closed,
        remade ->
            remade.signedBy(body(remade, EventKind.POLICY_ACTIVATED), List.of(kid("operator"))));
    forged(
        "enrolled-after",
        "a guardian's key is enrolled after it decided",
        "EXE-951",
        closed,
        remade ->
            remade.steps.addLast(
                remade.steps.remove(
                    place(remade, EventKind.KEY_ENROLLED, saying(kid("guardian"))))));
    forged(
        "prohibited-before",
        "a tool is dispatched long after it was prohibited",
        "EXE-954",
        closed,
        remade ->
            change(
                remade,
                EventKind.TOOL_REVOKED,
                Plot.json("{\"tool\":\"mail\",\"version\":\"1.0.0\"}")));
    forged(
        "approval-of-another-policy",
        "an approval that a decision counts names another policy",
        "EXE-956",
        closed,
        remade ->
            remade.change(
                body(remade, EventKind.APPROVAL_RECEIVED),
                set("policy", Digest.sha256().toString())));
    forged(
        "approval-by-who-asks",
        "the agent approves its own request",
        "EXE-951",
        closed,
        remade ->
            remade.signedBy(body(remade, EventKind.APPROVAL_RECEIVED), List.of(kid("alice"))));
    forged(
        "made-again",
        "nothing is changed: what makes the others does nothing else",
        "ok",
        closed,
        remade -> {});
  }

  private void governance() {
    governed("made-again", "nothing is changed", "ok", remade -> {});
    governed(
        "approval-missing",
        "one approver fewer than policy asks for",
        "EXE-917",
        remade -> remade.steps.remove(place(remade, EventKind.TOOL_APPROVED, saying("ben"))));
    governed(
        "approver-revoked",
        "the word of an approver whose key was revoked before the staging",
        "EXE-917",
        remade ->
            change(
                remade,
                place(remade, EventKind.TOOL_STAGED, saying("canary")),
                EventKind.KEY_REVOKED,
                JsonValue.object().put("kid", kid("ben")).build()));
    governed(
        "rejected",
        "one of the words is a rejection",
        "EXE-917",
        remade ->
            remade.change(body(remade, EventKind.TOOL_APPROVED, "ben"), set("verdict", "reject")));
    governed(
        "role-not-held",
        "an approver speaks in a role that policy does not give",
        "EXE-916",
        remade ->
            remade.change(body(remade, EventKind.TOOL_APPROVED, "ben"), set("role", "other")));
    governed(
        "in-the-name-of-another",
        "an approver speaks in the name of another",
        "EXE-916",
        remade ->
            remade.change(body(remade, EventKind.TOOL_APPROVED, "ben"), set("approver", "cyd")));
    governed(
        "twice-by-one",
        "one approver speaks twice",
        "EXE-914",
        remade -> {
          Digest ben = body(remade, EventKind.TOOL_APPROVED, "ben");
          remade.change(ben, set("approver", "ada"));
          remade.signedBy(ben, List.of(kid("ada")));
        });
    governed(
        "of-a-tenant",
        "an approver of one tenant speaks for all",
        "CAN-053",
        remade -> {
          Digest ben = body(remade, EventKind.TOOL_APPROVED, "ben");
          remade.change(ben, set("approver", "rita"));
          remade.signedBy(ben, List.of(kid("rita")));
        });
    governed(
        "not-validated",
        "the validation is not there",
        "EXE-917",
        remade -> remade.steps.remove(place(remade, EventKind.TOOL_VALIDATED, saying("words"))));
    governed(
        "validation-failed",
        "the validation found something",
        "EXE-917",
        remade ->
            remade.change(
                body(remade, EventKind.TOOL_VALIDATED),
                in(
                    "detail",
                    set(
                        "findings",
                        JsonValue.of(
                            List.of(
                                Plot.json(
                                    "{\"code\":\"TOL-211\",\"found\":\"socket\",\"place\":\"a\"}")))))));
    governed(
        "validation-of-another-package",
        "the validation is of another package",
        "EXE-915",
        remade ->
            remade.change(
                body(remade, EventKind.TOOL_VALIDATED),
                in("detail", set("package", Digest.sha256().toString()))));
    governed(
        "stage-skipped",
        "from a canary to deprecated",
        "EXE-914",
        remade ->
            remade.change(
                body(remade, EventKind.TOOL_STAGED, "active"),
                in("detail", set("stage", "deprecated"))));
    governed(
        "stage-not-later",
        "a stage is said at the time of the one before",
        "EXE-914",
        remade ->
            remade.change(
                body(remade, EventKind.TOOL_STAGED, "active"),
                set(
                    "changed_at",
                    remade
                        .document(body(remade, EventKind.TOOL_STAGED, "canary"))
                        .get("changed_at"))));
    governed(
        "canary-of-another-tenant",
        "a decision allows a canary of another tenant's",
        "EXE-956",
        remade -> {
          UnaryOperator<JsonValue.Obj> other =
              in("canary", set("tenants", JsonValue.of(List.of(JsonValue.of("other")))));
          remade.change(body(remade, EventKind.TOOL_STAGED, "canary"), in("detail", other));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "canary"), in("inputs", in("governed", other)));
        });
    governed(
        "not-recorded",
        "a decision does not say what governance said of its tool",
        "EXE-956",
        remade ->
            remade.change(
                body(remade, EventKind.DECISION_MADE, "canary"),
                in(
                    "inputs",
                    inputs -> {
                      TreeMap<String, JsonValue> members = new TreeMap<>(inputs.members());
                      members.remove("governed");
                      return new JsonValue.Obj(members);
                    })));
    governed(
        "prohibited-before",
        "a version is allowed and dispatched that was prohibited two minutes before",
        "EXE-954 or EXE-956",
        remade ->
            change(
                remade,
                EventKind.TOOL_REVOKED,
                Plot.json("{\"tool\":\"words\",\"version\":\"1.0.0\"}")));
  }

  /** The places of acme's alice and of her run-1 among a hundred, for words 1.0.0. */
  private static final int ALICE_PLACE = 32;

  private static final int RUN_PLACE = 26;

  private static UnaryOperator<JsonValue.Obj> share(String by, int percent) {
    return set("canary", Plot.json("{" + by + "\"percent\":" + percent + ",\"tenants\":[]}"));
  }

  private static final String BY_SUBJECT = "\"by\":\"subject\",";
  private static final String BY_RUN = "";

  /** The share that the operator stated, and the one that the decision says it saw. */
  private void shared(
      String name,
      String about,
      String wanted,
      UnaryOperator<JsonValue.Obj> staged,
      UnaryOperator<JsonValue.Obj> seen) {
    governed(
        "canary-" + name,
        about,
        wanted,
        remade -> {
          remade.change(body(remade, EventKind.TOOL_STAGED, "canary"), in("detail", staged));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "canary"), in("inputs", in("governed", seen)));
        });
  }

  private void shares() {
    UnaryOperator<JsonValue.Obj> within = share(BY_SUBJECT, ALICE_PLACE + 1);
    UnaryOperator<JsonValue.Obj> outside = share(BY_SUBJECT, ALICE_PLACE);
    shared("by-subject", "the subject's place is below the share", "ok", within, within);
    shared(
        "by-subject-outside", "the subject's place is not below it", "EXE-956", outside, outside);
    shared(
        "by-run",
        "a document from before: the run's place is below, the subject's is not",
        "ok",
        share(BY_RUN, RUN_PLACE + 1),
        share(BY_RUN, RUN_PLACE + 1));
    shared(
        "by-run-outside",
        "a document from before: the run's place is not below the share",
        "EXE-956",
        share(BY_RUN, RUN_PLACE),
        share(BY_RUN, RUN_PLACE));
    shared(
        "by-not-recorded",
        "the decision does not say that the share is of subjects",
        "EXE-956",
        within,
        share(BY_RUN, ALICE_PLACE + 1));
    shared(
        "by-recorded-only",
        "the decision says that the share is of subjects, and nobody else does",
        "EXE-956",
        share(BY_RUN, ALICE_PLACE + 1),
        within);
    shared(
        "by-something",
        "a share of something else",
        "CAN-023",
        share("\"by\":\"run\",", 50),
        share("\"by\":\"run\",", 50));
    governed(
        "by-run-after-by-subject",
        "a share of runs is staged where one of subjects was before",
        "EXE-984",
        remade -> {
          remade.change(body(remade, EventKind.TOOL_STAGED, "canary"), in("detail", within));
          change(
              remade,
              place(remade, EventKind.TOOL_STAGED, saying("active")),
              EventKind.TOOL_STAGED,
              share(BY_RUN, 99)
                  .apply(
                      (JsonValue.Obj)
                          remade
                              .document(body(remade, EventKind.TOOL_STAGED, "canary"))
                              .get("detail")));
        });
    governed(
        "by-subject-of-another",
        "the decision is in the name of a subject whose place is below",
        "EXE-953 or EXE-956",
        remade -> {
          remade.change(body(remade, EventKind.TOOL_STAGED, "canary"), in("detail", outside));
          Digest decision = body(remade, EventKind.DECISION_MADE, "canary");
          remade.change(decision, in("inputs", in("governed", outside)));
          remade.change(decision, set("subject", BELOW_ALICE));
        });
    governed(
        "by-owner-of-nobody",
        "the decision names an owner of the run whose place is below",
        "EXE-956",
        remade -> {
          remade.change(body(remade, EventKind.TOOL_STAGED, "canary"), in("detail", outside));
          Digest decision = body(remade, EventKind.DECISION_MADE, "canary");
          remade.change(decision, in("inputs", in("governed", outside)));
          remade.change(decision, in("inputs", set("owner", BELOW_ALICE)));
        });
  }

  /** Of acme too, at place 19. */
  private static final String BELOW_ALICE = "boss";

  private void governed(String name, String about, String wanted, Consumer<Remade> change) {
    forged("governance-" + name, about, wanted, FullRun.lean().closed, change);
  }
}
