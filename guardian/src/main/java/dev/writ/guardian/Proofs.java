package dev.writ.guardian;

import dev.writ.guardian.ProofNode.Truth;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.policy.cel.CelExpression;
import dev.writ.guardian.policy.rule.Requirement;
import java.util.List;
import java.util.TreeSet;

/** Evaluates every node of a requirement, without short cuts, so that each can be explained. */
final class Proofs {
  private final Matter matter;
  private final RequestVariables variables;

  Proofs(Matter matter) {
    this.matter = matter;
    this.variables = new RequestVariables(matter);
  }

  ProofNode evaluate(Requirement requirement) {
    return switch (requirement) {
      case Requirement.All all -> all(evaluate(all.children()));
      case Requirement.Any any -> any(evaluate(any.children()));
      case Requirement.None none -> none(evaluate(none.children()));
      case Requirement.Cel cel -> cel(cel.expression());
      case Requirement.Approvals approvals -> approvals(approvals);
      case Requirement.Artifact artifact -> artifact(artifact);
      case Requirement.Mandate mandate -> mandate(mandate);
    };
  }

  private List<ProofNode> evaluate(List<Requirement> children) {
    return children.stream().map(this::evaluate).toList();
  }

  private static boolean has(List<ProofNode> children, Truth truth) {
    return children.stream().anyMatch(child -> child.truth() == truth);
  }

  private static ProofNode all(List<ProofNode> children) {
    Truth truth =
        has(children, Truth.FAILS)
            ? Truth.FAILS
            : has(children, Truth.ERROR)
                ? Truth.ERROR
                : has(children, Truth.AWAITS_APPROVAL) ? Truth.AWAITS_APPROVAL : Truth.HOLDS;
    return new ProofNode("all", truth, count(children), children);
  }

  private static ProofNode any(List<ProofNode> children) {
    Truth truth =
        has(children, Truth.HOLDS)
            ? Truth.HOLDS
            : has(children, Truth.AWAITS_APPROVAL)
                ? Truth.AWAITS_APPROVAL
                : has(children, Truth.ERROR) ? Truth.ERROR : Truth.FAILS;
    return new ProofNode("any", truth, count(children), children);
  }

  private static ProofNode none(List<ProofNode> children) {
    Truth truth =
        has(children, Truth.HOLDS)
            ? Truth.FAILS
            : has(children, Truth.ERROR) ? Truth.ERROR : Truth.HOLDS;
    return new ProofNode("none", truth, count(children), children);
  }

  private static String count(List<ProofNode> children) {
    long holding = children.stream().filter(child -> child.truth() == Truth.HOLDS).count();
    return holding + " of " + children.size() + " hold";
  }

  private ProofNode cel(CelExpression expression) {
    CelExpression.Result result = expression.evaluate(variables);
    String what = "cel " + expression.source();
    return result
        .value()
        .map(value -> ProofNode.leaf(what, value ? Truth.HOLDS : Truth.FAILS, "gives " + value))
        .orElseGet(() -> ProofNode.leaf(what, Truth.ERROR, "failed: " + result.error()));
  }

  /** Who approved it in that role: approvers, not approvals, so one person with two keys is one. */
  static TreeSet<String> approvers(Matter matter, Requirement.Approvals wanted) {
    TreeSet<String> approvers = new TreeSet<>();
    for (JudgeInputs.SeenApproval seen : matter.inputs().approvals()) {
      if (seen.role().equals(wanted.role())
          && seen.verdict() == Approval.Verdict.APPROVE
          && matter.inputs().time().isBefore(seen.expiresAt())) {
        approvers.add(seen.approver());
      }
    }
    return approvers;
  }

  private ProofNode approvals(Requirement.Approvals wanted) {
    TreeSet<String> approvers = approvers(matter, wanted);
    return ProofNode.leaf(
        "approvals " + wanted.count() + " × " + wanted.role(),
        approvers.size() >= wanted.count() ? Truth.HOLDS : Truth.AWAITS_APPROVAL,
        approvers.size() + " of " + wanted.count() + " approved: " + approvers);
  }

  private ProofNode mandate(Requirement.Mandate wanted) {
    MandateUse.Found found = MandateUse.find(wanted, matter.request(), matter.inputs().mandates());
    return new ProofNode(
        "mandate " + wanted.type() + " by " + String.join(" or ", wanted.issuers()),
        found.refused().isEmpty() ? Truth.HOLDS : Truth.FAILS,
        found.saw(),
        List.of(),
        found.refused());
  }

  private ProofNode artifact(Requirement.Artifact wanted) {
    boolean found =
        matter.inputs().artifacts().stream()
            .filter(artifact -> artifact.type().equals(wanted.type()))
            .flatMap(artifact -> artifact.signers().stream())
            .anyMatch(signer ->
                signer.role().equals(wanted.role().text())
                    && wanted.subject().filter(s -> !s.equals(signer.subject())).isEmpty());
    return ProofNode.leaf(
        "artifact "
            + wanted.type()
            + " by "
            + wanted.role().text()
            + wanted.subject().map(s -> " " + s).orElse(""),
        found ? Truth.HOLDS : Truth.FAILS,
        matter.inputs().artifacts().size() + " artifacts brought" + (found ? ", one fits" : ""));
  }
}
