package dev.writ.guardian;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Lack;
import dev.writ.guardian.document.ParameterFault;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.Role;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.limit.AccountScope;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.policy.rule.Order;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.policy.rule.Rule;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Derives from a signed decision what helps its caller (spec/guidance.md): a pure function of the
 * request, its tool, the policy that it was judged by, and the inputs that the decision records.
 */
public final class Guide {
  private static final int FAULTS_MAX = 8;

  /** Checks whose findings are about parameters and state, not about the call to a surface. */
  private static final List<String> CHECKS =
      List.of(ProofCheck.NAME, BudgetCheck.NAME, TemporalCheck.NAME, EnvelopeCheck.NAME);

  private final Matter matter;
  private final CheckOutcome check;
  private final Optional<GuardianError> code;

  private Guide(Matter matter, CheckOutcome check) {
    this.matter = matter;
    this.check = check;
    this.code = check.code().flatMap(GuardianError::of);
  }

  /**
   * @param m the tool as it is registered; where it is not the one that policy approves, nothing is
   *     told of it
   * @param p the policy that the decision names
   * @return empty for a decision that allows, unless policy only observes and would not
   */
  public static Optional<Guidance> of(Admitted a, ToolManifest m, Policy p, Decision decision) {
    boolean allowed = decision.verdict() == Verdict.ALLOW;
    return (allowed ? decision.letThrough() : decision.refusing())
        .map(check ->
            new Guide(new Matter(a, m, p, JudgeInputs.read(decision.inputs())), check)
                .guidance(
                    decision.observed().filter(_ -> allowed).map(Decision.Observed::verdict)));
  }

  private Guidance guidance(Optional<Verdict> observed) {
    boolean known = mayKnow();
    return new Guidance(
        observed,
        check.code().orElseThrow(),
        check.check(),
        check.detail(),
        known ? message() : Optional.empty(),
        known ? faults() : List.of(),
        known ? missing() : List.of(),
        known && observed.isEmpty() ? waitsUntil() : Optional.empty(),
        code.map(GuardianError::remedy));
  }

  /**
   * Whether the caller may know the tool: a role that it acts in has the operation. Otherwise it
   * would learn parameters and requirements of tools that are not listed for it.
   */
  private boolean mayKnow() {
    return CHECKS.contains(check.check())
        && code.filter(GuardianError.RUN_FOREIGN::equals).isEmpty()
        && usableRoles().findAny().isPresent();
  }

  private Stream<Role> usableRoles() {
    return matter.holdingRoles().stream()
        .map(name -> matter.policy().roles().get(name))
        .filter(role -> role.mayUse(matter.effect().tool(), matter.effect().operation()));
  }

  private Optional<Rule> rule() {
    int number = ProofCheck.ruleNumber(matter);
    return number < 0 ? Optional.empty() : Optional.of(matter.policy().rules().get(number));
  }

  private Optional<String> message() {
    return check.check().equals(ProofCheck.NAME) ? rule().flatMap(Rule::message) : Optional.empty();
  }

  private List<ParameterFault> faults() {
    try {
      ToolSchemas schemas = ToolSchemas.of(matter.manifest());
      ToolRef found =
          new ToolRef(
              matter.manifest().name(), matter.manifest().version(), schemas.packageDigest());
      return matter.tool().map(ApprovedTool::ref).filter(found::equals).isPresent()
          ? schemas.faults(matter.effect().operation(), matter.effect().params(), FAULTS_MAX)
          : List.of();
    } catch (WritException e) {
      return List.of(); // schemas that are refused say nothing about parameters
    }
  }

  private Optional<Instant> waitsUntil() {
    return code.filter(GuardianError.PRG_APPROVAL_NEEDED::equals)
        .map(_ -> matter.inputs().receivedAt().plusSeconds(matter.policy().limits().pendingMaxS()));
  }

  private List<Lack> missing() {
    if (code.isEmpty()) {
      return List.of();
    }
    return switch (code.get()) {
      case PRG_UNMET,
          PRG_ERROR,
          PRG_APPROVAL_NEEDED,
          MANDATE_FORM,
          MANDATE_ISSUER,
          MANDATE_TIME,
          MANDATE_DISCLOSURE,
          MANDATE_BINDING,
          MANDATE_LIMIT,
          MANDATE_MISSING,
          MANDATE_PAYEE,
          MANDATE_AMOUNT ->
          rule()
              .map(rule -> lacking(rule.require(), new Proofs(matter).evaluate(rule.require())))
              .orElse(List.of());
      case BUDGET_EXHAUSTED -> budgets();
      case MANDATE_SPENT ->
          rule().flatMap(Rule::mandate).stream()
              .<Lack>map(m -> new Lack.Mandate(m.type(), m.issuers(), check.detail()))
              .toList();
      case TEMPORAL_HOURS -> hours();
      case TEMPORAL_RATE -> rates();
      case TEMPORAL_ORDER -> orders();
      case ENVELOPE_MANIFEST_RESOURCES -> resources(matter.manifest().resourcesMax());
      case ENVELOPE_ROLE_RESOURCES -> resources(nearest().resources());
      case ENVELOPE_SANDBOX -> allowed("sandbox", sandboxes());
      case ENVELOPE_PATH -> allowed("path", nearest().paths());
      case ENVELOPE_ENVIRONMENT -> allowed("environment", nearest().environment());
      case ENVELOPE_NETWORK -> allowed("network", nearest().network());
      case ENVELOPE_COMMAND -> allowed("command", matter.policy().commandsOf(nearest().name()));
      default -> List.of();
    };
  }

  /**
   * The role that the reason names: of those that the caller acts in, the one that came nearest.
   */
  private Role nearest() {
    return usableRoles()
        .filter(role -> EnvelopeCheck.refusal(role, matter).equals(code))
        .findFirst()
        .or(() -> usableRoles().findFirst()) // a sandbox may be the manifest's to refuse
        .orElseThrow(); // mayKnow
  }

  private static List<Lack> allowed(String what, List<String> values) {
    return List.of(new Lack.Allowed(what, values));
  }

  private List<String> sandboxes() {
    return nearest().sandboxes().stream().filter(matter.manifest().sandboxes()::contains).toList();
  }

  /** What a node lacks that does not hold. */
  private List<Lack> lacking(Requirement node, ProofNode found) {
    if (found.truth() == ProofNode.Truth.HOLDS) {
      return List.of();
    }
    return switch (node) {
      case Requirement.All all -> below(all.children(), found);
      case Requirement.Any any -> {
        List<Lack> ways =
            IntStream.range(0, any.children().size())
                .mapToObj(i -> lacking(any.children().get(i), found.children().get(i)))
                .map(Guide::together)
                .toList();
        yield ways.size() == 1 ? ways : List.of(new Lack.OneOf(ways));
      }
      case Requirement.None none ->
          IntStream.range(0, none.children().size())
              .filter(i -> found.children().get(i).truth() != ProofNode.Truth.FAILS)
              .mapToObj(i -> not(none.children().get(i), found.children().get(i)))
              .toList();
      case Requirement.Cel cel ->
          List.of(
              new Lack.Argument(
                  cel.expression().params(),
                  cel.expression().source(),
                  true,
                  found.truth() == ProofNode.Truth.ERROR));
      case Requirement.Approvals approvals ->
          List.of(new Lack.Approvals(approvals.role(), approvals.count(), approved(approvals)));
      case Requirement.Artifact artifact ->
          List.of(new Lack.Artifact(artifact.type(), artifact.role().text(), artifact.subject()));
      case Requirement.Mandate mandate ->
          List.of(new Lack.Mandate(mandate.type(), mandate.issuers(), found.saw()));
    };
  }

  private List<Lack> below(List<Requirement> children, ProofNode found) {
    return IntStream.range(0, children.size())
        .mapToObj(i -> lacking(children.get(i), found.children().get(i)))
        .flatMap(List::stream)
        .toList();
  }

  private static Lack together(List<Lack> several) {
    return several.size() == 1 ? several.getFirst() : new Lack.AllOf(several);
  }

  /** A node below {@code none} that holds, or whose expression failed. */
  private static Lack not(Requirement node, ProofNode found) {
    return node instanceof Requirement.Cel cel
        ? new Lack.Argument(
            cel.expression().params(),
            cel.expression().source(),
            false,
            found.truth() == ProofNode.Truth.ERROR)
        : new Lack.Argument(
            List.of(),
            new String(Jcs.write(node.toJson()), StandardCharsets.UTF_8),
            false,
            found.truth() == ProofNode.Truth.ERROR);
  }

  private long approved(Requirement.Approvals wanted) {
    return Proofs.approvers(matter, wanted).size();
  }

  private List<Lack> budgets() {
    List<Lack> full = new ArrayList<>();
    Instant time = matter.inputs().time();
    for (Charges.Due due : matter.charges().dues()) {
      Budget budget = due.budget();
      Optional<JudgeInputs.Balance> balance =
          matter.inputs().balance(budget.name(), due.key(), budget.windowStart(time));
      if (budget.limit().isEmpty() || due.amount().isEmpty() || balance.isEmpty()) {
        continue;
      }
      long asked = due.amount().get();
      long limit = budget.limit().get();
      long taken = balance.get().used() + balance.get().reserved();
      if (taken + asked > limit) {
        full.add(
            new Lack.Room(
                "budget",
                budget.name(),
                budget.unit().text(),
                isOwn(budget.scope(), due.key())
                    ? Optional.of(new Lack.Room.Taken(asked, taken, limit))
                    : Optional.empty(),
                asked <= limit ? Optional.of(budget.windowEnd(time)) : Optional.empty()));
      }
    }
    return full.stream().distinct().toList();
  }

  /** Whether an account is the subject's alone: what others used of theirs is not told. */
  private boolean isOwn(AccountScope scope, String key) {
    JsonValue own =
        JsonValue.of(
            List.of(JsonValue.of(matter.scope().tenant()), JsonValue.of(matter.scope().subject())));
    return scope == AccountScope.SUBJECT
        && key.equals(new String(Jcs.write(own), StandardCharsets.UTF_8));
  }

  private List<Lack> rates() {
    List<Lack> full = new ArrayList<>();
    for (Rate rate : matter.policy().rates().values()) {
      for (String key :
          matter
              .policy()
              .accountsOf(
                  rate,
                  matter.scope().tenant(),
                  matter.inputs().charged(),
                  matter.effect().tool())) {
        matter
            .inputs()
            .rate(rate.name(), key)
            .filter(count -> count.count() >= rate.limit())
            .ifPresent(count ->
                full.add(
                    new Lack.Room(
                        "rate",
                        rate.name(),
                        "calls",
                        isOwn(rate.scope(), key)
                            ? Optional.of(new Lack.Room.Taken(1, count.count(), rate.limit()))
                            : Optional.empty(),
                        rate.limit() == 0
                            ? Optional.empty()
                            : Optional.of(matter.inputs().time().plusSeconds(rate.perS())))));
      }
    }
    return full.stream().distinct().toList();
  }

  private List<Lack> hours() {
    return List.of(
        new Lack.Hours(
            matter.policy().hours().stream()
                .filter(h ->
                    h.match()
                        .applies(
                            matter.scope().tenant(),
                            matter.scope().subject(),
                            matter.roles(),
                            matter.effect().tool()))
                .map(h -> h.nextFrom(matter.inputs().time()))
                .min(Comparator.naturalOrder())));
  }

  private List<Lack> orders() {
    return matter.policy().orders().stream()
        .filter(
            order -> order.effect().applies(matter.effect().tool(), matter.effect().operation()))
        .map(Order::after)
        .filter(after ->
            matter
                .inputs()
                .ran(after.tool(), after.operation().orElseThrow())
                .filter(JudgeInputs.Ran::succeeded)
                .isEmpty())
        .<Lack>map(after -> new Lack.Before(after.tool(), after.operation().orElseThrow()))
        .toList();
  }

  private List<Lack> resources(Resources most) {
    Resources asked = matter.effect().resources();
    return Stream.of(
            new Lack.Resource("cpu_ms", asked.cpuMs(), most.cpuMs()),
            new Lack.Resource("memory_bytes", asked.memoryBytes(), most.memoryBytes()),
            new Lack.Resource("output_bytes", asked.outputBytes(), most.outputBytes()),
            new Lack.Resource("wall_ms", asked.wallMs(), most.wallMs()))
        .filter(resource -> resource.asked() > resource.most())
        .<Lack>map(resource -> resource)
        .toList();
  }
}
