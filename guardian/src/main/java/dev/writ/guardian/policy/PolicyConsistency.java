package dev.writ.guardian.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.FeatureFlag;
import dev.writ.guardian.policy.limit.RunLimits;
import dev.writ.guardian.policy.limit.RunShare;
import dev.writ.guardian.policy.limit.StorageLimits;
import dev.writ.guardian.policy.mandate.MandateAccounts;
import dev.writ.guardian.policy.mandate.MandateIssuer;
import dev.writ.guardian.policy.rule.Match;
import dev.writ.guardian.policy.rule.Order;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.policy.rule.Rule;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.guardian.policy.seed.EffectTemplate;
import dev.writ.guardian.policy.seed.ExecuteIntent;
import dev.writ.guardian.policy.seed.ExecuteProfile;
import dev.writ.guardian.policy.seed.ExecuteTenant;
import dev.writ.guardian.yaml.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Consumer;

/** Conditions between the entries of a policy: every name is defined, every limit is given. */
final class PolicyConsistency {
  private final PolicyParts parts;
  private final Section section;
  private final Consumer<WritException> faults;
  private final TreeSet<String> toolNames = new TreeSet<>();

  private PolicyConsistency(PolicyParts parts, Section section, Consumer<WritException> faults) {
    this.parts = parts;
    this.section = section;
    this.faults = faults;
    parts.tools().values().forEach(tool -> toolNames.add(tool.ref().name()));
  }

  /**
   * @param faults is told each fault; it may end the check by throwing it
   */
  static void check(PolicyParts parts, Section section, Consumer<WritException> faults) {
    new PolicyConsistency(parts, section, faults).check();
  }

  private void check() {
    roles();
    tools();
    approvers();
    mandates();
    CountedCalls.check(
        parts,
        found -> faults.accept(section.at("budgets", GuardianError.POLICY_LIMIT_UNWRITTEN, found)));
    parts.execute().ifPresent(this::execute);
    parts.commands().ifPresent(this::commands);
    parts.commands().ifPresent(this::workspaces);
    shares();
    parts.engine().ifPresent(this::engine);
  }

  /**
   * Requires known names: a misspelt one would leave something switched on, or without its quota.
   */
  private void engine(EngineSettings engine) {
    engine.quotas().tenants().keySet().forEach(t -> tenant("engine", t));
    for (FeatureFlag flag : engine.flags()) {
      flag.tenant().ifPresent(t -> tenant("engine", t));
      flag.tool().ifPresent(t -> tool("engine", t));
    }
  }

  private void tenant(String key, String tenant) {
    if (parts.principals().values().stream().noneMatch(p -> p.tenant().equals(tenant))) {
      faults.accept(section.at(key, GuardianError.POLICY_REFERENCE, "tenant \"" + tenant + "\""));
    }
  }

  private void workspaces(CommandProfile commands) {
    commands.workspaces().ifPresent(all -> all.keySet().forEach(t -> tenant("commands", t)));
  }

  private void execute(ExecuteProfile execute) {
    for (ExecuteTenant tenant : execute.tenants().values()) {
      for (String subject : tenant.subjects().keySet()) {
        if (!parts.principals().containsKey(tenant.tenant() + "\u0000" + subject)) {
          faults.accept(
              section.at(
                  "execute",
                  GuardianError.POLICY_REFERENCE,
                  "principal \"" + tenant.tenant() + "/" + subject + "\""));
        }
      }
    }
    for (ExecuteIntent intent : execute.intents().values()) {
      if (execute.tenant(intent.tenant()).isEmpty()) {
        faults.accept(
            section.at(
                "execute", GuardianError.POLICY_REFERENCE, "tenant \"" + intent.tenant() + "\""));
      }
      template("execute", intent.effect());
    }
    execute.privileged().ifPresent(p -> approverRole("execute", p.role()));
  }

  private void commands(CommandProfile commands) {
    commands.roles().keySet().forEach(role -> defined("commands", role));
    template("commands", commands.effect());
  }

  private void template(String key, EffectTemplate effect) {
    if (!parts.tools().containsKey(effect.tool() + "\u0000" + effect.version())
        && !parts.governs(effect.tool())) {
      faults.accept(
          section.at(
              key,
              GuardianError.POLICY_REFERENCE,
              "tool \"" + effect.tool() + "\" version \"" + effect.version() + "\""));
    }
  }

  private void approverRole(String key, String role) {
    if (parts.approvers().values().stream().noneMatch(a -> a.roles().contains(role))) {
      faults.accept(
          section.at(
              key,
              GuardianError.POLICY_REFERENCE,
              "approver role \"" + role + "\", which nobody in approvers holds"));
    }
  }

  private void roles() {
    for (Principal principal : parts.principals().values()) {
      principal.roles().forEach(role -> defined("principals", role));
    }
    parts.executeFor().forEach(role -> defined("execute_for", role));
    parts
        .storage()
        .flatMap(StorageLimits::putBy)
        .ifPresent(roles -> roles.forEach(role -> defined("storage", role)));
    for (Role role : parts.roles().values()) {
      for (String tool : role.tools()) {
        tool("roles", tool.split("/", 2)[0]);
      }
    }
    matches().forEach(match -> match.role().ifPresent(r -> defined("roles", r)));
  }

  private List<Match> matches() {
    TreeSet<String> seen = new TreeSet<>();
    List<Match> all = new ArrayList<>();
    parts.budgets().values().forEach(b -> all.add(b.match()));
    parts.rates().values().forEach(r -> all.add(r.match()));
    parts.hours().forEach(h -> all.add(h.match()));
    parts.rules().forEach(r -> all.add(r.match()));
    parts.secrets().values().forEach(s -> all.add(s.match()));
    all.removeIf(match -> !seen.add(match.toString()));
    return all;
  }

  private void defined(String key, String role) {
    if (!parts.roles().containsKey(role)) {
      faults.accept(section.at(key, GuardianError.POLICY_REFERENCE, "role \"" + role + "\""));
    }
  }

  /** Requires that members of shares exist: a misspelt name would share with nobody. */
  private void shares() {
    for (RunShare share : parts.runs().map(RunLimits::sharedBy).orElse(List.of())) {
      share.roles().forEach(role -> defined("runs", role));
      for (String subject : share.subjects()) {
        if (!parts.principals().containsKey(share.tenant() + "\u0000" + subject)) {
          faults.accept(
              section.at(
                  "runs",
                  GuardianError.POLICY_REFERENCE,
                  "principal \"" + share.tenant() + "/" + subject + "\""));
        }
      }
    }
  }

  private void tools() {
    parts.rules().forEach(r -> tool("requirements", r.effect().tool()));
    parts.prices().keySet().forEach(p -> tool("prices", p.split("/", 2)[0]));
    for (Order order : parts.orders()) {
      tool("temporal", order.effect().tool());
      tool("temporal", order.after().tool());
    }
    matches().forEach(m -> m.tool().ifPresent(t -> tool("tools", t)));
  }

  /**
   * Requires a tool that is listed or that governance may add; whether it is ever added cannot be
   * checked here.
   */
  private void tool(String key, String tool) {
    if (!toolNames.contains(tool) && !parts.governs(tool)) {
      faults.accept(section.at(key, GuardianError.POLICY_REFERENCE, "tool \"" + tool + "\""));
    }
  }

  private void approvers() {
    for (Rule rule : parts.rules()) {
      rule.require().approverRoles().forEach(role -> approverRole("requirements", role));
    }
  }

  /** Requires issuers that are there, and that no budget takes the name of a mandate's account. */
  private void mandates() {
    for (Rule rule : parts.rules()) {
      for (String issuer : rule.mandate().map(Requirement.Mandate::issuers).orElse(List.of())) {
        if (parts.mandates().filter(trust -> trust.has(issuer)).isEmpty()) {
          faults.accept(
              section.at(
                  "requirements", GuardianError.POLICY_REFERENCE, "issuer \"" + issuer + "\""));
        }
      }
    }
    parts
        .mandates()
        .ifPresent(trust ->
            trust.issuers().values().stream()
                .map(MandateIssuer::tenant)
                .distinct()
                .forEach(t -> tenant("mandates", t)));
    parts.budgets().keySet().stream()
        .filter(MandateAccounts::isOne)
        .forEach(name ->
            faults.accept(
                section.at(
                    "budgets",
                    GuardianError.POLICY_VALUE,
                    "budget \"" + name + "\" has the name of an account of mandates")));
  }
}
