package dev.writ.replay.proposal;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.JsonPointers;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.rule.Requirement;
import dev.writ.guardian.policy.rule.Rule;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Writes the narrowest policy that allows what was seen, and rounds up where a record is only a
 * sample (spec/propose.md).
 */
public final class PolicyProposal {
  private final Policy from;
  private final List<SeenCall> seen;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;
  private final SortedMap<String, List<SeenCall>> operations = new TreeMap<>();
  private final TreeMap<String, String> comments = new TreeMap<>();

  private PolicyProposal(
      Policy from, List<SeenCall> seen, Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.from = from;
    this.seen = seen;
    this.manifests = manifests;
    seen.forEach(
        call -> operations.computeIfAbsent(call.operation(), _ -> new ArrayList<>()).add(call));
  }

  /**
   * @param from the policy that is in force: what no call tells stays as it has it
   * @param seen not empty
   * @param manifests the tools, by their packages
   */
  public static Proposal of(
      Policy from, List<SeenCall> seen, Function<ToolRef, Optional<ToolManifest>> manifests) {
    PolicyProposal proposal = new PolicyProposal(from, seen, manifests);
    PolicyDocument document = proposal.document();
    try {
      return proposal.proposal(proposal.withoutUnusedTools(document));
    } catch (WritException e) {
      if (e.code() != GuardianError.POLICY_REFERENCE) {
        throw e;
      }
      return proposal.proposal(document.put("tools", from.toJson().get("tools")));
    }
  }

  private Proposal proposal(PolicyDocument document) {
    String text = PolicyText.write(document.toJson(), comments);
    Policy policy = Policy.parse(text.getBytes(StandardCharsets.UTF_8), "the proposal");
    return new Proposal(
        policy,
        text,
        new ProposalCases(policy, manifests).of(operations.values(), seen),
        seen.size(),
        operations.size());
  }

  private PolicyDocument document() {
    comments.put(
        "/writ_policy",
        "Made from "
            + Proposal.counted(seen.size(), "call")
            + " of "
            + Proposal.counted(operations.size(), "operation")
            + ", allowed from "
            + seen.getFirst().at()
            + " to "
            + seen.getLast().at()
            + ".");
    comments.put("/requirements", "Read each before you sign it: what was seen need not be right.");
    PolicyDocument document = new PolicyDocument(from.toJson());
    var roles = JsonValue.object();
    from.roles()
        .keySet()
        .forEach(name ->
            roles.put(
                name,
                role(
                    name,
                    (JsonValue.Obj) new PolicyDocument(from.toJson()).object("roles").get(name))));
    return document
        .put("roles", roles.build())
        .put("budgets", budgets())
        .put("temporal", temporal())
        .put("requirements", requirements());
  }

  private PolicyDocument withoutUnusedTools(PolicyDocument document) {
    TreeSet<String> used =
        seen.stream()
            .map(call -> call.tool().name())
            .collect(Collectors.toCollection(TreeSet::new));
    return document.put(
        "tools",
        document.list("tools").stream()
            .filter(tool -> used.contains(text((JsonValue.Obj) tool, "name")))
            .toList());
  }

  // Roles.

  /** A role that allows what those did who hold it. */
  private JsonValue role(String name, JsonValue.Obj role) {
    List<SeenCall> calls =
        seen.stream().filter(call -> call.inputs().roles().contains(name)).toList();
    TreeMap<String, JsonValue> members = new TreeMap<>(role.members());
    members.put("tools", names(calls, call -> Stream.of(call.operation())));
    members.put("sandboxes", names(calls, call -> Stream.of(call.request().effect().sandbox())));
    members.put("paths", names(calls, this::directories));
    members.put("environment", names(calls, this::environment));
    members.put("network", names(calls, this::places));
    TreeSet<String> commands = new TreeSet<>();
    calls.forEach(call -> texts(call, ToolManifest.Capabilities::commands).forEach(commands::add));
    members.remove("commands");
    if (!commands.isEmpty()) {
      members.put("commands", PolicyDocument.texts(commands));
    }
    JsonValue.Obj resources = resources(calls);
    members.put("resources", resources);
    members.computeIfPresent(
        "declared", (_, declared) -> within((JsonValue.Obj) declared, resources));
    return new JsonValue.Obj(members);
  }

  private static JsonValue within(JsonValue.Obj declared, JsonValue.Obj ceiling) {
    TreeMap<String, JsonValue> members = new TreeMap<>(declared.members());
    members.replaceAll((name, value) -> PolicyDocument.lesser(value, ceiling.get(name)));
    return new JsonValue.Obj(members);
  }

  private static JsonValue names(List<SeenCall> calls, Function<SeenCall, Stream<String>> names) {
    return PolicyDocument.texts(
        calls.stream().flatMap(names).collect(Collectors.toCollection(TreeSet::new)));
  }

  private static JsonValue.Obj resources(List<SeenCall> calls) {
    TreeMap<String, JsonValue> most = new TreeMap<>();
    for (String name : List.of("cpu_ms", "memory_bytes", "output_bytes", "wall_ms")) {
      most.put(name, JsonValue.of(0));
    }
    calls.forEach(call ->
        call.request()
            .effect()
            .resources()
            .toJson()
            .members()
            .forEach((name, value) -> most.merge(name, value, PolicyDocument::greater)));
    return new JsonValue.Obj(most);
  }

  /** The texts at the places of params that a capability names. */
  private Stream<String> texts(
      SeenCall call, Function<ToolManifest.Capabilities, List<String>> pointers) {
    return values(call, pointers)
        .flatMap(
            value -> value instanceof JsonValue.Arr list ? list.items().stream() : Stream.of(value))
        .filter(JsonValue.Str.class::isInstance)
        .map(value -> ((JsonValue.Str) value).value());
  }

  private Stream<JsonValue> values(
      SeenCall call, Function<ToolManifest.Capabilities, List<String>> pointers) {
    Effect effect = call.request().effect();
    return capabilities(call).map(pointers).stream()
        .flatMap(List::stream)
        .flatMap(pointer -> JsonPointers.find(effect.params(), pointer).stream());
  }

  private Optional<ToolManifest.Capabilities> capabilities(SeenCall call) {
    return manifests.apply(call.tool()).map(ToolManifest::capabilities);
  }

  private Stream<String> directories(SeenCall call) {
    return texts(call, ToolManifest.Capabilities::paths)
        .map(path -> path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : ".");
  }

  private Stream<String> environment(SeenCall call) {
    return values(call, ToolManifest.Capabilities::environment)
        .filter(JsonValue.Obj.class::isInstance)
        .flatMap(value -> ((JsonValue.Obj) value).members().keySet().stream());
  }

  private Stream<String> places(SeenCall call) {
    return Stream.concat(
            texts(call, ToolManifest.Capabilities::network),
            capabilities(call).stream().flatMap(all -> all.hosts().stream()))
        .flatMap(text -> NetworkPlace.parse(text).stream())
        .map(place -> place.host() + ":" + place.port());
  }

  /** Budgets of the policy, and one for calls. */
  private List<JsonValue.Obj> budgets() {
    return Stream.concat(
            SeenAmounts.others(from.toJson().get("budgets")).stream(),
            Stream.of(SeenAmounts.budget(seen)))
        .toList();
  }

  private JsonValue temporal() {
    JsonValue.Obj temporal = (JsonValue.Obj) from.toJson().get("temporal");
    List<JsonValue.Obj> rates =
        Stream.concat(
                SeenAmounts.others(temporal.get("rates")).stream(),
                Stream.of(SeenAmounts.rate(seen)))
            .toList();
    return PolicyDocument.with(temporal, "rates", _ -> JsonValue.of(rates));
  }

  // Requirements.

  /** Rules that ask for approvals or documents stay; one for each other operation. */
  private List<JsonValue> requirements() {
    List<JsonValue> rules = new ArrayList<>();
    List<Rule> kept =
        from.rules().stream()
            .filter(rule -> !isOfExpressions(rule.require()))
            .filter(rule -> calls(rule).findAny().isPresent())
            .toList();
    JsonValue.Arr all = (JsonValue.Arr) from.toJson().get("requirements");
    for (Rule rule : kept) {
      comments.put(
          "/requirements/" + rules.size(), counted(calls(rule).toList()) + "; this rule was there");
      rules.add(all.items().get(from.rules().indexOf(rule)));
    }
    operations.forEach((_, calls) -> {
      SeenCall first = calls.getFirst();
      if (kept.stream().noneMatch(rule -> covers(rule, first))) {
        comments.put("/requirements/" + rules.size(), counted(calls));
        rules.add(rule(first, calls));
      }
    });
    return rules;
  }

  private static JsonValue rule(SeenCall first, Collection<SeenCall> calls) {
    List<JsonValue> conditions =
        ArgumentShape.of(calls.stream().map(call -> call.request().effect().params()).toList())
            .stream()
            .<JsonValue>map(cel -> JsonValue.object().put("cel", cel).build())
            .toList();
    return JsonValue.object()
        .put(
            "effect",
            JsonValue.object()
                .put("tool", first.tool().name())
                .put("operation", first.request().effect().operation())
                .build())
        .put("require", JsonValue.object().put("all", JsonValue.of(conditions)).build())
        .build();
  }

  private static String counted(Collection<SeenCall> calls) {
    TreeSet<String> subjects =
        calls.stream()
            .map(call -> call.request().scope().subject())
            .collect(Collectors.toCollection(TreeSet::new));
    return Proposal.counted(calls.size(), "call")
        + ", by "
        + (subjects.size() > 3 ? subjects.size() + " subjects" : String.join(", ", subjects));
  }

  private Stream<SeenCall> calls(Rule rule) {
    return seen.stream().filter(call -> covers(rule, call));
  }

  private static boolean covers(Rule rule, SeenCall call) {
    return rule.effect().applies(call.tool().name(), call.request().effect().operation());
  }

  /** Whether expressions alone decide: those are made anew. */
  private static boolean isOfExpressions(Requirement requirement) {
    return switch (requirement) {
      case Requirement.All all -> all.children().stream().allMatch(PolicyProposal::isOfExpressions);
      case Requirement.Any any -> any.children().stream().allMatch(PolicyProposal::isOfExpressions);
      case Requirement.None none ->
          none.children().stream().allMatch(PolicyProposal::isOfExpressions);
      case Requirement.Cel _ -> true;
      case Requirement.Approvals _, Requirement.Artifact _, Requirement.Mandate _ -> false;
    };
  }

  static String text(JsonValue.Obj object, String member) {
    return ((JsonValue.Str) object.get(member)).value();
  }
}
