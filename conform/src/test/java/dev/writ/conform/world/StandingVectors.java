package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.document.Delegation;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle on who asks and who approves: principals and roles of the
 * policy, delegations with their windows and revocations, and what a decision says of an approval.
 */
final class StandingVectors {
  private static final String JUDGEMENT = "EXE-956";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    StandingVectors vectors = new StandingVectors();
    vectors.principals();
    vectors.inputs();
    vectors.revoked();
    vectors.windows();
    vectors.approvals();
    return vectors.made;
  }

  private void add(String name, String about, String wanted, Consumer<Remade> change) {
    Remade remade = FullRun.remade(FullRun.lean().closed);
    change.accept(remade);
    made.add(Made.bundle("standing-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  private static void policy(Remade remade, UnaryOperator<JsonValue.Obj> change) {
    remade.change(body(remade, EventKind.POLICY_ACTIVATED), change);
  }

  private static UnaryOperator<JsonValue.Obj> items(
      String member, UnaryOperator<JsonValue> change) {
    return object -> {
      List<JsonValue> items = new ArrayList<>(((JsonValue.Arr) object.get(member)).items());
      items.replaceAll(change);
      return set(member, JsonValue.of(items)).apply(object);
    };
  }

  /** Who is a principal of one tenant is one of another, of the same name. */
  private static UnaryOperator<JsonValue.Obj> moved(String list, String subject) {
    return policy -> {
      List<JsonValue> items = new ArrayList<>(((JsonValue.Arr) policy.get(list)).items());
      items.replaceAll(item ->
          ((JsonValue.Obj) item).get("subject").equals(JsonValue.of(subject))
              ? set("tenant", "other").apply((JsonValue.Obj) item)
              : item);
      items.sort(
          Comparator.comparing((JsonValue item) -> ((JsonValue.Obj) item).get("tenant").toString())
              .thenComparing(item -> ((JsonValue.Obj) item).get("subject").toString()));
      return set(list, JsonValue.of(items)).apply(policy);
    };
  }

  private void principals() {
    for (String subject : List.of("alice", "boss")) {
      add(
          "no-principal-" + subject,
          subject + " is a principal of another tenant alone",
          JUDGEMENT,
          remade -> policy(remade, moved("principals", subject)));
    }
    add(
        "no-approver",
        "who approved is an approver of another tenant alone",
        JUDGEMENT,
        remade -> policy(remade, moved("approvers", "rita")));
    add(
        "approver-in-another-role",
        "who approved is an approver in another role",
        JUDGEMENT,
        remade ->
            policy(
                remade,
                items(
                    "approvers",
                    item ->
                        ((JsonValue.Obj) item).get("subject").equals(JsonValue.of("rita"))
                            ? set("roles", JsonValue.of(List.of(JsonValue.of("other"))))
                                .apply((JsonValue.Obj) item)
                            : item)));
  }

  private void inputs() {
    add(
        "roles",
        "a decision says that who asks has no role",
        JUDGEMENT,
        remade ->
            remade.change(
                body(remade, EventKind.DECISION_MADE),
                in("inputs", set("roles", JsonValue.of(List.of())))));
    add(
        "nonce-seen",
        "a decision says that its nonce was used, with which nobody is let in",
        JUDGEMENT,
        remade ->
            remade.change(
                body(remade, EventKind.DECISION_MADE),
                in("inputs", set("nonce_seen", JsonValue.TRUE))));
    add(
        "valid-for-longer",
        "a decision says that it holds for longer than the delegation",
        JUDGEMENT,
        remade ->
            remade.change(
                body(remade, EventKind.DECISION_MADE),
                in("inputs", set("valid_until", "2026-11-21T14:00:00.000Z"))));
  }

  private static JsonValue.Obj request(Remade remade) {
    return remade.document(body(remade, EventKind.REQUEST_RECEIVED, "n-7"));
  }

  private static Envelope delegation(Remade remade) {
    JsonValue first = ((JsonValue.Arr) request(remade).get("delegations")).items().getFirst();
    return Envelope.parse(Jcs.write(first));
  }

  private static UnaryOperator<JsonValue.Obj> revoking(Digest id) {
    return set("revoked", JsonValue.of(List.of(JsonValue.of(id.toString()))));
  }

  private void revoked() {
    add(
        "delegation-revoked",
        "the policy revokes a delegation that a request brings",
        JUDGEMENT,
        remade -> policy(remade, revoking(delegation(remade).id())));
  }

  /** A request by a delegation of that window. */
  private void window(String name, String about, String wanted, long from, long end) {
    add(
        "delegation-" + name,
        about,
        wanted,
        remade -> {
          Instant at =
              remade.steps.get(
                      TrustVectors.place(
                          remade, EventKind.REQUEST_RECEIVED, TrustVectors.saying("n-7")))
                  .at;
          Delegation old = Delegation.read(delegation(remade).document());
          Instant until = at.plusMillis(end);
          Envelope link =
              Envelope.sign(
                  Delegation.TYPE,
                  new Delegation(
                          old.tenant(),
                          old.from(),
                          old.to(),
                          old.tools(),
                          at.plusMillis(from),
                          until,
                          old.depth())
                      .toJson(),
                  TestKeys.key("boss"));
          remade.change(
              body(remade, EventKind.REQUEST_RECEIVED, "n-7"),
              set("delegations", JsonValue.of(List.of(link.toJson()))));
          remade.change(
              body(remade, EventKind.DECISION_MADE),
              in("inputs", set("valid_until", Timestamps.format(until))));
          remade.change(
              body(remade, EventKind.INTENT_ISSUED), set("expires_at", Timestamps.format(until)));
        });
  }

  private void windows() {
    window("begins-then", "a delegation begins when it is brought", "ok", 0, 60_000);
    window("begins-later", "a delegation begins a moment later", JUDGEMENT, 1, 60_000);
    window("ends-later", "a delegation ends a moment after it is brought", "ok", -60_000, 1);
    window("ended", "a delegation ends when it is brought", JUDGEMENT, -60_000, 0);
  }

  /** What the decision that counts it says of the approval. */
  private void seen(String field, String value) {
    add(
        "approval-seen-" + field,
        "a decision says another " + field + " of an approval that it counts",
        JUDGEMENT,
        remade ->
            remade.change(
                body(remade, EventKind.DECISION_MADE, "approver"),
                in(
                    "inputs",
                    items("approvals", item -> set(field, value).apply((JsonValue.Obj) item)))));
  }

  private void approvals() {
    add(
        "approver-who-asks",
        "who asks approves it, with a key of the role approver of its own",
        JUDGEMENT,
        remade -> {
          remade.change(
              body(remade, EventKind.KEY_ENROLLED, kid("rita")),
              in("detail", set("writ_subject", "alice")));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "approver"),
              in(
                  "inputs",
                  items(
                      "approvals", item -> set("approver", "alice").apply((JsonValue.Obj) item))));
          remade.change(body(remade, EventKind.APPROVAL_RECEIVED), set("approver", "alice"));
        });
    seen("approver", "roy");
    seen("kid", kid("roy"));
    seen("role", "other");
    seen("expires_at", "2026-11-21T15:00:00.000Z");
    seen("verdict", "REJECT");
    seen("id", Digest.sha256().toString());
    for (long late : List.of(2000L, 2001L)) {
      add(
          late == 2000 ? "approval-in-the-skew" : "approval-of-later",
          "an approval says a time " + late + " ms after the decision that counts it",
          late == 2000 ? "ok" : JUDGEMENT,
          remade -> {
            Digest approval = body(remade, EventKind.APPROVAL_RECEIVED);
            Instant at =
                remade.steps.get(
                        TrustVectors.place(
                            remade, EventKind.APPROVAL_RECEIVED, TrustVectors.saying()))
                    .at;
            remade.change(approval, set("approved_at", Timestamps.format(at.plusMillis(late))));
          });
    }
    add(
        "approval-ended",
        "an approval ends at the time of the decision that counts it",
        JUDGEMENT,
        remade -> {
          Digest approval = body(remade, EventKind.APPROVAL_RECEIVED);
          Instant at =
              remade.steps.get(
                      TrustVectors.place(
                          remade, EventKind.APPROVAL_RECEIVED, TrustVectors.saying()))
                  .at;
          remade.change(approval, set("approved_at", Timestamps.format(at.minusMillis(1))));
          remade.replace(
              ((JsonValue.Str) remade.document(approval).get("expires_at")).value(),
              Timestamps.format(at));
        });
  }
}
