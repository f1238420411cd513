package dev.writ.guardian.policy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.ToolGovernance;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.guardian.policy.limit.Hours;
import dev.writ.guardian.policy.limit.Rate;
import dev.writ.guardian.policy.limit.RequestLimits;
import dev.writ.guardian.policy.limit.RunLimits;
import dev.writ.guardian.policy.limit.StorageLimits;
import dev.writ.guardian.policy.mandate.MandateTrust;
import dev.writ.guardian.policy.retention.RecordedReads;
import dev.writ.guardian.policy.retention.Retention;
import dev.writ.guardian.policy.rule.Order;
import dev.writ.guardian.policy.rule.Rule;
import dev.writ.guardian.policy.rule.SecretGrant;
import dev.writ.guardian.policy.seed.CommandProfile;
import dev.writ.guardian.policy.seed.ExecuteProfile;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** The content of a policy, and how it is read and written. */
record PolicyParts(
    String name,
    long version,
    Optional<Digest> previous,
    RequestLimits limits,
    SortedMap<String, Principal> principals,
    SortedMap<String, Role> roles,
    SortedMap<String, ApprovedTool> tools,
    SortedMap<String, Budget> budgets,
    SortedMap<String, Long> prices,
    SortedMap<String, Rate> rates,
    List<Hours> hours,
    List<Order> orders,
    List<Rule> rules,
    SortedMap<String, Approver> approvers,
    List<String> executeFor,
    SortedSet<Digest> revoked,
    Optional<ExecuteProfile> execute,
    Optional<CommandProfile> commands,
    SortedMap<String, SecretGrant> secrets,
    Optional<RunLimits> runs,
    Optional<SandboxRules> sandbox,
    Optional<ToolGovernance> governance,
    Optional<EngineSettings> engine,
    Optional<StorageLimits> storage,
    Optional<Retention> retention,
    SortedMap<String, PolicyPerson> people,
    SortedMap<String, RecordedReads> reads,
    Optional<MandateTrust> mandates,
    boolean observes) {

  private static final long FORMAT = 1;
  private static final String OBSERVE = "observe";

  /** The usual one is left out of the canonical form. */
  private static final List<String> MODES = List.of("enforce", OBSERVE);

  static PolicyParts read(Section section) {
    PolicyParts parts = entries(section);
    PolicyConsistency.check(
        parts,
        section,
        fault -> {
          throw fault;
        });
    return parts;
  }

  /** The entries, each by itself: names that they use may be defined nowhere. */
  static PolicyParts entries(Section section) {
    section.between("writ_policy", FORMAT, FORMAT);
    Section temporal = section.optional("temporal", section::section).orElse(null);
    PolicyParts parts =
        new PolicyParts(
            section.name("name"),
            section.between("version", 1, JsonValue.Num.MAX_INTEGER),
            section.optional("previous", section::digest),
            RequestLimits.read(section.section("limits")),
            byKey(section, "principals", i -> Principal.read(i.itemSection()), Principal::key),
            roles(section.section("roles")),
            byKey(section, "tools", i -> ApprovedTool.read(i.itemSection()), ApprovedTool::key),
            byKey(section, "budgets", i -> Budget.read(i.itemSection()), Budget::name),
            section.optional("prices", key -> prices(section.section(key))).orElseGet(TreeMap::new),
            temporal == null
                ? new TreeMap<>()
                : byKey(temporal, "rates", i -> Rate.read(i.itemSection()), Rate::name),
            temporal == null
                ? List.of()
                : temporal.listOrNone("hours", i -> Hours.read(i.itemSection())),
            temporal == null
                ? List.of()
                : temporal.listOrNone("order", i -> Order.read(i.itemSection())),
            section.list("requirements", i -> Rule.read(i.itemSection())),
            byKey(section, "approvers", i -> Approver.read(i.itemSection()), Approver::key),
            section.names("execute_for", List.of()),
            new TreeSet<>(section.listOrNone("revoked", Section.Item::digest)),
            section.optional("execute", key -> ExecuteProfile.read(section.section(key))),
            section.optional("commands", key -> CommandProfile.read(section.section(key))),
            byKey(section, "secrets", i -> SecretGrant.read(i.itemSection()), SecretGrant::key),
            section.optional("runs", key -> RunLimits.read(section.section(key))),
            section.optional("sandbox", key -> SandboxRules.read(section.section(key))),
            section.optional("governance", key -> ToolGovernance.read(section.section(key))),
            section.optional("engine", key -> EngineSettings.read(section.section(key))),
            section.optional("storage", key -> StorageLimits.read(section.section(key))),
            section.optional("retention", key -> Retention.read(section.section(key))),
            byKey(section, "people", i -> PolicyPerson.read(i.itemSection()), PolicyPerson::key),
            byKey(
                section, "reads", i -> RecordedReads.read(i.itemSection()), RecordedReads::tenant),
            section.optional("mandates", key -> MandateTrust.read(section.section(key))),
            section.optional("mode", key -> section.oneOf(key, MODES, mode -> mode)).stream()
                .anyMatch(OBSERVE::equals));
    if (temporal != null) {
      temporal.end();
    }
    section.end();
    return parts;
  }

  /** Whether governance may add a tool of that name. */
  boolean governs(String tool) {
    return governance.filter(g -> g.covers(tool)).isPresent();
  }

  private static <T> SortedMap<String, T> byKey(
      Section section, String key, Function<Section.Item, T> reader, Function<T, String> keyOf) {
    TreeMap<String, T> byKey = new TreeMap<>();
    section.listOrNone(
        key,
        item -> {
          T value = reader.apply(item);
          String name = keyOf.apply(value);
          if (byKey.put(name, value) != null) {
            throw item.refuse(
                GuardianError.POLICY_DUPLICATE, "\"" + name.replace('\u0000', '/') + "\"");
          }
          return value;
        });
    return Collections.unmodifiableSortedMap(byKey);
  }

  private static SortedMap<String, Role> roles(Section section) {
    TreeMap<String, Role> roles = new TreeMap<>();
    for (String name : section.keys()) {
      roles.put(name, Role.read(name, section.section(name)));
    }
    section.end();
    return Collections.unmodifiableSortedMap(roles);
  }

  private static SortedMap<String, Long> prices(Section section) {
    TreeMap<String, Long> prices = new TreeMap<>();
    for (String name : section.keys()) {
      prices.put(name, section.count(name));
    }
    section.end();
    return Collections.unmodifiableSortedMap(prices);
  }

  JsonValue.Obj toJson() {
    var rolesJson = JsonValue.object();
    roles.forEach((role, content) -> rolesJson.put(role, content.toJson()));
    var pricesJson = JsonValue.object();
    prices.forEach(pricesJson::put);
    return JsonValue.object()
        .put("writ_policy", FORMAT)
        .put("name", name)
        .put("version", version)
        .putIfPresent("previous", previous, d -> JsonValue.of(d.toString()))
        .put("limits", limits.toJson())
        .putList("principals", List.copyOf(principals.values()), Principal::toJson)
        .put("roles", rolesJson.build())
        .putList("tools", List.copyOf(tools.values()), ApprovedTool::toJson)
        .putList("budgets", List.copyOf(budgets.values()), Budget::toJson)
        .put("prices", pricesJson.build())
        .put(
            "temporal",
            JsonValue.object()
                .putList("rates", List.copyOf(rates.values()), Rate::toJson)
                .putList("hours", hours, Hours::toJson)
                .putList("order", orders, Order::toJson)
                .build())
        .putList("requirements", rules, Rule::toJson)
        .putList("approvers", List.copyOf(approvers.values()), Approver::toJson)
        .putList("execute_for", executeFor, JsonValue::of)
        .putList("revoked", List.copyOf(revoked), d -> JsonValue.of(d.toString()))
        .putIfPresent("execute", execute, ExecuteProfile::toJson)
        .putIfPresent("commands", commands, CommandProfile::toJson)
        .putIfPresent(
            "secrets",
            Optional.of(secrets).filter(s -> !s.isEmpty()),
            s -> JsonValue.of(s.values().stream().map(SecretGrant::toJson).toList()))
        .putIfPresent("runs", runs, RunLimits::toJson)
        .putIfPresent("sandbox", sandbox, SandboxRules::toJson)
        .putIfPresent("governance", governance, ToolGovernance::toJson)
        .putIfPresent("engine", engine, EngineSettings::toJson)
        .putIfPresent("storage", storage, StorageLimits::toJson)
        .putIfPresent("retention", retention, Retention::toJson)
        .putIfPresent(
            "people",
            Optional.of(people).filter(p -> !p.isEmpty()),
            p -> JsonValue.of(p.values().stream().map(PolicyPerson::toJson).toList()))
        .putIfPresent(
            "reads",
            Optional.of(reads).filter(r -> !r.isEmpty()),
            r -> JsonValue.of(r.values().stream().map(RecordedReads::toJson).toList()))
        .putIfPresent("mandates", mandates, MandateTrust::toJson)
        .putIfPresent("mode", observes ? Optional.of(OBSERVE) : Optional.empty(), JsonValue::of)
        .build();
  }
}
