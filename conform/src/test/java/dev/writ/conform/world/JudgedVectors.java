package dev.writ.conform.world;

import static dev.writ.conform.world.GovernedVectors.without;
import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.place;
import static dev.writ.conform.world.TrustVectors.saying;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.document.Delegation;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.verify.bundle.Remade;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on what a decision may say: how its request was let in, what it
 * counts, whose run it is, and which tool runs; and the part of golden-vectors/runs on what shows
 * only where it is judged again, which a verifier without the policy language cannot say.
 */
final class JudgedVectors {
  private static final String JUDGEMENT = "EXE-956";
  private static final String ORDER = "EXE-954";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    JudgedVectors vectors = new JudgedVectors();
    vectors.again();
    vectors.letIn();
    vectors.claims();
    vectors.owners();
    vectors.approvals();
    vectors.delegations();
    vectors.tools();
    vectors.policies();
    vectors.undefinedNames();
    vectors.observed();
    vectors.notAgain();
    vectors.behindARule();
    return vectors.made;
  }

  private void add(
      String name, String about, String wanted, Supplier<byte[]> bundle, Consumer<Remade> change) {
    made.add(
        Made.bundle(
            "judged-" + name, about, wanted, Made.inline(changed(bundle, change).toBytes())));
  }

  private static Remade changed(Supplier<byte[]> bundle, Consumer<Remade> change) {
    Remade remade = ShortRuns.remade(bundle.get());
    change.accept(remade);
    return remade;
  }

  /** What is found by judging again alone. */
  private void replayed(
      String name, String about, Supplier<byte[]> bundle, Consumer<Remade> change) {
    made.add(
        new Made(
            "runs/judged-" + name,
            about,
            Optional.empty(),
            "bundle.replay",
            Made.inline(changed(bundle, change).toBytes()).build(),
            List.of(JUDGEMENT)));
  }

  private static int at(Remade remade, String kind, String... texts) {
    return place(remade, kind, saying(texts));
  }

  /** The first decision on the request of a nonce. */
  private static Digest decision(Remade remade, String nonce) {
    return remade.steps.get(at(remade, EventKind.REQUEST_RECEIVED, nonce) + 1).body;
  }

  private static Consumer<Remade> decision(String nonce, UnaryOperator<JsonValue.Obj> change) {
    return remade -> remade.change(decision(remade, nonce), change);
  }

  private static Consumer<Remade> policy(UnaryOperator<JsonValue.Obj> change) {
    return remade -> remade.change(body(remade, EventKind.POLICY_ACTIVATED), change);
  }

  /** One check of a decision says something else. */
  private static UnaryOperator<JsonValue.Obj> check(int number, UnaryOperator<JsonValue.Obj> to) {
    return decision -> {
      List<JsonValue> checks = new ArrayList<>(((JsonValue.Arr) decision.get("checks")).items());
      checks.set(number, to.apply((JsonValue.Obj) checks.get(number)));
      return set("checks", JsonValue.of(checks)).apply(decision);
    };
  }

  private static UnaryOperator<JsonValue.Obj> detail(int number) {
    return check(number, set("detail", "something else"));
  }

  private static final int PROOF = 0;
  private static final int ENVELOPE = 3;

  // ---- vectors

  /**
   * The last check of a denial is another one, and the manifest that it read is not here. That
   * check may say anything that it can say; what else is in the decision still follows from the
   * request and the checks.
   */
  private void notAgain() {
    notAgain(
        "otherwise",
        "its check has another code, and so has the denial",
        "ok",
        check(ENVELOPE, set("code", "GRD-401")).andThen(set("code", "GRD-401"))::apply);
    notAgain(
        "code", "the denial has another code than its check", JUDGEMENT, set("code", "GRD-401"));
    notAgain(
        "verdict",
        "its check passes",
        JUDGEMENT,
        check(ENVELOPE, set("outcome", "pass").andThen(without("code"))::apply));
    notAgain(
        "not-reached",
        "its check was not reached, though all before it pass",
        JUDGEMENT,
        check(ENVELOPE, set("outcome", "not_reached")));
    notAgain(
        "refused-without-code",
        "its check refuses, and has no code for that",
        JUDGEMENT,
        check(ENVELOPE, without("code")).andThen(without("code"))::apply);
    notAgain(
        "passed-with-a-code",
        "its check passes and has a code all the same, and what was denied is allowed",
        JUDGEMENT,
        check(ENVELOPE, set("outcome", "pass"))
                .andThen(set("verdict", "ALLOW"))
                .andThen(without("code"))
            ::apply);
    notAgain(
        "checks-left-out",
        "it has its first check alone, which denies what a rule allows",
        JUDGEMENT,
        decision -> {
          JsonValue first = ((JsonValue.Arr) decision.get("checks")).items().getFirst();
          JsonValue denied =
              set("outcome", "refuse").andThen(set("code", "GRD-102")).apply((JsonValue.Obj) first);
          return set("checks", JsonValue.of(List.of(denied)))
              .andThen(set("code", "GRD-102"))
              .apply(decision);
        });
    notAgain(
        "check-of-another-name",
        "its last check has the name of another",
        JUDGEMENT,
        check(ENVELOPE, set("check", "budget")));
  }

  private void behindARule() {
    add(
        "not-again-behind-a-rule",
        "a rule denies, and the check of a manifest that is not here denies, too",
        JUDGEMENT,
        ShortRuns.DENIED,
        decision(
            "n-3",
            check(ENVELOPE, set("outcome", "refuse").andThen(set("code", "GRD-401"))::apply)));
    add(
        "observed-hard-and-allowed",
        "what a manifest denies is let pass and allowed, under a policy that only observes",
        JUDGEMENT,
        ShortRuns.OBSERVED_APART,
        decision(
            "n-2",
            check(ENVELOPE, set("outcome", "would_refuse"))
                    .andThen(set("verdict", "ALLOW"))
                    .andThen(without("code"))
                ::apply));
  }

  private void notAgain(
      String name, String about, String wanted, UnaryOperator<JsonValue.Obj> change) {
    add("not-again-" + name, about, wanted, ShortRuns.DENIED, decision("n-4", change));
  }

  private void observed() {
    add(
        "observed",
        "a policy that only observes lets pass what its rules would deny or have approved",
        "ok",
        ShortRuns.OBSERVED,
        _ -> {});
    add(
        "observed-unsaid",
        "a decision under such a policy does not say what would be",
        JUDGEMENT,
        ShortRuns.OBSERVED,
        decision("n-2", without("observed")));
    add(
        "observed-otherwise",
        "it says that the policy would allow what a rule would deny",
        JUDGEMENT,
        ShortRuns.OBSERVED,
        decision("n-2", set("observed", JsonValue.object().put("verdict", "ALLOW").build())));
    add(
        "observed-hard",
        "it lets pass what the tool's manifest denies, which is no rule and no role",
        JUDGEMENT,
        ShortRuns.OBSERVED,
        decision("n-4", check(ENVELOPE, set("outcome", JsonValue.of("would_refuse")))));
    add(
        "observed-where-enforced",
        "a decision lets pass what a rule denies, under a policy that does not only observe",
        JUDGEMENT,
        ShortRuns.DENIED,
        decision("n-3", check(PROOF, set("outcome", JsonValue.of("would_refuse")))));
    replayed(
        "observed-detail",
        "what would be denied says another reason than its rule gives",
        ShortRuns.OBSERVED,
        decision("n-2", detail(PROOF)));
  }

  private void again() {
    replayed(
        "detail-of-a-denial",
        "a denial says another reason than its rule gives",
        ShortRuns.DENIED,
        decision("n-3", detail(PROOF)));
    replayed(
        "detail-of-an-allow",
        "what is allowed says otherwise how its tool's manifest was met",
        ShortRuns.DENIED,
        decision("n-1", detail(ENVELOPE)));
    replayed(
        "detail-by-the-snapshot",
        "a denial says otherwise why its tool's manifest is not met; the snapshot names it",
        ShortRuns.LAPSED,
        decision("n-2", detail(ENVELOPE)));
    add(
        "another-package-then",
        "a denial rests on another package than the one that is here: it cannot be judged again",
        "ok",
        ShortRuns.DENIED,
        decision(
            "n-2",
            set("code", "GRD-401")
                    .andThen(
                        check(
                            ENVELOPE,
                            outcome ->
                                set("code", "GRD-401")
                                    .andThen(
                                        set(
                                            "detail",
                                            "calc 1.0.0, resolved to calc 1.0.0 "
                                                + Digest.sha256()))
                                    .apply(outcome)))
                ::apply));
    add(
        "roles-and-the-last-check",
        "a denial says that who asks has no role, and another reason",
        JUDGEMENT,
        ShortRuns.DENIED,
        decision(
            "n-2",
            detail(ENVELOPE).andThen(in("inputs", set("roles", JsonValue.of(List.of()))))::apply));
  }

  private void letIn() {
    for (long less : List.of(0L, 1L)) {
      add(
          less == 0 ? "as-large-as-may-be" : "too-large",
          "a request has " + less + " bytes more than policy lets in",
          less == 0 ? "ok" : JUDGEMENT,
          ShortRuns.SERVED,
          remade -> {
            long size = ShortRuns.size(remade, body(remade, EventKind.REQUEST_RECEIVED));
            policy(in("limits", set("request_bytes_max", JsonValue.of(size - less))))
                .accept(remade);
          });
    }
    asked("as-old-as-may-be", "300 s before it came in", "ok", -300_000);
    asked("too-old", "300.001 s before it came in", JUDGEMENT, -300_001);
    asked("in-the-skew", "2 s after it came in", "ok", 2000);
    asked("from-the-future", "2.001 s after it came in", JUDGEMENT, 2001);
    add(
        "surface-not-listed",
        "a surface vouches for a subject for which policy does not let it",
        JUDGEMENT,
        ShortRuns.VOUCHED,
        policy(document -> {
          List<JsonValue> all =
              new ArrayList<>(((JsonValue.Arr) document.get("principals")).items());
          all.replaceAll(
              one -> set("surfaces", JsonValue.of(List.of())).apply((JsonValue.Obj) one));
          return set("principals", JsonValue.of(all)).apply(document);
        }));
  }

  private void asked(String name, String about, String wanted, long millis) {
    add(
        name,
        "a request says that it was made " + about,
        wanted,
        ShortRuns.SERVED,
        remade -> {
          int at = at(remade, EventKind.REQUEST_RECEIVED);
          Instant time = remade.steps.get(at).at.plusMillis(millis);
          remade.change(remade.steps.get(at).body, set("requested_at", Timestamps.format(time)));
        });
  }

  private static JsonValue.Obj ran(String tool, boolean succeeded) {
    return JsonValue.object()
        .put("operation", "do")
        .put("succeeded", succeeded)
        .put("tool", tool)
        .build();
  }

  private static UnaryOperator<JsonValue.Obj> history(JsonValue... ran) {
    return in("inputs", set("history", JsonValue.of(List.of(ran))));
  }

  private void claims() {
    add(
        "history-that-was",
        "a decision says what succeeded in the run before it, and what did not",
        "ok",
        ShortRuns.CONSUMING,
        decision("n-2", history(ran("calc", true), ran("mail", false))));
    add(
        "history-that-was-not",
        "a decision says that something succeeded in the run, of which there is no receipt",
        JUDGEMENT,
        ShortRuns.CONSUMING,
        decision("n-2", history(ran("mail", true))));
    add(
        "history-of-another-operation",
        "a decision says that another operation of the tool succeeded",
        JUDGEMENT,
        ShortRuns.CONSUMING,
        decision("n-2", history(set("operation", "text").apply(ran("calc", true)))));
    add(
        "evidence-that-is-not-named",
        "a decision counts evidence that its request does not name",
        "EXE-953 or EXE-956",
        () -> FullRun.lean().closed,
        remade ->
            remade.change(
                body(remade, EventKind.REQUEST_RECEIVED, "n-8"),
                set("evidence", JsonValue.of(List.of()))));
  }

  private void owners() {
    add(
        "owner-is-not-recorded",
        "no decision of a run that a surface opened says whose it is: one from before",
        "ok",
        ShortRuns.VOUCHED,
        decision("n-1", in("inputs", without("owner"))));
    add(
        "owner-of-an-agents-run",
        "a decision says whose a run is that no surface opened",
        JUDGEMENT,
        ShortRuns.SERVED,
        decision("n-1", in("inputs", set("owner", "alice"))));
    add(
        "owner-meets-the-canary",
        "who asks in a shared run does not meet a canary, and whose it is does",
        "ok",
        ShortRuns.CANARY,
        _ -> {});
  }

  private void approvals() {
    add(
        "approval-set-aside",
        "a decision sets aside, with a code, an approval that would count",
        "ok",
        ShortRuns.APPROVED,
        remade -> {
          int approval = at(remade, EventKind.APPROVAL_RECEIVED);
          remade.steps.subList(approval + 2, remade.steps.size()).clear();
          JsonValue.Obj first = remade.document(decision(remade, "n-1"));
          JsonValue aside =
              JsonValue.object()
                  .put("code", "GRD-611")
                  .put("id", remade.steps.get(approval).body)
                  .build();
          remade.change(
              remade.steps.get(approval + 1).body,
              decision ->
                  set("verdict", first.get("verdict"))
                      .andThen(set("code", first.get("code")))
                      .andThen(set("checks", first.get("checks")))
                      .andThen(in("inputs", without("valid_until")))
                      .andThen(in("inputs", set("approvals", JsonValue.of(List.of()))))
                      .andThen(in("inputs", set("ignored", JsonValue.of(List.of(aside)))))
                      .apply(decision));
        });
    seen(
        "approval-of-another-end",
        "a decision holds until another time than the approval says",
        _ -> {},
        decision -> {
          String end = "2026-11-21T12:30:00.000Z";
          return set("valid_until", end)
              .andThen(first("approvals", set("expires_at", end)))
              .apply(decision);
        });
    seen(
        "rejection-counted-as-approval",
        "a decision counts a rejection as an approval",
        remade ->
            remade.change(body(remade, EventKind.APPROVAL_RECEIVED), set("verdict", "reject")),
        inputs -> inputs);
    for (boolean revoked : List.of(false, true)) {
      add(
          revoked ? "rejection-revoked" : "rejection-under-the-policy-before",
          "a rejection under the policy before, which the next one "
              + (revoked ? "revokes" : "does not revoke"),
          revoked ? JUDGEMENT : "ok",
          ShortRuns.APPROVED,
          remade -> {
            int at = at(remade, EventKind.APPROVAL_RECEIVED, "reject");
            Digest rejection = remade.steps.get(at).body;
            List<JsonValue> gone =
                revoked ? List.of(JsonValue.of(rejection.toString())) : List.of();
            Digest next = activate(remade, at + 1, 0, 2, set("revoked", JsonValue.of(gone)));
            remade.change(remade.steps.get(at + 2).body, set("policy", next.toString()));
          });
    }
  }

  /** What the decision that counts the first approval says of it. */
  private void seen(
      String name, String about, Consumer<Remade> change, UnaryOperator<JsonValue.Obj> inputs) {
    add(
        name,
        about,
        JUDGEMENT,
        ShortRuns.APPROVED,
        remade -> {
          change.accept(remade);
          int at = at(remade, EventKind.APPROVAL_RECEIVED) + 1;
          remade.change(remade.steps.get(at).body, in("inputs", inputs));
        });
  }

  private static UnaryOperator<JsonValue.Obj> first(
      String member, UnaryOperator<JsonValue.Obj> change) {
    return object -> {
      List<JsonValue> items = new ArrayList<>(((JsonValue.Arr) object.get(member)).items());
      items.set(0, change.apply((JsonValue.Obj) items.getFirst()));
      return set(member, JsonValue.of(items)).apply(object);
    };
  }

  /** A delegation counts that holds when its request comes in, or when that is judged. */
  private void delegations() {
    delegated("ends-before-it-is-judged", -60_000, 5_000, "ok");
    delegated("begins-before-it-is-judged", 5_000, 60_000, "ok");
    delegated("ends-before-it-comes-in", -60_000, 0, JUDGEMENT);
    delegated("begins-after-it-is-judged", 10_001, 60_000, JUDGEMENT);
  }

  /** A request that is judged ten seconds after it came in. */
  private void delegated(String name, long from, long end, String wanted) {
    add(
        "delegation-" + name,
        "a delegation " + name.replace('-', ' ') + ", ten seconds after it came in",
        wanted,
        ShortRuns.DELEGATED,
        remade -> {
          int at = at(remade, EventKind.REQUEST_RECEIVED);
          Instant received = remade.steps.get(at).at;
          Digest request = remade.steps.get(at).body;
          JsonValue link =
              ((JsonValue.Arr) remade.document(request).get("delegations")).items().getFirst();
          Delegation old = Delegation.read(Envelope.parse(Jcs.write(link)).document());
          Instant until = received.plusMillis(end);
          Delegation other =
              new Delegation(
                  old.tenant(),
                  old.from(),
                  old.to(),
                  old.tools(),
                  received.plusMillis(from),
                  until,
                  old.depth());
          Envelope signed = Envelope.sign(Delegation.TYPE, other.toJson(), TestKeys.key("boss"));
          remade.change(
              request, set("delegations", JsonValue.of(List.<JsonValue>of(signed.toJson()))));
          remade.steps.get(at + 1).at = received.plusSeconds(10);
          String judged = Timestamps.format(received.plusSeconds(10));
          remade.change(
              remade.steps.get(at + 1).body,
              decision ->
                  set("decided_at", judged)
                      .andThen(in("inputs", set("time", judged)))
                      .andThen(in("inputs", set("valid_until", Timestamps.format(until))))
                      .apply(decision));
        });
  }

  // ---- which tool runs

  private static UnaryOperator<JsonValue.Obj> tools(UnaryOperator<List<JsonValue>> change) {
    return policy ->
        set(
                "tools",
                JsonValue.of(
                    change.apply(new ArrayList<>(((JsonValue.Arr) policy.get("tools")).items()))))
            .apply(policy);
  }

  private static UnaryOperator<JsonValue.Obj> ofCalc(UnaryOperator<JsonValue.Obj> change) {
    return tools(all -> {
      all.replaceAll(
          tool -> tool.toString().contains("calc") ? change.apply((JsonValue.Obj) tool) : tool);
      return all;
    });
  }

  /** Lists another version of the tool alone. */
  private static final UnaryOperator<JsonValue.Obj> DELISTED = ofCalc(set("version", "2.0.0"));

  private static UnaryOperator<JsonValue.Obj> listing(String version, Digest packaged) {
    return tools(all -> {
      all.add(
          JsonValue.object()
              .put("name", "words")
              .put("package", packaged)
              .put("stage", "active")
              .put("version", version)
              .build());
      return all;
    });
  }

  private static UnaryOperator<JsonValue.Obj> governing(String... tools) {
    return in(
        "governance",
        set("tools", JsonValue.of(List.of(tools).stream().<JsonValue>map(JsonValue::of).toList())));
  }

  private void tools() {
    add(
        "tool-of-no-policy",
        "a decision allows a tool of which policy lists another version, and lets govern none",
        JUDGEMENT,
        ShortRuns.SERVED,
        policy(DELISTED));
    Remade elsewhere =
        changed(
            GovernedRun::closed,
            remade -> {
              UnaryOperator<JsonValue.Obj> canary =
                  set("canary", new Canary(List.of("other"), 0, true).toJson());
              remade.change(body(remade, EventKind.TOOL_STAGED, "canary"), in("detail", canary));
              remade.change(
                  body(remade, EventKind.DECISION_MADE, "canary"),
                  in("inputs", in("governed", canary)));
            });
    made.add(
        Made.bundle(
            "judged-canary-elsewhere-without-tools",
            "a decision allows a canary of another tenant, and its tool's manifest is not here",
            JUDGEMENT,
            Made.inline(ShortRuns.withoutTools(elsewhere))));
    add(
        "nothing-of-governance",
        "a decision allows a governed tool that nobody submitted, and says nothing of it",
        JUDGEMENT,
        GovernedRun::closed,
        remade -> {
          remade.steps.removeIf(step ->
              step.kind.startsWith("tool.")
                  && remade.document(step.body).toString().contains("words"));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "canary"), in("inputs", without("governed")));
        });
    add(
        "listed-in-another-package",
        "policy lists another version of a governed tool, in another package",
        "ok",
        GovernedRun::closed,
        policy(listing("0.9.0", Digest.sha256())));
    add(
        "listed-since",
        "policy lists a tool that came by governance before, of which its decision says nothing",
        "ok",
        GovernedRun::closed,
        remade -> {
          withoutTheLast(remade);
          int at = at(remade, EventKind.REQUEST_RECEIVED, "n-6");
          Digest next = activate(remade, at, 0, 2, listing("1.0.0", Plot.WORDS.packageDigest()));
          remade.change(
              decision(remade, "n-6"),
              set("policy", next.toString()).andThen(in("inputs", without("governed")))::apply);
        });
  }

  /** Another policy is in force when an effect is dispatched than when it was judged. */
  private void policies() {
    delisted("delisted-long-before", 60_001, ORDER);
    delisted("delisted-a-minute-before", 60_000, "ok");
    add(
        "not-governed-any-more",
        "a tool is dispatched that policy does not let govern for more than a minute",
        ORDER,
        GovernedRun::closed,
        remade -> {
          int at = at(remade, EventKind.EFFECT_DISPATCHED, Plot.WORDS.packageDigest().toString());
          remade.steps.subList(at + 3, remade.steps.size()).clear();
          activate(
              remade,
              at,
              60_001,
              2,
              policy ->
                  governing("other").andThen(listing("9.0.0", Digest.sha256())).apply(policy));
        });
    add(
        "repackaged-and-delisted",
        "a tool is dispatched that policy listed in another package until a moment before",
        ORDER,
        GovernedRun::closed,
        remade -> {
          withoutTheLast(remade);
          int at = at(remade, EventKind.EFFECT_DISPATCHED, "calc");
          Digest next =
              activate(remade, at, 60_001, 2, ofCalc(set("package", Digest.sha256().toString())));
          UnaryOperator<JsonValue.Obj> governed = governing("calc", "words");
          activate(
              remade,
              at + 1,
              30_000,
              3,
              policy ->
                  set("previous", next.toString())
                      .andThen(DELISTED)
                      .andThen(governed)
                      .apply(policy));
        });
  }

  /** Read with the form of a policy, before anything that it says is used. */
  private void undefinedNames() {
    undefinedName("execute-for", "a role", "execute_for", "[\"stranger\"]");
    undefinedName("prices", "a tool", "prices", "{\"calc\":5,\"gone\":1}");
    undefinedName(
        "requirements",
        "an approver's role",
        "requirements",
        "[{\"effect\":{\"tool\":\"calc\"},\"match\":{},\"require\":{\"any\":[{\"cel\":\"true\"},"
            + "{\"approvals\":{\"count\":1,\"role\":\"nobodys\"}}]}}]");
    undefinedName(
        "runs",
        "a principal",
        "runs",
        "{\"idle_max_s\":60,\"shared_by\":[{\"subjects\":[\"stranger\"],\"tenant\":\"acme\"}]}");
    undefinedName(
        "temporal",
        "a tool",
        "temporal",
        "{\"hours\":[],\"order\":[{\"after\":{\"operation\":\"do\",\"tool\":\"gone\"},"
            + "\"effect\":{\"tool\":\"calc\"}}],\"rates\":[]}");
  }

  private void undefinedName(String name, String what, String section, String json) {
    add(
        "undefined-name-in-" + name,
        "a policy in force names " + what + " that nothing in it defines",
        "GRD-510",
        ShortRuns.EVERY_SECTION,
        policy(set(section, Jcs.parse(json.getBytes(StandardCharsets.UTF_8)))));
  }

  private void delisted(String name, long late, String wanted) {
    add(
        name,
        "a tool is dispatched of which policy lists another version since " + late + " ms before",
        wanted,
        ShortRuns.SERVED,
        remade -> {
          int at = at(remade, EventKind.EFFECT_DISPATCHED);
          activate(remade, at, late, 2, DELISTED);
        });
  }

  /** A policy after the first, so many milliseconds before the event at a place. */
  private static Digest activate(
      Remade remade, int at, long before, long version, UnaryOperator<JsonValue.Obj> change) {
    Digest first = body(remade, EventKind.POLICY_ACTIVATED);
    JsonValue.Obj next =
        set("version", JsonValue.of(version))
            .andThen(set("previous", first.toString()))
            .andThen(change)
            .apply(remade.document(first));
    Digest id = remade.bring(SystemState.POLICY_TYPE, next, List.of(kid("owner")));
    remade.bringSystemEvent(
        at, remade.steps.get(at).at.minusMillis(before), EventKind.POLICY_ACTIVATED, id);
    return id;
  }

  /** Without the request that is denied at the end of the governed run. */
  private static void withoutTheLast(Remade remade) {
    int at = at(remade, EventKind.REQUEST_RECEIVED, "n-9");
    remade.steps.subList(at, at + 2).clear();
    remade.chain();
  }
}
