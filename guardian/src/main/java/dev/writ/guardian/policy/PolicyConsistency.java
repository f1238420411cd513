package dev.writ.guardian.policy;

import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Conditions between the entries of a policy: every name is defined, every limit is given. */
final class PolicyConsistency {
  private PolicyConsistency() {}

  static void check(PolicyParts parts, Section section) {
    TreeSet<String> toolNames = new TreeSet<>();
    parts.tools().values().forEach(tool -> toolNames.add(tool.ref().name()));
    roles(parts, section, toolNames);
    tools(parts, section, toolNames);
    approvers(parts, section);
    budgets(parts, section);
    parts.execute().ifPresent(execute -> execute(parts, section, execute));
    parts.commands().ifPresent(commands -> commands(parts, section, commands));
    parts.commands().ifPresent(commands -> workspaces(parts, section, commands));
    shares(parts, section);
    parts.engine().ifPresent(engine -> engine(parts, section, toolNames, engine));
  }

  /**
   * Requires known names: a misspelt one would leave something switched on, or without its quota.
   */
  private static void engine(
      PolicyParts parts, Section section, TreeSet<String> toolNames, EngineSettings engine) {
    engine.quotas().tenants().keySet().forEach(t -> tenant(parts, section, "engine", t));
    for (FeatureFlag flag : engine.flags()) {
      flag.tenant().ifPresent(t -> tenant(parts, section, "engine", t));
      flag.tool().ifPresent(t -> tool(parts, section, "engine", toolNames, t));
    }
  }

  private static void tenant(PolicyParts parts, Section section, String key, String tenant) {
    if (parts.principals().values().stream().noneMatch(p -> p.tenant().equals(tenant))) {
      throw section.at(key, GuardianError.POLICY_REFERENCE, "tenant \"" + tenant + "\"");
    }
  }

  private static void workspaces(PolicyParts parts, Section section, CommandProfile commands) {
    commands
        .workspaces()
        .ifPresent(all -> all.keySet().forEach(t -> tenant(parts, section, "commands", t)));
  }

  private static void execute(PolicyParts parts, Section section, ExecuteProfile execute) {
    for (ExecuteTenant tenant : execute.tenants().values()) {
      for (String subject : tenant.subjects().keySet()) {
        if (!parts.principals().containsKey(tenant.tenant() + "\u0000" + subject)) {
          throw section.at(
              "execute",
              GuardianError.POLICY_REFERENCE,
              "principal \"" + tenant.tenant() + "/" + subject + "\"");
        }
      }
    }
    for (ExecuteIntent intent : execute.intents().values()) {
      if (execute.tenant(intent.tenant()).isEmpty()) {
        throw section.at(
            "execute", GuardianError.POLICY_REFERENCE, "tenant \"" + intent.tenant() + "\"");
      }
      template(parts, section, "execute", intent.effect());
    }
    execute.privileged().ifPresent(p -> approverRole(parts, section, "execute", p.role()));
  }

  private static void commands(PolicyParts parts, Section section, CommandProfile commands) {
    commands.roles().keySet().forEach(role -> defined(parts, section, "commands", role));
    template(parts, section, "commands", commands.effect());
  }

  private static void template(
      PolicyParts parts, Section section, String key, EffectTemplate effect) {
    if (!parts.tools().containsKey(effect.tool() + "\u0000" + effect.version())
        && !parts.governs(effect.tool())) {
      throw section.at(
          key,
          GuardianError.POLICY_REFERENCE,
          "tool \"" + effect.tool() + "\" version \"" + effect.version() + "\"");
    }
  }

  private static void approverRole(PolicyParts parts, Section section, String key, String role) {
    if (parts.approvers().values().stream().noneMatch(a -> a.roles().contains(role))) {
      throw section.at(
          key,
          GuardianError.POLICY_REFERENCE,
          "approver role \"" + role + "\", which nobody in approvers holds");
    }
  }

  private static void roles(PolicyParts parts, Section section, TreeSet<String> toolNames) {
    for (Principal principal : parts.principals().values()) {
      principal.roles().forEach(role -> defined(parts, section, "principals", role));
    }
    parts.executeFor().forEach(role -> defined(parts, section, "execute_for", role));
    parts
        .storage()
        .flatMap(StorageLimits::putBy)
        .ifPresent(roles -> roles.forEach(role -> defined(parts, section, "storage", role)));
    for (Role role : parts.roles().values()) {
      for (String tool : role.tools()) {
        tool(parts, section, "roles", toolNames, tool.split("/", 2)[0]);
      }
    }
    matches(parts)
        .forEach(match -> match.role().ifPresent(r -> defined(parts, section, "roles", r)));
  }

  private static List<Match> matches(PolicyParts parts) {
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

  private static void defined(PolicyParts parts, Section section, String key, String role) {
    if (!parts.roles().containsKey(role)) {
      throw section.at(key, GuardianError.POLICY_REFERENCE, "role \"" + role + "\"");
    }
  }

  /** Requires that members of shares exist: a misspelt name would share with nobody. */
  private static void shares(PolicyParts parts, Section section) {
    for (RunShare share : parts.runs().map(RunLimits::sharedBy).orElse(List.of())) {
      share.roles().forEach(role -> defined(parts, section, "runs", role));
      for (String subject : share.subjects()) {
        if (!parts.principals().containsKey(share.tenant() + "\u0000" + subject)) {
          throw section.at(
              "runs",
              GuardianError.POLICY_REFERENCE,
              "principal \"" + share.tenant() + "/" + subject + "\"");
        }
      }
    }
  }

  private static void tools(PolicyParts parts, Section section, TreeSet<String> toolNames) {
    parts.rules().forEach(r -> tool(parts, section, "requirements", toolNames, r.effect().tool()));
    parts
        .prices()
        .keySet()
        .forEach(p -> tool(parts, section, "prices", toolNames, p.split("/", 2)[0]));
    for (Order order : parts.orders()) {
      tool(parts, section, "temporal", toolNames, order.effect().tool());
      tool(parts, section, "temporal", toolNames, order.after().tool());
    }
    matches(parts)
        .forEach(m -> m.tool().ifPresent(t -> tool(parts, section, "tools", toolNames, t)));
  }

  /**
   * Requires a tool that is listed or that governance may add; whether it is ever added cannot be
   * checked here.
   */
  private static void tool(
      PolicyParts parts, Section section, String key, TreeSet<String> toolNames, String tool) {
    if (!toolNames.contains(tool) && !parts.governs(tool)) {
      throw section.at(key, GuardianError.POLICY_REFERENCE, "tool \"" + tool + "\"");
    }
  }

  private static void approvers(PolicyParts parts, Section section) {
    for (Rule rule : parts.rules()) {
      rule.require()
          .approverRoles()
          .forEach(role -> approverRole(parts, section, "requirements", role));
    }
  }

  /**
   * Everything that a principal may use, now or once governance adds it, must be counted by a
   * budget of calls, and must have a price if a budget of costs counts it.
   */
  private static void budgets(PolicyParts parts, Section section) {
    for (Principal principal : parts.principals().values()) {
      TreeSet<String> usable = new TreeSet<>();
      principal
          .roles()
          .forEach(
              role -> parts.roles().get(role).tools().forEach(t -> usable.add(t.split("/", 2)[0])));
      usable.forEach(tool -> counted(parts, section, principal, tool));
    }
  }

  private static void counted(
      PolicyParts parts, Section section, Principal principal, String tool) {
    boolean calls = false;
    for (Budget budget : parts.budgets().values()) {
      boolean applies =
          budget.match().applies(principal.tenant(), principal.subject(), principal.roles(), tool);
      calls |= applies && budget.unit() == Budget.Unit.CALLS;
      if (applies && budget.unit() == Budget.Unit.COST && !parts.prices().containsKey(tool)) {
        throw section.at(
            "budgets",
            GuardianError.POLICY_LIMIT_UNWRITTEN,
            "budget \""
                + budget.name()
                + "\" counts the cost of \""
                + tool
                + "\", which has none"
                + " in prices");
      }
    }
    if (!calls) {
      throw section.at(
          "budgets",
          GuardianError.POLICY_LIMIT_UNWRITTEN,
          "no budget in calls covers \""
              + tool
              + "\" for "
              + principal.tenant()
              + "/"
              + principal.subject());
    }
  }
}
