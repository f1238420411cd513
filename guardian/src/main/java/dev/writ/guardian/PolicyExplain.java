package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.rule.Rule;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Explains a judgement: the decision, and the requirement's tree with the findings of each node.
 *
 * @param decision as it would be made; nothing is reserved for it
 * @param requirement which of the policy's requirements covers the effect, counted from 1
 * @param message what that requirement tells a caller who does not meet it
 * @param tree absent if no requirement covers the effect
 */
public record PolicyExplain(
    Decision decision,
    Optional<Integer> requirement,
    Optional<String> message,
    Optional<ProofNode> tree) {

  /**
   * @param in from {@link Accounts#look}, or from a decision
   */
  public static PolicyExplain of(
      Admitted a, ToolManifest m, Policy p, JudgeInputs in, Digest snapshot) {
    Matter matter = new Matter(a, m, p, in);
    int number = ProofCheck.ruleNumber(matter);
    Optional<Rule> rule = number < 0 ? Optional.empty() : Optional.of(p.rules().get(number));
    return new PolicyExplain(
        Judge.judge(a, m, p, in, snapshot, Optional.empty()),
        rule.map(_ -> number + 1),
        rule.flatMap(Rule::message),
        rule.map(r -> new Proofs(matter).evaluate(r.require())));
  }

  /** A few lines of text for people, ending with a line break. */
  public String render() {
    StringBuilder out = new StringBuilder();
    out.append(decision.verdict());
    decision.code().ifPresent(code -> out.append(' ').append(code));
    out.append('\n');
    for (CheckOutcome check : decision.checks()) {
      line(
          out,
          1,
          check.check(),
          check.outcome().name().toLowerCase(Locale.ROOT).replace('_', ' '),
          check.detail());
      if (check.check().equals(ProofCheck.NAME)) {
        requirement.ifPresent(number -> {
          out.append("    requirement ").append(number).append('\n');
          message.ifPresent(said -> out.append("      says \"").append(said).append("\"\n"));
          tree.ifPresent(node -> node(out, node, 3));
        });
      }
    }
    return out.toString();
  }

  private static void node(StringBuilder out, ProofNode node, int depth) {
    line(out, depth, node.what(), node.truth().text(), node.saw());
    node.children().forEach(child -> node(out, child, depth + 1));
  }

  private static void line(StringBuilder out, int depth, String what, String truth, String saw) {
    out.append("  ".repeat(depth)).append(what).append(" — ").append(truth);
    if (!saw.isEmpty()) {
      out.append(": ").append(saw);
    }
    out.append('\n');
  }

  /** The same as data. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("verdict", decision.verdict().name())
        .putIfPresent("code", decision.code(), JsonValue::of)
        .put("decision", decision.toJson())
        .putIfPresent("requirement", requirement, JsonValue::of)
        .putIfPresent("message", message, JsonValue::of)
        .putIfPresent("tree", tree, PolicyExplain::toJson)
        .build();
  }

  private static JsonValue.Obj toJson(ProofNode node) {
    return JsonValue.object()
        .put("what", node.what())
        .put("truth", node.truth().text())
        .put("saw", node.saw())
        .put("children", new JsonValue.Arr(childrenOf(node)))
        .build();
  }

  private static List<JsonValue> childrenOf(ProofNode node) {
    return node.children().stream().<JsonValue>map(PolicyExplain::toJson).toList();
  }
}
