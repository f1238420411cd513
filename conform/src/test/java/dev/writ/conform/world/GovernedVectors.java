package dev.writ.conform.world;

import static dev.writ.conform.world.TrustVectors.body;
import static dev.writ.conform.world.TrustVectors.in;
import static dev.writ.conform.world.TrustVectors.kid;
import static dev.writ.conform.world.TrustVectors.place;
import static dev.writ.conform.world.TrustVectors.saying;
import static dev.writ.conform.world.TrustVectors.set;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.SystemState;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.ToolApproval;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestParty;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.verify.bundle.RecordedRun.Journal;
import dev.writ.verify.bundle.Remade;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The part of golden-vectors/bundle in which each condition of the system run counts alone: what
 * governance asks, what a moment in flight allows, and what a correction of the clock ends. A
 * mutant of either verifier that lacks the condition gives another answer.
 */
final class GovernedVectors {
  private static final ToolRef WORDS = Plot.WORDS.ref();

  /** Another version, of which nothing runs. */
  private static final ToolRef LATER = new ToolRef("words", "2.0.0", WORDS.packageDigest());

  private static final JsonValue.Obj RUNTIME =
      Plot.json("{\"language\":\"python\",\"version\":\"3.13.5\"}");

  private static final String FORM = "CAN-021 or CAN-023 or EXE-950";
  private static final String NOT_ITS = "EXE-004 or EXE-950";

  private final List<Made> made = new ArrayList<>();

  static List<Made> all() {
    GovernedVectors vectors = new GovernedVectors();
    vectors.submissions();
    vectors.approvals();
    vectors.stages();
    vectors.canaries();
    vectors.rollout();
    vectors.runtimes();
    vectors.system();
    vectors.inFlight();
    vectors.delisted();
    vectors.moved();
    vectors.timesGoBack();
    vectors.prohibitedAgain();
    vectors.corrections();
    vectors.events();
    return vectors.made;
  }

  private void add(String name, String about, String wanted, Consumer<Remade> change) {
    add(GovernedRun.closed(), name, about, wanted, change);
  }

  private void add(
      byte[] bundle, String name, String about, String wanted, Consumer<Remade> change) {
    Remade remade = FullRun.remade(bundle);
    change.accept(remade);
    made.add(Made.bundle("governed-" + name, about, wanted, Made.inline(remade.toBytes())));
  }

  // ---- what is brought in

  /** Brings in an event of the system run behind the one at {@code at - 1}. */
  private static void bring(
      Remade remade, int at, Instant time, String kind, String type, JsonValue body, String who) {
    remade.bringSystemEvent(at, time, kind, remade.bring(type, body, List.of(kid(who))));
  }

  private static Instant end(Remade remade) {
    return remade.steps.getLast().at;
  }

  private static void change(Remade remade, int at, Instant time, String kind, JsonValue detail) {
    change(remade, at, time, kind, detail, time);
  }

  private static void change(
      Remade remade, int at, Instant time, String kind, JsonValue detail, Instant said) {
    JsonValue document = new SystemChange(kind, (JsonValue.Obj) detail, said).toJson();
    bring(remade, at, time, kind, SystemChange.TYPE, document, "operator");
  }

  /** At the end of the log, so many milliseconds behind its last event. */
  private static void last(Remade remade, long millis, String kind, JsonValue detail) {
    change(remade, remade.steps.size(), end(remade).plusMillis(millis), kind, detail);
  }

  private static void submit(Remade remade, int at, Instant time, ToolRef tool, Instant said) {
    JsonValue document = new ToolSubmission(tool, said).toJson();
    bring(remade, at, time, EventKind.TOOL_SUBMITTED, ToolSubmission.TYPE, document, "pub");
  }

  private static void submit(Remade remade, ToolRef tool) {
    submit(remade, remade.steps.size(), end(remade), tool, end(remade));
  }

  private static void say(
      Remade remade, Instant time, String who, Approval.Verdict verdict, Instant said) {
    JsonValue document = new ToolApproval(LATER, who, "tool-reviewer", verdict, said).toJson();
    bring(
        remade,
        remade.steps.size(),
        time,
        EventKind.TOOL_APPROVED,
        ToolApproval.TYPE,
        document,
        who);
  }

  private static void approve(Remade remade, String who) {
    say(remade, end(remade), who, Approval.Verdict.APPROVE, end(remade));
  }

  private static JsonValue.Obj validation(ToolRef tool) {
    return new ToolValidation(tool, "v", List.of()).toJson();
  }

  private static JsonValue.Obj staging(ToolRef tool, RolloutStage stage) {
    Optional<Canary> canary =
        Optional.of(new Canary(List.of("acme"), 0, true)).filter(_ -> stage == RolloutStage.CANARY);
    return new ToolStaging(tool, stage, canary).toJson();
  }

  private static void stage(Remade remade, long millis, RolloutStage stage) {
    last(remade, millis, EventKind.TOOL_STAGED, staging(LATER, stage));
  }

  /** The later version, submitted, found good, approved by two; at the end of the log. */
  private static void approved(Remade remade) {
    submit(remade, LATER);
    last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
    approve(remade, "ada");
    approve(remade, "ben");
  }

  static UnaryOperator<JsonValue.Obj> without(String member) {
    return object -> {
      TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
      members.remove(member);
      return new JsonValue.Obj(members);
    };
  }

  private static UnaryOperator<JsonValue.Obj> time(String member, Instant time) {
    return set(member, Timestamps.format(time));
  }

  private static Digest policy(Remade remade) {
    return body(remade, EventKind.POLICY_ACTIVATED);
  }

  private static Consumer<Remade> policy(UnaryOperator<JsonValue.Obj> change) {
    return remade -> remade.change(policy(remade), change);
  }

  private static UnaryOperator<JsonValue.Obj> governance(String member, String json) {
    return in("governance", set(member, Plot.json("{\"is\":" + json + "}").get("is")));
  }

  private static int kind(Remade remade, String kind, String... texts) {
    return place(remade, kind, saying(texts));
  }

  private static Instant at(Remade remade, String kind, String... texts) {
    return remade.steps.get(kind(remade, kind, texts)).at;
  }

  // ---- tools

  private void submissions() {
    add("made-again", "nothing is changed", "ok", _ -> {});
    add(
        "not-covered",
        "a tool that policy does not let govern is submitted",
        "EXE-915",
        remade -> submit(remade, new ToolRef("wordz", "1.0.0", WORDS.packageDigest())));
    add(
        "listed",
        "a version that policy lists and covers is submitted",
        "EXE-915",
        policy(document -> {
          List<JsonValue> tools = new ArrayList<>(((JsonValue.Arr) document.get("tools")).items());
          tools.add(listed("1.0.0"));
          return set("tools", JsonValue.of(tools)).apply(document);
        }));
    add(
        "listed-in-another-version",
        "policy lists another version of a tool that it lets govern",
        "ok",
        policy(document -> {
          List<JsonValue> tools = new ArrayList<>(((JsonValue.Arr) document.get("tools")).items());
          tools.add(listed("9.0.0"));
          return set("tools", JsonValue.of(tools)).apply(document);
        }));
    add(
        "covered-by-its-beginning",
        "policy lets govern all tools whose names begin so",
        "ok",
        policy(governance("tools", "[\"wor*\"]")));
    add(
        "before-any-policy",
        "a package is submitted before there is a policy",
        "EXE-911 or EXE-915",
        remade -> {
          int at = kind(remade, EventKind.POLICY_ACTIVATED);
          Instant time = remade.steps.get(at).at;
          submit(remade, at, time, WORDS, time);
        });
    add(
        "submitted-ahead",
        "a submission is said more than two seconds after its event",
        "EXE-914",
        remade ->
            submit(remade, remade.steps.size(), end(remade), LATER, end(remade).plusMillis(2001)));
    add(
        "said-in-the-skew",
        "what is said two seconds after its event counts",
        "ok",
        remade -> {
          Instant now = end(remade);
          submit(remade, remade.steps.size(), now, LATER, now.plusMillis(2000));
          change(
              remade,
              remade.steps.size(),
              now,
              EventKind.TOOL_VALIDATED,
              validation(LATER),
              now.plusMillis(2000));
          say(remade, now, "ada", Approval.Verdict.APPROVE, now.plusMillis(2000));
          say(remade, now, "ben", Approval.Verdict.APPROVE, now.minusMillis(2000));
          stage(remade, 0, RolloutStage.ACTIVE);
        });
    add(
        "submitted-while-prohibited",
        "a version is submitted that an operator prohibited",
        "EXE-914",
        remade -> {
          last(
              remade,
              0,
              EventKind.TOOL_REVOKED,
              Plot.json("{\"tool\":\"words\",\"version\":\"2.0.0\"}"));
          submit(remade, LATER);
        });
    add(
        "submitted-after-staging",
        "another package is submitted under a version that is staged",
        "EXE-914",
        remade -> {
          int at = kind(remade, EventKind.TOOL_STAGED, "active");
          Instant time = remade.steps.get(at).at;
          submit(remade, at, time, new ToolRef("words", "1.0.0", Digest.sha256()), time);
        });
    add(
        "submitted-twice",
        "one package is submitted twice",
        "EXE-914",
        remade -> {
          submit(remade, LATER);
          submit(remade, LATER);
        });
    add(
        "submitted-anew",
        "another package takes the place of a draft",
        "ok",
        remade -> {
          submit(remade, new ToolRef("words", "2.0.0", Digest.sha256()));
          approved(remade);
          stage(remade, 0, RolloutStage.ACTIVE);
        });
    add(
        "validation-form",
        "a validation says something more",
        FORM,
        remade -> {
          submit(remade, LATER);
          last(remade, 0, EventKind.TOOL_VALIDATED, set("more", "x").apply(validation(LATER)));
        });
    add(
        "validated-not-submitted",
        "a version is validated that nobody submitted",
        "EXE-914",
        remade -> last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER)));
    add(
        "validated-after-staging",
        "a staged version is validated again",
        "EXE-914",
        remade -> last(remade, 0, EventKind.TOOL_VALIDATED, validation(WORDS)));
    add(
        "validated-after-retiring",
        "a version that was retired unseen is validated",
        "EXE-914",
        remade -> {
          submit(remade, LATER);
          stage(remade, 0, RolloutStage.RETIRED);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
        });
    add(
        "validated-after-a-word",
        "a version is validated again after an approver spoke",
        "EXE-914",
        remade -> {
          approved(remade);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
        });
  }

  private static JsonValue listed(String version) {
    return JsonValue.object()
        .put("name", "words")
        .put("package", WORDS.packageDigest())
        .put("stage", "active")
        .put("version", version)
        .build();
  }

  private void approvals() {
    add(
        "signed-by-another-approver",
        "one approver's word is signed by another's key",
        "EXE-916",
        remade -> {
          submit(remade, LATER);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
          approve(remade, "ada");
          remade.signedBy(remade.steps.getLast().body, List.of(kid("ben")));
        });
    add(
        "publisher-approves",
        "who published a package approves it",
        "EXE-916",
        remade -> {
          remade.change(
              body(remade, EventKind.KEY_ENROLLED, kid("ben")),
              in("detail", set("writ_subject", "pub")));
          Digest word = body(remade, EventKind.TOOL_APPROVED, "ben");
          remade.change(word, set("approver", "pub"));
        });
    add(
        "approver-of-no-policy",
        "somebody approves whom policy does not name",
        "EXE-916",
        remade -> {
          remade.change(
              body(remade, EventKind.KEY_ENROLLED, kid("ben")),
              in("detail", set("writ_subject", "zoe")));
          Digest word = body(remade, EventKind.TOOL_APPROVED, "ben");
          remade.change(word, set("approver", "zoe"));
        });
    add(
        "approved-ahead",
        "an approval is said more than two seconds after its event",
        "EXE-914",
        remade -> {
          submit(remade, LATER);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
          say(remade, end(remade), "ada", Approval.Verdict.APPROVE, end(remade).plusMillis(2001));
        });
    add(
        "approved-before-it-was-submitted",
        "an approval is said more than two seconds before the submission",
        "EXE-914",
        remade -> {
          submit(remade, LATER);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
          say(remade, end(remade), "ada", Approval.Verdict.APPROVE, end(remade).minusMillis(2001));
        });
    add(
        "approved-without-validation",
        "an approver approves what nobody validated",
        "EXE-917",
        remade -> {
          submit(remade, LATER);
          approve(remade, "ada");
        });
    add(
        "rejected-without-validation",
        "an approver can reject what nobody validated",
        "ok",
        remade -> {
          submit(remade, LATER);
          say(remade, end(remade), "ada", Approval.Verdict.REJECT, end(remade));
        });
    add(
        "another-role-of-the-approver",
        "an approver who holds two roles speaks in the one that is not asked for",
        "EXE-917",
        remade -> {
          policy(
                  governance(
                      "approvers",
                      "{\"ada\":[\"tool-reviewer\"],\"ben\":[\"other\",\"tool-reviewer\"],\"cyd\":[\"other\",\"tool-reviewer\"],\"pub\":[\"tool-reviewer\"]}"))
              .accept(remade);
          remade.change(body(remade, EventKind.TOOL_APPROVED, "ben"), set("role", "other"));
        });
    add(
        "approver-dropped-by-policy",
        "policy does not name an approver any more when the tool is staged",
        "EXE-917",
        remade -> {
          int at = kind(remade, EventKind.TOOL_STAGED, "canary");
          activate(
              remade,
              at,
              remade.steps.get(at).at,
              2,
              governance("approvers", "{\"ada\":[\"tool-reviewer\"],\"cyd\":[\"tool-reviewer\"]}"));
        });
    add(
        "approver-revoked-later",
        "an approver's key is revoked after the first stage that runs",
        "ok",
        remade -> {
          int at = kind(remade, EventKind.TOOL_STAGED, "active");
          change(
              remade,
              at,
              remade.steps.get(at).at,
              EventKind.KEY_REVOKED,
              JsonValue.object().put("kid", kid("ben")).build());
        });
  }

  /** The next policy, signed by the owner. */
  private static Digest activate(
      Remade remade, int at, Instant time, long version, UnaryOperator<JsonValue.Obj> change) {
    JsonValue.Obj next =
        change.apply(
            set("version", JsonValue.of(version))
                .apply(
                    set("previous", policy(remade).toString())
                        .apply(remade.document(policy(remade)))));
    bring(remade, at, time, EventKind.POLICY_ACTIVATED, SystemState.POLICY_TYPE, next, "owner");
    return remade.steps.get(at).body;
  }

  private void stages() {
    String active = EventKind.TOOL_STAGED;
    add(
        "stage-form",
        "a stage says something more",
        FORM,
        remade -> {
          approved(remade);
          last(remade, 0, active, set("more", "x").apply(staging(LATER, RolloutStage.ACTIVE)));
        });
    add(
        "stage-canary-without-its-share",
        "a canary without its tenants and share",
        FORM,
        remade -> {
          approved(remade);
          last(remade, 0, active, without("canary").apply(staging(LATER, RolloutStage.CANARY)));
        });
    add(
        "stage-active-with-a-canary",
        "an active version with a canary's share",
        FORM,
        remade -> {
          approved(remade);
          last(
              remade, 0, active, set("stage", "active").apply(staging(LATER, RolloutStage.CANARY)));
        });
    for (String[] canary :
        new String[][] {
          {"tenants-out-of-order", "{\"percent\":0,\"tenants\":[\"b\",\"a\"]}"},
          {"tenant-twice", "{\"percent\":0,\"tenants\":[\"a\",\"a\"]}"},
          {"share-of-101", "{\"percent\":101,\"tenants\":[]}"},
          {"something-more", "{\"more\":0,\"percent\":0,\"tenants\":[]}"}
        }) {
      add(
          "canary-" + canary[0],
          "a canary with " + canary[0].replace('-', ' '),
          FORM,
          remade -> {
            approved(remade);
            last(
                remade,
                0,
                active,
                set("canary", Plot.json(canary[1])).apply(staging(LATER, RolloutStage.CANARY)));
          });
    }
    add(
        "canary-of-two-tenants",
        "a canary of two tenants, in order",
        "ok",
        remade -> {
          approved(remade);
          last(
              remade,
              0,
              active,
              new ToolStaging(
                      LATER,
                      RolloutStage.CANARY,
                      Optional.of(new Canary(List.of("acme", "other"), 0, true)))
                  .toJson());
        });
    add(
        "retired-at-once",
        "a draft is retired, for which nobody need approve it",
        "ok",
        remade -> {
          submit(remade, LATER);
          stage(remade, 0, RolloutStage.RETIRED);
        });
    add(
        "all-stages",
        "every step that leads from one stage to another",
        "ok",
        remade -> {
          approved(remade);
          for (RolloutStage stage :
              List.of(
                  RolloutStage.CANARY,
                  RolloutStage.CANARY,
                  RolloutStage.DRAFT,
                  RolloutStage.CANARY,
                  RolloutStage.ACTIVE,
                  RolloutStage.DEPRECATED,
                  RolloutStage.ACTIVE,
                  RolloutStage.DEPRECATED,
                  RolloutStage.RETIRED)) {
            stage(remade, 1, stage);
          }
        });
    add(
        "active-retired",
        "an active version is retired",
        "ok",
        remade -> {
          approved(remade);
          stage(remade, 1, RolloutStage.ACTIVE);
          stage(remade, 1, RolloutStage.RETIRED);
        });
    add(
        "canary-retired",
        "a canary is retired",
        "ok",
        remade -> {
          approved(remade);
          stage(remade, 1, RolloutStage.CANARY);
          stage(remade, 1, RolloutStage.RETIRED);
        });
    RolloutStage[][] wrong = {
      {RolloutStage.DRAFT},
      {RolloutStage.DEPRECATED},
      {RolloutStage.CANARY, RolloutStage.DEPRECATED},
      {RolloutStage.ACTIVE, RolloutStage.DRAFT},
      {RolloutStage.ACTIVE, RolloutStage.CANARY},
      {RolloutStage.ACTIVE, RolloutStage.ACTIVE},
      {RolloutStage.ACTIVE, RolloutStage.DEPRECATED, RolloutStage.CANARY},
      {RolloutStage.RETIRED, RolloutStage.ACTIVE}
    };
    for (RolloutStage[] way : wrong) {
      List<String> names = Arrays.stream(way).map(RolloutStage::text).toList();
      add(
          "stages-" + String.join("-", names),
          "no step leads from "
              + (way.length == 1 ? "draft" : names.get(way.length - 2))
              + " to "
              + names.getLast(),
          "EXE-914",
          remade -> {
            approved(remade);
            for (RolloutStage stage : way) {
              stage(remade, 1, stage);
            }
          });
    }
  }

  private static void canary(Remade remade, boolean bySubject, int percent) {
    last(
        remade,
        1,
        EventKind.TOOL_STAGED,
        new ToolStaging(
                LATER,
                RolloutStage.CANARY,
                Optional.of(new Canary(List.of("acme"), percent, bySubject)))
            .toJson());
  }

  private void canaries() {
    add(
        "canary-by-run-twice",
        "a share of runs follows one of runs",
        "ok",
        remade -> {
          approved(remade);
          canary(remade, false, 50);
          canary(remade, false, 50);
        });
    add(
        "canary-of-none-and-of-all",
        "a share of runs that is none or all follows one of subjects: nobody chooses to be in it",
        "ok",
        remade -> {
          approved(remade);
          canary(remade, true, 50);
          canary(remade, true, 50);
          canary(remade, false, 0);
          canary(remade, false, 100);
        });
    add(
        "canary-by-run-after-a-draft",
        "a share of runs follows one of subjects, with a draft between",
        "EXE-984",
        remade -> {
          approved(remade);
          canary(remade, true, 50);
          stage(remade, 1, RolloutStage.DRAFT);
          canary(remade, false, 50);
        });
  }

  /** What a decision says of its tool, and the staging that it rests on. */
  private static void both(Remade remade, String stage, UnaryOperator<JsonValue.Obj> change) {
    remade.change(body(remade, EventKind.TOOL_STAGED, stage), in("detail", change));
    decided(remade, change);
  }

  private static void decided(Remade remade, UnaryOperator<JsonValue.Obj> change) {
    remade.change(
        body(remade, EventKind.DECISION_MADE, "\"canary\"".replace("\"", "")),
        in("inputs", in("governed", change)));
  }

  private void rollout() {
    CanaryDraw draw = new CanaryDraw("acme", "run-1", "alice");
    int share = 0;
    while (!new Canary(List.of(), share, true).includes("words", "1.0.0", draw)) {
      share++;
    }
    for (int percent : List.of(share - 1, share)) {
      JsonValue.Obj canary = new Canary(List.of("other"), percent, true).toJson();
      add(
          percent < share ? "canary-share-just-missed" : "canary-share-just-met",
          "a run of another tenant meets a canary of "
              + percent
              + " percent, its place is "
              + (share - 1),
          percent < share ? "EXE-956" : "ok",
          remade -> both(remade, "canary", set("canary", canary)));
    }
    add(
        "policy-of-nobody",
        "a decision names a policy that was never in force",
        "EXE-950",
        remade ->
            remade.change(
                body(remade, EventKind.DECISION_MADE), set("policy", Digest.sha256().toString())));
    add(
        "allowed-draft",
        "a decision allows a version that is a draft again",
        "EXE-956",
        remade -> {
          int at = kind(remade, EventKind.TOOL_STAGED, "canary") + 1;
          change(
              remade,
              at,
              remade.steps.get(at - 1).at.plusMillis(1),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.DRAFT));
          decided(
              remade, governed -> without("canary").apply(set("stage", "draft").apply(governed)));
        });
    add(
        "allowed-retired",
        "a decision allows a version that is retired",
        "EXE-956",
        remade -> {
          remade.change(
              body(remade, EventKind.TOOL_STAGED, "active"), in("detail", set("stage", "retired")));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "value=active"),
              in("inputs", in("governed", set("stage", "retired"))));
        });
    add(
        "allowed-deprecated",
        "a decision allows a version that is deprecated",
        "ok",
        remade -> {
          int at = kind(remade, EventKind.TOOL_STAGED, "value=active") + 1;
          change(
              remade,
              at,
              remade.steps.get(at - 1).at.plusMillis(1),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.DEPRECATED));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "value=active"),
              in("inputs", in("governed", set("stage", "deprecated"))));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "revoked"),
              in("inputs", in("governed", set("stage", "deprecated"))));
        });
    add(
        "never-submitted",
        "a decision allows a version of a governed tool that nobody submitted",
        "EXE-956",
        remade ->
            remade.steps.removeIf(step ->
                step.kind.startsWith("tool.")
                    && !step.kind.equals(EventKind.TOOL_REVOKED)
                    && remade.document(step.body).toString().contains("words")));
    add(
        "repackaged-before-dispatch",
        "another package runs under the version when an intent for the one before is dispatched",
        "EXE-954",
        remade -> {
          int at = kind(remade, EventKind.EFFECT_DISPATCHED, WORDS.packageDigest().toString());
          ToolRef other = new ToolRef("words", "1.0.0", Digest.sha256());
          Instant time = remade.steps.get(at).at;
          repackage(remade, at, time, other);
          remade.change(
              body(remade, EventKind.TOOL_STAGED, "value=active"),
              in("detail", set("package", other.packageDigest().toString())));
          remade.shift(at + REPACKAGED, 120_000);
        });
    add(
        "allowed-revoked",
        "a decision allows a version that is prohibited",
        "EXE-956",
        remade -> {
          int at = kind(remade, EventKind.TOOL_STAGED, "canary") + 1;
          change(
              remade,
              at,
              remade.steps.get(at - 1).at,
              EventKind.TOOL_REVOKED,
              Plot.json("{\"tool\":\"words\",\"version\":\"1.0.0\"}"));
          decided(remade, set("revoked", JsonValue.TRUE));
        });
    add(
        "revoked-is-false",
        "a decision says of a tool that it is not prohibited, where it says nothing",
        "CAN-023 or EXE-952 or EXE-956",
        remade -> decided(remade, set("revoked", JsonValue.FALSE)));
  }

  /** How many events {@link #repackage} brings in. */
  private static final int REPACKAGED = 6;

  /** From the canary back to a draft, and another package on the whole way to a canary. */
  private static void repackage(Remade remade, int at, Instant time, ToolRef other) {
    change(remade, at, time, EventKind.TOOL_STAGED, staging(WORDS, RolloutStage.DRAFT));
    submit(remade, at + 1, time, other, time);
    change(remade, at + 2, time, EventKind.TOOL_VALIDATED, validation(other));
    for (String who : List.of("ada", "ben")) {
      JsonValue word =
          new ToolApproval(other, who, "tool-reviewer", Approval.Verdict.APPROVE, time).toJson();
      bring(remade, at + 3, time, EventKind.TOOL_APPROVED, ToolApproval.TYPE, word, who);
    }
    change(
        remade,
        at + 5,
        time,
        EventKind.TOOL_STAGED,
        staging(other, RolloutStage.CANARY),
        time.plusMillis(1));
  }

  private static void runtime(Remade remade, long millis, boolean approved) {
    last(
        remade,
        millis,
        approved ? EventKind.RUNTIME_APPROVED : EventKind.RUNTIME_WITHDRAWN,
        RUNTIME);
  }

  private void runtimes() {
    add(
        "runtime-approved-and-withdrawn",
        "a runtime is approved, withdrawn, and approved again",
        "ok",
        remade -> {
          runtime(remade, 0, true);
          runtime(remade, 1, false);
          runtime(remade, 1, true);
        });
    add(
        "runtime-approved-twice",
        "an approved runtime is approved",
        "EXE-914",
        remade -> {
          runtime(remade, 0, true);
          runtime(remade, 1, true);
        });
    add(
        "runtime-not-approved",
        "a runtime is withdrawn that nobody approved",
        "EXE-914",
        remade -> runtime(remade, 0, false));
    add(
        "runtime-not-later",
        "a runtime is withdrawn at the time at which it was approved",
        "EXE-914",
        remade -> {
          runtime(remade, 0, true);
          runtime(remade, 0, false);
        });
    add(
        "runtime-form",
        "a runtime says something more",
        FORM,
        remade ->
            last(
                remade,
                0,
                EventKind.RUNTIME_APPROVED,
                Plot.json("{\"language\":\"python\",\"more\":1,\"version\":\"3.13.5\"}")));
  }

  // ---- the system run

  private static JsonValue revocation(String name) {
    return JsonValue.object().put("kid", kid(name)).build();
  }

  private void system() {
    add(
        "foreign-kind",
        "an event of the system run is of a kind that it does not have",
        NOT_ITS,
        remade -> {
          last(remade, 0, EventKind.KEY_REVOKED, revocation("cyd"));
          remade.steps.getLast().kind = EventKind.DOUBT_RESOLVED;
        });
    add(
        "foreign-kind-with-its-document",
        "an operator's resolution of a doubt stands in the system run",
        "CAN-020 or " + NOT_ITS,
        remade -> {
          JsonValue resolution =
              JsonValue.object()
                  .putList("evidence", List.<JsonValue>of(), item -> item)
                  .put("found", "happened")
                  .put("note", "")
                  .put("receipt", Digest.sha256())
                  .put("resolved_at", end(remade))
                  .put("tenant", "writ")
                  .build();
          bring(
              remade,
              remade.steps.size(),
              end(remade),
              EventKind.DOUBT_RESOLVED,
              "application/vnd.writ.resolution.v1+json",
              resolution,
              "operator");
        });
    add(
        "kind-of-another-change",
        "an event is of another kind than its document",
        NOT_ITS,
        remade -> {
          last(remade, 0, EventKind.KEY_REVOKED, revocation("cyd"));
          remade.steps.getLast().kind = EventKind.TOOL_REVOKED;
        });
    add(
        "policy-of-another-kind",
        "an event revokes a key, its document is the next policy",
        NOT_ITS,
        remade -> {
          activate(remade, remade.steps.size(), end(remade), 2, document -> document);
          remade.steps.getLast().kind = EventKind.KEY_REVOKED;
        });
    add(
        "word-of-another-kind",
        "an event revokes a key, its document submits a tool",
        NOT_ITS,
        remade -> {
          submit(remade, LATER);
          remade.steps.getLast().kind = EventKind.KEY_REVOKED;
        });
    add(
        "kind-of-the-other-runtime-change",
        "an event withdraws a runtime, its document approves it",
        NOT_ITS,
        remade -> {
          runtime(remade, 0, true);
          remade.steps.getLast().kind = EventKind.RUNTIME_WITHDRAWN;
        });
    add(
        "changed-ahead",
        "a change is said more than two seconds after its event",
        "EXE-112",
        remade ->
            change(
                remade,
                remade.steps.size(),
                end(remade),
                EventKind.KEY_REVOKED,
                revocation("cyd"),
                end(remade).plusMillis(2001)));
    add(
        "revoked-twice",
        "a revoked key is revoked",
        "CAN-055 or EXE-950",
        remade -> {
          last(remade, 0, EventKind.KEY_REVOKED, revocation("cyd"));
          last(remade, 0, EventKind.KEY_REVOKED, revocation("cyd"));
        });
    add(
        "revoked-unknown",
        "a key is revoked that nobody enrolled",
        "CAN-052 or EXE-950",
        remade -> last(remade, 0, EventKind.KEY_REVOKED, revocation("mallory")));
    add(
        "revocation-form",
        "a revocation says something more",
        FORM,
        remade ->
            last(
                remade,
                0,
                EventKind.KEY_REVOKED,
                set("more", "x").apply((JsonValue.Obj) revocation("cyd"))));
    add(
        "prohibition-form",
        "a prohibition says something more",
        FORM,
        remade ->
            last(
                remade,
                0,
                EventKind.TOOL_REVOKED,
                Plot.json("{\"more\":1,\"tool\":\"x\",\"version\":\"1\"}")));
    add(
        "prohibition-without-version",
        "a prohibition names no version",
        "CAN-020 or EXE-950",
        remade -> last(remade, 0, EventKind.TOOL_REVOKED, Plot.json("{\"tool\":\"x\"}")));
    add(
        "prohibited-twice",
        "a prohibited version is prohibited again",
        "ok",
        remade ->
            last(
                remade,
                0,
                EventKind.TOOL_REVOKED,
                Plot.json("{\"tool\":\"words\",\"version\":\"1.0.0\"}")));
    add(
        "enrolled-twice",
        "an enrolled key is enrolled",
        "CAN-056 or EXE-950",
        remade ->
            last(
                remade,
                0,
                EventKind.KEY_ENROLLED,
                new TestParty("alice", KeyRole.AGENT, Optional.of("acme")).trusted().toJson()));
    add(
        "enrolled-for-the-installation-itself",
        "a key is enrolled for the tenant of the system run",
        NOT_ITS,
        remade ->
            last(
                remade,
                0,
                EventKind.KEY_ENROLLED,
                new TestParty("mallory", KeyRole.AGENT, Optional.of("writ")).trusted().toJson()));
    add(
        "enrolled-form",
        "an enrolment says something more",
        FORM,
        remade ->
            last(
                remade,
                0,
                EventKind.KEY_ENROLLED,
                set("more", "x")
                    .apply(
                        new TestParty("mallory", KeyRole.AGENT, Optional.of("acme"))
                            .trusted()
                            .toJson())));
    add(
        "window-of-no-time",
        "a key is enrolled whose window ends when it begins",
        "CAN-023 or EXE-950",
        remade -> {
          JsonValue.Obj key =
              new TestParty("mallory", KeyRole.AGENT, Optional.of("acme")).trusted().toJson();
          last(
              remade,
              0,
              EventKind.KEY_ENROLLED,
              set("writ_not_after", key.get("writ_not_before")).apply(key));
        });
    add(
        "operator-revoked-a-moment-before",
        "an operator changes something in the moment after its key was revoked",
        "CAN-055",
        remade -> {
          last(remade, 0, EventKind.KEY_REVOKED, revocation("operator"));
          last(remade, 0, EventKind.KEY_REVOKED, revocation("cyd"));
        });
    add(
        "incarnation-not-later",
        "an incarnation begins that is the one before",
        NOT_ITS,
        remade -> last(remade, 0, EventKind.LEDGER_INCARNATED, Plot.json("{\"incarnation\":1}")));
    add(
        "incarnation-form",
        "an incarnation says something more",
        FORM,
        remade -> {
          last(remade, 0, EventKind.LEDGER_INCARNATED, Plot.json("{\"incarnation\":2,\"more\":1}"));
          remade.manifest = set("incarnation", JsonValue.of(2));
        });
    add(
        "incarnation-later",
        "a later incarnation begins after everything",
        "ok",
        remade -> {
          last(remade, 0, EventKind.LEDGER_INCARNATED, Plot.json("{\"incarnation\":3}"));
          remade.manifest = set("incarnation", JsonValue.of(3));
        });
    add(
        "policy-not-later",
        "a policy follows that has the version of the one before",
        "EXE-906 or EXE-950",
        remade -> activate(remade, remade.steps.size(), end(remade), 1, document -> document));
    add(
        "policy-of-another-line",
        "a policy follows that names none before it",
        "EXE-906 or EXE-950",
        remade -> activate(remade, remade.steps.size(), end(remade), 2, without("previous")));
    add(
        "policy-names-one-before-the-first",
        "the first policy names one before it",
        "EXE-906 or EXE-950",
        policy(set("previous", Digest.sha256().toString())));
    add(
        "policy-later",
        "a policy follows at the end",
        "ok",
        remade -> activate(remade, remade.steps.size(), end(remade), 2, document -> document));
    add(
        "time-a-day-back",
        "an event lies a day behind the one before",
        "ok",
        remade -> last(remade, -86_400_000, EventKind.KEY_REVOKED, revocation("cyd")));
    add(
        "time-more-than-a-day-back-in-two-steps",
        "an event lies 23 hours behind the one before, and the next two hours behind that",
        "EXE-982",
        remade -> {
          last(remade, -23 * 3_600_000, EventKind.KEY_REVOKED, revocation("cyd"));
          last(remade, -2 * 3_600_000, EventKind.KEY_REVOKED, revocation("ben"));
        });
    add(
        "time-more-than-a-day-back",
        "an event lies a day and a millisecond behind the one before",
        "EXE-982",
        remade -> last(remade, -86_400_001, EventKind.KEY_REVOKED, revocation("cyd")));
  }

  // ---- a moment

  /** What a revocation ends is still under way for a minute. */
  private void inFlight() {
    for (long late : List.of(60_000L, 60_001L)) {
      String name = late == 60_000 ? "-a-minute-before" : "-more-than-a-minute-before";
      add(
          "revoked" + name,
          "a decision is signed by a key that was revoked " + late + " ms before",
          late == 60_000 ? "ok" : "EXE-951",
          remade -> {
            int at = lastDecision(remade);
            Instant time = remade.steps.get(at).at.minusMillis(late);
            change(remade, at, time, EventKind.KEY_REVOKED, revocation("guardian"));
          });
      add(
          "policy-followed" + name,
          "a decision rests on a policy that was superseded " + late + " ms before",
          late == 60_000 ? "ok" : "EXE-950",
          remade -> {
            int at = lastDecision(remade);
            Instant time = remade.steps.get(at).at.minusMillis(late);
            activate(remade, at, time, 2, document -> document);
          });
      add(
          "tool-prohibited" + name,
          "a tool is dispatched that was prohibited " + late + " ms before",
          late == 60_000 ? "ok" : "EXE-954",
          remade -> {
            int at = kind(remade, EventKind.EFFECT_DISPATCHED, "calc");
            Instant time = remade.steps.get(at).at.minusMillis(late);
            change(
                remade,
                at,
                time,
                EventKind.TOOL_REVOKED,
                Plot.json("{\"tool\":\"calc\",\"version\":\"1.0.0\"}"));
          });
      add(
          "tool-staged-out" + name,
          "a tool is dispatched that was retired " + late + " ms before",
          late == 60_000 ? "ok" : "EXE-954",
          remade -> {
            remade.change(
                body(remade, EventKind.TOOL_STAGED, "value=active"),
                time("changed_at", at(remade, EventKind.TOOL_STAGED, "canary").plusMillis(1)));
            remade.steps.get(kind(remade, EventKind.TOOL_STAGED, "value=active")).at =
                at(remade, EventKind.TOOL_STAGED, "canary").plusMillis(1);
            int at = lastWords(remade);
            Instant time = remade.steps.get(at).at.minusMillis(late);
            change(remade, at, time, EventKind.TOOL_STAGED, staging(WORDS, RolloutStage.RETIRED));
            remade.change(
                body(remade, EventKind.DECISION_MADE, "revoked"),
                in("inputs", in("governed", set("stage", "retired"))));
          });
      add(
          "governed-otherwise" + name,
          "a decision records what governance said of its tool until " + late + " ms before",
          late == 60_000 ? "ok" : "EXE-956",
          remade -> {
            int at = lastDecision(remade);
            Instant time = remade.steps.get(at).at.minusMillis(late);
            change(remade, at, time, EventKind.TOOL_STAGED, staging(WORDS, RolloutStage.RETIRED));
          });
    }
  }

  private static final UnaryOperator<JsonValue.Obj> DELISTING =
      document -> {
        List<JsonValue> tools = new ArrayList<>(((JsonValue.Arr) document.get("tools")).items());
        tools.removeIf(tool -> tool.toString().contains("calc"));
        return set("tools", JsonValue.of(tools))
            .apply(governance("tools", "[\"calc\",\"words\"]").apply(document));
      };

  /** Policy lets govern a tool from now on that it listed before. */
  private void delisted() {
    for (long late : List.of(30_000L, 60_001L)) {
      add(
          "delisted-" + late / 1000 + "-seconds-before",
          "a tool is dispatched that policy listed until " + late + " ms before, and lets govern",
          late == 30_000 ? "ok" : "EXE-954",
          remade -> {
            int at = kind(remade, EventKind.EFFECT_DISPATCHED, "calc");
            activate(remade, at, remade.steps.get(at).at.minusMillis(late), 2, DELISTING);
            withoutTheLast(remade);
          });
    }
  }

  private static JsonValue.Obj relisted(JsonValue.Obj policy) {
    List<JsonValue> tools = new ArrayList<>(((JsonValue.Arr) policy.get("tools")).items());
    tools.replaceAll(tool ->
        tool.toString().contains("calc")
            ? set("version", "2.0.0").apply((JsonValue.Obj) tool)
            : tool);
    return set("tools", JsonValue.of(tools)).apply(policy);
  }

  private void moved() {
    add(
        "listed-in-a-later-version",
        "a tool is dispatched of which policy lists another version now, and lets govern neither",
        "ok",
        remade -> {
          int at = kind(remade, EventKind.EFFECT_DISPATCHED, "calc");
          activate(
              remade,
              at,
              remade.steps.get(at).at.minusMillis(30_000),
              2,
              GovernedVectors::relisted);
          withoutTheLast(remade);
        });
    add(
        "canary-moved-long-before",
        "a tool is dispatched for a tenant whose canary ended more than a minute before",
        "EXE-954",
        remade -> {
          int at = kind(remade, EventKind.EFFECT_DISPATCHED, WORDS.packageDigest().toString());
          Instant time = remade.steps.get(at).at.minusMillis(60_001);
          JsonValue.Obj elsewhere = new Canary(List.of("other"), 0, true).toJson();
          change(
              remade,
              at,
              time,
              EventKind.TOOL_STAGED,
              set("canary", elsewhere).apply(staging(WORDS, RolloutStage.CANARY)));
        });
    add(
        "staged-out-long-before-another-change",
        "a tool is dispatched that was moved away long before, and something else changed just now",
        "EXE-954",
        remade -> {
          int at = kind(remade, EventKind.EFFECT_DISPATCHED, WORDS.packageDigest().toString());
          Instant time = remade.steps.get(at).at;
          change(remade, at, time, EventKind.KEY_REVOKED, revocation("cyd"));
          change(
              remade,
              at,
              time.minusMillis(60_001),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.DRAFT));
          remade.change(
              body(remade, EventKind.TOOL_STAGED, "value=active"),
              in("detail", set("stage", "retired")));
        });
    add(
        "governed-otherwise-twice",
        "a decision records what governance said before two changes a moment ago",
        "ok",
        remade -> {
          int at = lastDecision(remade);
          Instant time = remade.steps.get(at).at;
          change(
              remade,
              at,
              time.minusMillis(2),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.DEPRECATED));
          change(
              remade,
              at + 1,
              time.minusMillis(1),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.RETIRED));
        });
  }

  /** Where times go back, each change is still in flight for a minute of its own time. */
  private void timesGoBack() {
    add(
        "governed-otherwise-and-time-back",
        "a decision records what governance said until a moment before; a change between has an"
            + " earlier time",
        "ok",
        remade -> {
          int at = lastDecision(remade);
          Instant time = remade.steps.get(at).at;
          change(
              remade,
              at,
              time.minusMillis(1),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.RETIRED));
          change(remade, at + 1, time.minusSeconds(120), EventKind.KEY_REVOKED, revocation("cyd"));
        });
    add(
        "governed-otherwise-and-another-tool",
        "a decision records what governance said before another tool changed a moment ago; a change"
            + " of its own between has an earlier time",
        "ok",
        remade -> {
          int at = lastDecision(remade);
          Instant time = remade.steps.get(at).at;
          change(
              remade,
              at,
              time.minusMillis(1),
              EventKind.TOOL_REVOKED,
              Plot.json("{\"tool\":\"calc\",\"version\":\"1.0.0\"}"));
          change(
              remade,
              at + 1,
              time.minusSeconds(120),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.RETIRED));
        });
    add(
        "tool-staged-out-and-time-ahead",
        "a tool is dispatched that was retired a moment before; a change between has a later time",
        "ok",
        remade -> {
          int at = lastWords(remade);
          Instant time = remade.steps.get(at).at;
          change(
              remade,
              at,
              time.minusMillis(1),
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.RETIRED));
          change(remade, at + 1, time.plusSeconds(130), EventKind.KEY_REVOKED, revocation("cyd"));
          remade.change(
              body(remade, EventKind.DECISION_MADE, "revoked"),
              in("inputs", in("governed", set("stage", "retired"))));
        });
  }

  private void prohibitedAgain() {
    add(
        "tool-prohibited-again",
        "a tool is dispatched that was prohibited long before, and a moment before again",
        "EXE-954",
        remade -> {
          for (long late : List.of(60_001L, 1L)) {
            int at = kind(remade, EventKind.EFFECT_DISPATCHED, "calc");
            change(
                remade,
                at,
                remade.steps.get(at).at.minusMillis(late),
                EventKind.TOOL_REVOKED,
                Plot.json("{\"tool\":\"calc\",\"version\":\"1.0.0\"}"));
          }
        });
  }

  /** Where the active version is dispatched. */
  private static int lastWords(Remade remade) {
    int at = kind(remade, EventKind.REQUEST_RECEIVED, "n-6");
    while (!remade.steps.get(at).kind.equals(EventKind.EFFECT_DISPATCHED)) {
      at++;
    }
    return at;
  }

  private static int lastDecision(Remade remade) {
    int last = 0;
    for (int i = 0; i < remade.steps.size(); i++) {
      last = remade.steps.get(i).kind.equals(EventKind.DECISION_MADE) ? i : last;
    }
    return last;
  }

  /** Has an operator let time go on at the end, without another incarnation. */
  private static void forward(Remade remade, Instant from, Instant to) {
    JsonValue detail =
        JsonValue.object()
            .put("from", from)
            .put("to", to)
            .put("tree_size", (long) remade.steps.size())
            .build();
    change(remade, remade.steps.size(), to, EventKind.CLOCK_CORRECTED, detail);
  }

  /** Sets time back by so much before the event at a place. */
  private static void back(Remade remade, int at, long millis) {
    Instant from = Instant.MIN;
    for (Remade.Step step : remade.steps.subList(0, at)) {
      from = step.at.isAfter(from) ? step.at : from;
    }
    Instant to = from.minusMillis(millis);
    JsonValue detail =
        JsonValue.object()
            .put("from", from)
            .put("to", to)
            .put("tree_size", (long) at)
            .put("incarnation", 2)
            .build();
    change(remade, at, to, EventKind.CLOCK_CORRECTED, detail);
    remade.manifest = set("incarnation", JsonValue.of(2));
  }

  private void corrections() {
    add(
        "corrected-stage",
        "what was staged before time went back is staged again just after it",
        "ok",
        remade -> {
          approved(remade);
          stage(remade, 0, RolloutStage.ACTIVE);
          back(remade, remade.steps.size(), 10_000);
          stage(remade, 1, RolloutStage.DEPRECATED);
        });
    add(
        "corrected-stage-of-long-before",
        "what was staged long before time went back keeps its time",
        "ok",
        remade -> {
          approved(remade);
          Instant staged = end(remade);
          stage(remade, 0, RolloutStage.ACTIVE);
          last(remade, 20_000, EventKind.KEY_REVOKED, revocation("cyd"));
          back(remade, remade.steps.size(), 10_000);
          change(
              remade,
              remade.steps.size(),
              end(remade),
              EventKind.TOOL_STAGED,
              staging(LATER, RolloutStage.DEPRECATED),
              staged.plusMillis(1));
        });
    add(
        "corrected-submission",
        "what was submitted before time went back is approved just after it",
        "ok",
        remade -> {
          submit(remade, LATER);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
          back(remade, remade.steps.size(), 10_000);
          approve(remade, "ada");
        });
    add(
        "corrected-runtime",
        "a runtime that was approved before time went back is withdrawn just after it",
        "ok",
        remade -> {
          runtime(remade, 0, true);
          back(remade, remade.steps.size(), 10_000);
          runtime(remade, 1, false);
        });
    add(
        "corrected-runtime-of-long-before",
        "a runtime that was approved long before time went back keeps its time",
        "ok",
        remade -> {
          Instant approved = end(remade);
          runtime(remade, 0, true);
          last(remade, 20_000, EventKind.KEY_REVOKED, revocation("cyd"));
          back(remade, remade.steps.size(), 10_000);
          change(
              remade,
              remade.steps.size(),
              end(remade),
              EventKind.RUNTIME_WITHDRAWN,
              RUNTIME,
              approved.plusMillis(1));
        });
    add(
        "corrected-submission-of-long-before",
        "what was submitted long before time went back keeps its time",
        "ok",
        remade -> {
          Instant submitted = end(remade);
          submit(remade, LATER);
          last(remade, 0, EventKind.TOOL_VALIDATED, validation(LATER));
          last(remade, 20_000, EventKind.KEY_REVOKED, revocation("cyd"));
          back(remade, remade.steps.size(), 10_000);
          say(remade, end(remade), "ada", Approval.Verdict.APPROVE, submitted);
        });
    add(
        "corrected-below-its-time",
        "an event lies before the time to which time went back",
        "EXE-982",
        remade -> {
          back(remade, remade.steps.size(), 10_000);
          last(remade, -1, EventKind.KEY_REVOKED, revocation("cyd"));
        });
    add(
        "corrected-after-a-revocation",
        "what was in flight when time went back is void: the key was revoked before",
        "EXE-951",
        remade -> {
          int at = kind(remade, EventKind.REQUEST_RECEIVED, "n-9");
          change(
              remade, at, remade.steps.get(at).at, EventKind.KEY_REVOKED, revocation("guardian"));
          back(remade, at + 1, 1);
        });
    add(
        "corrected-after-a-policy",
        "what was in flight when time went back is void: the policy was superseded before",
        "EXE-950",
        remade -> {
          int at = kind(remade, EventKind.REQUEST_RECEIVED, "n-9");
          activate(remade, at, remade.steps.get(at).at, 2, document -> document);
          back(remade, at + 1, 1);
        });
    add(
        "corrected-after-a-stage",
        "what was in flight when time went back is void: the tool was staged otherwise before",
        "EXE-956",
        remade -> {
          int at = kind(remade, EventKind.REQUEST_RECEIVED, "n-9");
          change(
              remade,
              at,
              remade.steps.get(at).at,
              EventKind.TOOL_STAGED,
              staging(WORDS, RolloutStage.RETIRED));
          back(remade, at + 1, 1);
        });
    add(
        "corrected-forward",
        "an operator sets time forward, without another incarnation",
        "ok",
        remade -> {
          forward(remade, end(remade), end(remade).plusSeconds(3600));
        });
    add(
        "corrected-after-a-prohibition",
        "what was in flight when time went back is void: the tool was prohibited before",
        "EXE-954",
        remade -> {
          int at = kind(remade, EventKind.EFFECT_DISPATCHED, "calc");
          int before = kind(remade, EventKind.REQUEST_RECEIVED);
          change(
              remade,
              before,
              remade.steps.get(at).at,
              EventKind.TOOL_REVOKED,
              Plot.json("{\"tool\":\"calc\",\"version\":\"1.0.0\"}"));
          back(remade, before + 1, 1);
          remade.change(
              body(remade, EventKind.INTENT_ISSUED, "calc"),
              in("audience", set("incarnation", JsonValue.of(2))));
        });
    add(
        "corrected-before-a-revocation",
        "a key is revoked after time went back, and what was in flight then counts",
        "ok",
        remade -> {
          int at = kind(remade, EventKind.REQUEST_RECEIVED, "n-9");
          back(remade, at, 1);
          change(
              remade,
              at + 1,
              remade.steps.get(at + 1).at,
              EventKind.KEY_REVOKED,
              revocation("guardian"));
        });
    add(
        "corrected-from-a-later-time",
        "time goes on from one that no event of the bundle has: others of the log may",
        "ok",
        remade -> {
          Instant from = end(remade).plusSeconds(5);
          forward(remade, from, from.plusSeconds(5));
        });
    add(
        "corrected-forward-and-late",
        "time was set forward, which is no least time for what comes late",
        "ok",
        remade -> {
          forward(remade, end(remade), end(remade).plusSeconds(3600));
          last(remade, -1000, EventKind.KEY_REVOKED, revocation("cyd"));
        });
    add(
        "corrected-forward-keeps-what-was-said",
        "a stage that was said two seconds ahead keeps its time where time is set forward by less",
        "EXE-914",
        remade -> {
          approved(remade);
          Instant now = end(remade);
          change(
              remade,
              remade.steps.size(),
              now,
              EventKind.TOOL_STAGED,
              staging(LATER, RolloutStage.ACTIVE),
              now.plusMillis(2000));
          forward(remade, now, now.plusMillis(10));
          stage(remade, 10, RolloutStage.DEPRECATED);
        });
    for (String member : List.of("incarnation", "more")) {
      add(
          "corrected-forward-with-" + member,
          "a correction forward says " + member,
          member.equals("more") ? FORM : "EXE-981",
          remade -> {
            Instant from = end(remade);
            JsonValue.Obj detail =
                JsonValue.object()
                    .put("from", from)
                    .put("to", from)
                    .put("tree_size", (long) remade.steps.size())
                    .put(member, 2)
                    .build();
            change(remade, remade.steps.size(), from, EventKind.CLOCK_CORRECTED, detail);
          });
    }
  }

  // ---- what an event must not have, which the fuzzer of whole bundles found

  private void events() {
    String seed = "0".repeat(64);
    add(
        "seed-of-a-request",
        "an event has a seed whose kind has none",
        "EXE-953",
        remade ->
            remade.steps.get(kind(remade, EventKind.REQUEST_RECEIVED)).seed = Optional.of(seed));
    add(
        "seed-of-a-change",
        "an event of the system run has a seed",
        "EXE-950",
        remade ->
            remade.steps.get(kind(remade, EventKind.KEY_REVOKED.replace("revoked", "enrolled")))
                    .seed =
                Optional.of(seed));
    add(
        "finished-and-no-receipt",
        "another event stands between the end of an effect and its receipt",
        "EXE-954",
        remade -> {
          int at = kind(remade, EventKind.REQUEST_RECEIVED, "n-6");
          int receipt = kind(remade, EventKind.RECEIPT_SIGNED, "calc");
          Remade.Step request = remade.steps.remove(at);
          request.at = remade.steps.get(receipt).at;
          remade.steps.add(receipt, request);
        });
    add(
        "not-judged",
        "a request has no decision when its run ends",
        "EXE-954",
        remade -> {
          int at = lastDecision(remade);
          remade.steps.remove(at);
          closed(remade);
        });
    byte[] consuming = FullRun.made().closed;
    for (String[] field :
        new String[][] {{"prng_seed", "run-1"}, {"lamport", "0"}, {"message", "x".repeat(502)}}) {
      add(
          consuming,
          "receipt-of-another-run-" + field[0],
          "a receipt of another run has no such " + field[0],
          "EXE-952",
          remade -> {
            JsonValue value = field[0].equals("lamport") ? JsonValue.of(0) : JsonValue.of(field[1]);
            remade.change(consumed(remade).body, set(field[0], value));
          });
    }
    add(
        consuming,
        "seed-of-a-receipt-of-another-run",
        "the event of a receipt of another run has a seed",
        "EXE-953",
        remade -> consumed(remade).seed = Optional.of(seed));
  }

  /** Its closing says what the run is now. */
  private static void closed(Remade remade) {
    List<Remade.Step> run =
        remade.steps.stream().filter(step -> step.journal == Journal.RUN).toList();
    String head = run.get(run.size() - 2).was.id().toString();
    remade.change(
        body(remade, EventKind.RUN_CLOSED),
        closing ->
            set("events", JsonValue.of((long) run.size() - 1))
                .apply(set("run_hash", head).apply(closing)));
  }

  /** Without the request that was denied at the end. */
  private static void withoutTheLast(Remade remade) {
    remade.steps.remove(lastDecision(remade));
    remade.steps.remove(kind(remade, EventKind.REQUEST_RECEIVED, "n-9"));
    closed(remade);
  }

  private static Remade.Step consumed(Remade remade) {
    return remade.steps.stream()
        .filter(step -> step.journal == Journal.CONSUMED)
        .findFirst()
        .orElseThrow();
  }
}
