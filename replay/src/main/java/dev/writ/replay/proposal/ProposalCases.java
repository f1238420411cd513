package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.ledger.event.RunId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** Cases from the record, and what it does not have (spec/policy.md, Cases). */
final class ProposalCases {
  /** So many calls of an operation that differ in their arguments become cases. */
  private static final int OF_EACH = 3;

  private static final String NEVER = "never_seen";

  private final Policy policy;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;

  ProposalCases(Policy policy, Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.policy = policy;
    this.manifests = manifests;
  }

  /** YAML; empty if no call can be written. */
  String of(Collection<List<SeenCall>> operations, List<SeenCall> all) {
    List<JsonValue> cases = new ArrayList<>();
    for (List<SeenCall> calls : operations) {
      SeenCall first = calls.getFirst();
      TreeSet<String> arguments = new TreeSet<>();
      calls.stream()
          .filter(ProposalCases::canBeWritten)
          .filter(call -> isProposed(call) || call.said() == Verdict.ALLOW)
          .filter(call -> arguments.add(call.request().effect().argsHash().toString()))
          .limit(OF_EACH)
          .forEach(call ->
              cases.add(
                  written(
                      call.operation() + " as at " + call.at(),
                      request(call),
                      state(call, all),
                      "ALLOW",
                      "")));
      if (canBeWritten(first) && isProposed(first)) {
        cases.add(
            written(
                first.operation() + " with an argument that was never given",
                PolicyDocument.with(
                    request(first),
                    "params",
                    params ->
                        PolicyDocument.with(
                            (JsonValue.Obj) params, NEVER, _ -> JsonValue.of(true))),
                state(first, all),
                "DENY",
                "GRD-102"));
      }
      unseen(calls, operations)
          .filter(_ -> canBeWritten(first))
          .ifPresent(operation ->
              cases.add(
                  written(
                      first.tool().name() + "/" + operation + ", which was never called",
                      PolicyDocument.with(
                          request(first), "operation", _ -> JsonValue.of(operation)),
                      state(first, all),
                      "DENY",
                      "")));
    }
    if (cases.isEmpty()) {
      return "";
    }
    return PolicyText.write(
        JsonValue.object().put("writ_policy_cases", 1).put("cases", JsonValue.of(cases)).build(),
        new TreeMap<>());
  }

  /** Whether the operation has a rule of the proposal's own making. */
  private boolean isProposed(SeenCall call) {
    return policy.rules().stream()
        .filter(
            rule -> rule.effect().applies(call.tool().name(), call.request().effect().operation()))
        .findFirst()
        .filter(rule -> rule.effect().operation().isPresent() && !rule.require().asksApprovals())
        .isPresent();
  }

  /** The first operation of the tool that nobody called. */
  private Optional<String> unseen(List<SeenCall> calls, Collection<List<SeenCall>> operations) {
    ToolRef tool = calls.getFirst().tool();
    TreeSet<String> called = new TreeSet<>();
    operations.stream()
        .map(List::getFirst)
        .filter(call -> call.tool().name().equals(tool.name()))
        .forEach(call -> called.add(call.request().effect().operation()));
    boolean last = called.last().equals(calls.getFirst().request().effect().operation());
    return manifests.apply(tool).filter(_ -> last).stream()
        .flatMap(manifest -> manifest.operations().stream())
        .map(ToolManifest.Operation::name)
        .filter(name -> !called.contains(name))
        .findFirst();
  }

  private static JsonValue written(
      String name, JsonValue.Obj request, JsonValue.Obj state, String verdict, String code) {
    ObjectBuilder expect = JsonValue.object().put("verdict", verdict);
    if (!code.isEmpty()) {
      expect.put("code", code);
    }
    return JsonValue.object()
        .put("name", name)
        .put("request", request)
        .put("state", state)
        .put("expect", expect.build())
        .build();
  }

  private static JsonValue.Obj request(SeenCall call) {
    Request request = call.request();
    Effect effect = request.effect();
    ObjectBuilder written =
        JsonValue.object()
            .put("tenant", request.scope().tenant())
            .put("run", request.scope().run())
            .put("subject", request.scope().subject())
            .put("tool", effect.tool())
            .put("version", effect.version())
            .put("operation", effect.operation())
            .put("params", effect.params())
            .put("resources", effect.resources().toJson())
            .put("sandbox", effect.sandbox())
            .putIfPresent(
                "workspace_before", effect.workspaceBefore(), d -> JsonValue.of(d.toString()))
            .putIfPresent("surface", request.origin().map(Origin::surface), JsonValue::of);
    List<String> delegators =
        call.inputs().charged().stream()
            .filter(subject -> !subject.equals(request.scope().subject()))
            .toList();
    if (!delegators.isEmpty()) {
      written.putList("delegators", delegators, JsonValue::of);
    }
    if (!effect.inputs().isEmpty()) {
      written.put("inputs", effect.toJson().get("inputs"));
    }
    return written.build();
  }

  private JsonValue.Obj state(SeenCall call, List<SeenCall> all) {
    JudgeInputs inputs = call.inputs();
    ObjectBuilder state = JsonValue.object().put("time", inputs.time());
    inputs.owner().ifPresent(owner -> state.put("owner", owner));
    state.putIfPresent("governed", inputs.governed(), GovernedTool::toJson);
    if (!inputs.approvals().isEmpty()) {
      state.putList(
          "approvals",
          inputs.approvals(),
          approval ->
              JsonValue.object()
                  .put("approver", approval.approver())
                  .put("role", approval.role())
                  .build());
    }
    if (!inputs.artifacts().isEmpty()) {
      state.putList(
          "artifacts",
          inputs.artifacts(),
          artifact ->
              JsonValue.object()
                  .put("type", artifact.type())
                  .put("role", artifact.signers().getFirst().role())
                  .put("subject", artifact.signers().getFirst().subject())
                  .build());
    }
    List<JsonValue> before = before(call, all);
    if (!policy.orders().isEmpty() && !before.isEmpty()) {
      state.put("succeeded", JsonValue.of(before));
    }
    return state.build();
  }

  /** What was called earlier in the same run, each operation once. */
  private static List<JsonValue> before(SeenCall call, List<SeenCall> all) {
    return all.stream()
        .takeWhile(other -> !other.id().equals(call.id())) // not by time: two may have the same
        .filter(other -> runOf(other).equals(runOf(call)))
        .<JsonValue>map(other ->
            JsonValue.object()
                .put("tool", other.tool().name())
                .put("operation", other.request().effect().operation())
                .build())
        .distinct()
        .toList();
  }

  private static RunId runOf(SeenCall call) {
    return new RunId(call.request().scope().tenant(), call.request().scope().run());
  }

  /** Names with characters that are not shown are refused in files for people. */
  private static boolean canBeWritten(SeenCall call) {
    return namesAreShown(call.request().effect().params());
  }

  private static boolean namesAreShown(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object ->
          object.members().entrySet().stream()
              .allMatch(member ->
                  member.getKey().codePoints().allMatch(ProposalCases::isShown)
                      && namesAreShown(member.getValue()));
      case JsonValue.Arr list -> list.items().stream().allMatch(ProposalCases::namesAreShown);
      default -> true;
    };
  }

  private static boolean isShown(int character) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
