package dev.writ.guardian.policy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.HostTerms;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.guardian.policy.governance.Rollout;
import dev.writ.guardian.policy.governance.ToolGovernance;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Hours;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.policy.limit.RequestLimits;
import dev.writ.guardian.policy.limit.RunLimits;
import dev.writ.guardian.policy.limit.StorageLimits;
import dev.writ.guardian.policy.mandate.MandateAccounts;
import dev.writ.guardian.policy.mandate.MandateTrust;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.guardian.policy.retention.RecordedReads;
import dev.writ.guardian.policy.retention.Retention;
import dev.writ.guardian.policy.rule.Order;
import dev.writ.guardian.policy.rule.Rule;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.guardian.policy.seed.CommandLimits;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.guardian.policy.seed.ExecuteProfile;
import dev.writ.guardian.yaml.Located;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A policy: what is allowed, to whom, under which limits (spec/policy.md). Immutable, and checked
 * completely when it is made, including its expressions. Its digest is that of its canonical JSON,
 * in which every default is written out and lists without an order are sorted.
 */
public final class Policy {
  private final PolicyParts parts;
  private final JsonValue.Obj document;
  private final Digest digest;
  private final Rollout rollout;
  private final List<ApprovedTool> running;
  private final HostTerms host;
  private final SortedMap<String, Budget> budgets;

  Policy(PolicyParts parts) {
    this.parts = parts;
    this.budgets = withMandates(parts.budgets());
    this.document = parts.toJson();
    this.digest = Jcs.digest(document);
    this.rollout = Rollout.NOTHING;
    this.running = List.copyOf(parts.tools().values());
    this.host = hostTerms();
  }

  private Policy(Policy policy, Rollout rollout) {
    this.parts = policy.parts;
    this.document = policy.document;
    this.digest = policy.digest;
    this.rollout = rollout;
    this.running = running(parts, rollout);
    this.host = policy.host;
    this.budgets = policy.budgets;
  }

  private static SortedMap<String, Budget> withMandates(SortedMap<String, Budget> written) {
    TreeMap<String, Budget> all = new TreeMap<>(written);
    MandateAccounts.ALL.forEach(account -> all.put(account.name(), account));
    return Collections.unmodifiableSortedMap(all);
  }

  private static List<ApprovedTool> running(PolicyParts parts, Rollout rollout) {
    TreeMap<String, ApprovedTool> all = new TreeMap<>(parts.tools());
    rollout.tools().values().stream()
        .filter(tool -> parts.governs(tool.ref().name()))
        .filter(tool -> tool.governed().filter(g -> g.stage().runs() && !g.revoked()).isPresent())
        .forEach(tool -> all.putIfAbsent(tool.key(), tool));
    return List.copyOf(all.values());
  }

  /**
   * Reads a file for people, YAML 1.2 or JSON.
   *
   * @param fileName for messages
   * @throws WritException {@code GRD-5xx}, naming file, line, column and field
   */
  public static Policy parse(byte[] yamlOrJson, String fileName) {
    return new Policy(PolicyParts.read(Section.of(fileName, PlainYaml.read(yamlOrJson, fileName))));
  }

  /**
   * The faults of a text, as an editor marks them: empty exactly where {@link #parse} accepts it,
   * and what that throws is the first. Whether names are defined is only looked at where every
   * entry can be read.
   *
   * @return {@code GRD-5xx}, 50 at most, and fewer of a long text
   */
  public static List<WritException> faults(byte[] yamlOrJson, String fileName) {
    return PolicyFaults.of(yamlOrJson, fileName);
  }

  /**
   * This policy as the successor of another: version and predecessor are filled in, so that people
   * can edit one file again and again. A policy that names its predecessor is left unchanged.
   */
  public Policy following(Policy inForce) {
    if (previous().isPresent()) {
      return this;
    }
    ObjectBuilder next = JsonValue.object();
    document
        .members()
        .forEach((key, value) -> {
          if (!key.equals("version")) {
            next.put(key, value);
          }
        });
    return ofCanonical(
        next.put("version", Math.max(version(), inForce.version() + 1))
            .put("previous", inForce.digest())
            .build());
  }

  /**
   * Reads the canonical document again.
   *
   * @throws WritException {@code GRD-512} for any other form of it, {@code GRD-5xx} as for a file
   */
  public static Policy ofCanonical(JsonValue document) {
    Policy policy = new Policy(PolicyParts.read(Section.of("policy", Located.of(document))));
    if (!policy.document.equals(document)) {
      throw new WritException(
          GuardianError.POLICY_NOT_CANONICAL,
          "it has the digest "
              + Jcs.digest(document)
              + "; written canonically it has "
              + policy.digest);
    }
    return policy;
  }

  public JsonValue.Obj toJson() {
    return document;
  }

  public Digest digest() {
    return digest;
  }

  public String name() {
    return parts.name();
  }

  /** Rises with each policy (protocol rule 26). */
  public long version() {
    return parts.version();
  }

  /** The digest of the policy before this one. */
  public Optional<Digest> previous() {
    return parts.previous();
  }

  /** Whether its rules and roles are recorded and not enforced. */
  public boolean observes() {
    return parts.observes();
  }

  public RequestLimits limits() {
    return parts.limits();
  }

  public List<Principal> principals() {
    return List.copyOf(parts.principals().values());
  }

  public List<Approver> approvers() {
    return List.copyOf(parts.approvers().values());
  }

  /** Every tenant that has a principal or an approver, in no order; one can be there repeatedly. */
  public Stream<String> tenants() {
    return Stream.concat(
        parts.principals().values().stream().map(Principal::tenant),
        parts.approvers().values().stream().map(Approver::tenant));
  }

  public Optional<Principal> principal(String tenant, String subject) {
    return Optional.ofNullable(parts.principals().get(tenant + "\u0000" + subject));
  }

  /** The roles of a subject, sorted; none for one that is no principal. */
  public List<String> rolesOf(String tenant, String subject) {
    return principal(tenant, subject).map(Principal::roles).orElse(List.of());
  }

  public SortedMap<String, Role> roles() {
    return parts.roles();
  }

  /** This policy, with the same document and digest, and with the present state of governance. */
  public Policy with(Rollout now) {
    return new Policy(this, now);
  }

  /** The rules by which tools may be added by submission and approval; absent: none may. */
  public Optional<ToolGovernance> governance() {
    return parts.governance();
  }

  /**
   * The tools that may run now, by name and version: those that are listed, and those that
   * governance added.
   */
  public List<ApprovedTool> tools() {
    return running;
  }

  /**
   * An approved tool: one that the policy lists, or a governed one in a stage that runs for
   * anybody. Whether it runs for a caller is for {@link #mayRun}; whether it was revoked is checked
   * at execution.
   */
  public Optional<ApprovedTool> tool(String name, String version) {
    return listed(name, version)
        .or(() ->
            governed(name, version)
                .filter(governed -> governed.stage().runs())
                .map(governed -> ApprovedTool.of(name, version, governed)));
  }

  /** A tool that the policy itself lists. */
  public Optional<ApprovedTool> listed(String name, String version) {
    return Optional.ofNullable(parts.tools().get(ApprovedTool.key(name, version)));
  }

  /** Whether governance may add that tool: it is not listed, and its name is covered. */
  public boolean governs(String name, String version) {
    return parts.governs(name) && listed(name, version).isEmpty();
  }

  /** The state in governance of a tool that governance may add, in any stage. */
  public Optional<GovernedTool> governed(String name, String version) {
    return rollout
        .tool(name, version)
        .filter(tool -> governs(name, version))
        .flatMap(ApprovedTool::governed);
  }

  /**
   * The version for a call that names none: {@link VersionRule}.
   *
   * @return empty if there is none for such calls
   */
  public Optional<ApprovedTool> defaultVersion(String tool, CanaryDraw draw) {
    return VersionRule.choose(
        tools().stream().filter(t -> t.ref().name().equals(tool) && !rollout.prohibits(t)).toList(),
        draw);
  }

  /** Whether a call may name this version of a tool. */
  public boolean mayRun(ApprovedTool tool, CanaryDraw draw) {
    return VersionRule.mayRun(tool, draw);
  }

  /** Whether a tool may run on that language runtime. */
  public boolean allowsRuntime(String language, String version) {
    return parts.governance().filter(ToolGovernance::runtimes).isEmpty()
        || rollout.approvesRuntime(language, version);
  }

  /**
   * @throws WritException {@code GRD-009} where policy approves no such tool
   */
  public ApprovedTool requireTool(String name, String version) {
    return tool(name, version)
        .orElseThrow(() -> new WritException(GuardianError.TOOL_UNKNOWN, name + " " + version));
  }

  /** The budgets, and the accounts of mandates, which every policy has. */
  public SortedMap<String, Budget> budgets() {
    return budgets;
  }

  /** Whose mandates count; absent: nobody's. */
  public Optional<MandateTrust> mandates() {
    return parts.mandates();
  }

  public SortedMap<String, Rate> rates() {
    return parts.rates();
  }

  public List<Hours> hours() {
    return parts.hours();
  }

  public List<Order> orders() {
    return parts.orders();
  }

  public List<Rule> rules() {
    return parts.rules();
  }

  /**
   * The first rule that covers such a call, counted from 0; −1 if none does.
   *
   * @param roles the subject's
   */
  public int ruleNumber(
      String tool, String operation, String tenant, String subject, List<String> roles) {
    List<Rule> rules = rules();
    for (int i = 0; i < rules.size(); i++) {
      if (rules.get(i).effect().applies(tool, operation)
          && rules.get(i).match().applies(tenant, subject, roles, tool)) {
        return i;
      }
    }
    return -1;
  }

  /** What one call costs, in the smallest unit. */
  public Optional<Long> price(String tool, String operation) {
    return Optional.ofNullable(parts.prices().get(tool + "/" + operation))
        .or(() -> Optional.ofNullable(parts.prices().get(tool)));
  }

  /** The approver roles that a subject holds, sorted. */
  public List<String> approverRoles(String tenant, String subject) {
    Approver approver = parts.approvers().get(tenant + "\u0000" + subject);
    return approver == null ? List.of() : approver.roles();
  }

  /**
   * As what a person looks at its tenant's effects, sorted; none for who is not in {@code people}.
   */
  public List<PolicyPerson.Look> looksAs(String tenant, String subject) {
    PolicyPerson person = parts.people().get(tenant + "\u0000" + subject);
    return person == null ? List.of() : person.looksAs();
  }

  /**
   * What people's reads in a tenant are recorded, sorted; none without the section {@code reads}.
   */
  public List<ReadClass> recordsReads(String tenant) {
    RecordedReads reads = parts.reads().get(tenant);
    return reads == null ? List.of() : reads.what();
  }

  /**
   * Whether a subject may execute for, and fetch the outcomes of, another one (protocol rule 3).
   */
  public boolean mayExecuteFor(String tenant, String subject) {
    return rolesOf(tenant, subject).stream().anyMatch(parts.executeFor()::contains);
  }

  /** The same in one of its roles alone. */
  public boolean mayExecuteFor(String tenant, String subject, String role) {
    return rolesOf(tenant, subject).contains(role) && parts.executeFor().contains(role);
  }

  /** Whether this policy revokes a delegation or approval. */
  public boolean revokes(Digest document) {
    return parts.revoked().contains(document);
  }

  /** The profile of seed 000's surface; absent: it admits nothing. */
  public Optional<ExecuteProfile> execute() {
    return parts.execute();
  }

  /** The profile of seed 002's surface; absent: it admits nothing. */
  public Optional<CommandProfile> commands() {
    return parts.commands();
  }

  /** Whether a subject, acting in a role, may hand a secret to a tool. */
  public boolean grantsSecret(
      String secret, String tenant, String subject, String role, String tool) {
    return parts.secrets().values().stream()
        .anyMatch(grant -> grant.covers(secret, tenant, subject, role, tool));
  }

  /** The names of all secrets that policy grants to anybody, sorted. */
  public List<String> secretNames() {
    return parts.secrets().values().stream().map(SecretGrant::name).distinct().toList();
  }

  /**
   * The programs that may exist in a role's sandboxes, sorted: those of the role itself, and those
   * that it has in the section {@code commands}.
   */
  public List<String> commandsOf(String role) {
    TreeSet<String> names = new TreeSet<>();
    Optional.ofNullable(parts.roles().get(role)).ifPresent(r -> names.addAll(r.commands()));
    parts
        .commands()
        .flatMap(profile -> Optional.ofNullable(profile.roles().get(role)))
        .ifPresent(r -> names.addAll(r.commands()));
    return List.copyOf(names);
  }

  /** Limits on what tenants may store; the defaults if the section is absent. */
  public StorageLimits storage() {
    return parts.storage().orElse(StorageLimits.DEFAULT);
  }

  /** When contents are deleted; without the section never. */
  public Retention retention() {
    return parts.retention().orElse(Retention.KEEP_ALL);
  }

  /**
   * Whether a subject may upload content into its tenant's store: it needs a role for that.
   *
   * @param narrowed the roles that its credential is narrowed to; none: all of the subject's
   */
  public boolean mayStore(String tenant, String subject, List<String> narrowed) {
    return rolesOf(tenant, subject).stream()
        .filter(role -> narrowed.isEmpty() || narrowed.contains(role))
        .anyMatch(role ->
            storage()
                .putBy()
                .map(roles -> roles.contains(role))
                .orElseGet(() -> !parts.roles().get(role).tools().isEmpty()));
  }

  /** When runs that surfaces opened are closed; absent: when their callers close them. */
  public Optional<RunLimits> runs() {
    return parts.runs();
  }

  /**
   * Whether the run that a surface opened for one subject may be used and read by another one.
   *
   * @param roles of the other one, as far as its credential goes
   */
  public boolean sharesRun(
      String tenant, String surface, String run, String owner, String subject, List<String> roles) {
    List<String> ownersRoles = rolesOf(tenant, owner);
    return runs().map(RunLimits::sharedBy).orElse(List.of()).stream()
        .filter(share -> share.covers(tenant, surface, run))
        .anyMatch(share -> share.isOf(owner, ownersRoles) && share.isOf(subject, roles));
  }

  /** Names of sandbox guarantees that this policy waives on hosts that lack them, sorted. */
  public List<String> waived() {
    return parts.sandbox().map(SandboxRules::waived).orElse(List.of());
  }

  /** Settings of the tool engine; the defaults if the section is absent. */
  public EngineSettings engine() {
    return parts.engine().orElse(EngineSettings.DEFAULT);
  }

  /** The resources of a resource class; empty for an unknown class. */
  public Optional<Resources> resourceClass(String name) {
    return engine().classes().of(name);
  }

  /** The terms for hosts that drivers get. */
  public HostTerms host() {
    return host;
  }

  private HostTerms hostTerms() {
    return new HostTerms(
        waived(),
        parts.commands().map(CommandProfile::images).orElseGet(TreeMap::new),
        parts.commands().map(c -> c.limits().orElse(CommandLimits.DEFAULT)),
        engine().classes(),
        workspaces());
  }

  /** Where policy does not say which directory is whose, one of several tenants has none. */
  private Optional<SortedMap<String, String>> workspaces() {
    boolean several = principals().stream().map(Principal::tenant).distinct().count() > 1;
    return parts
        .commands()
        .flatMap(CommandProfile::workspaces)
        .or(() -> several ? Optional.of(new TreeMap<>()) : Optional.empty());
  }

  /** The accounts of a budget that an effect is charged to; a mandate's follow from the mandate. */
  public List<String> accountsOf(Budget budget, String tenant, List<String> subjects, String tool) {
    return MandateAccounts.isOne(budget.name())
        ? List.of()
        : budget.scope().keys(budget.match(), tenant, subjects, s -> rolesOf(tenant, s), tool);
  }

  /** The accounts of a rate limit that an effect counts in. */
  public List<String> accountsOf(Rate rate, String tenant, List<String> subjects, String tool) {
    return rate.scope().keys(rate.match(), tenant, subjects, s -> rolesOf(tenant, s), tool);
  }

  @Override
  public String toString() {
    return name() + " version " + version() + " " + digest;
  }
}
