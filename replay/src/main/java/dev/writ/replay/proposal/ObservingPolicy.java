package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Budget;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.SeedProfile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A policy under which everything is let through that the kernel can serve, so that a record comes
 * to be (spec/propose.md, Observing). It is a policy as any other: what it allows, it says.
 */
public final class ObservingPolicy {
  /** Any host, at the ports of the web. */
  private static final List<String> ANYWHERE = List.of("*:443", "*:80");

  /** What the name of such a policy ends in. */
  static final String OBSERVING = ", observing";

  private final Policy from;
  private final SortedMap<String, ToolManifest> tools = new TreeMap<>();

  private ObservingPolicy(Policy from, Collection<ToolManifest> registered) {
    this.from = from;
    registered.forEach(manifest ->
        tools.merge(
            manifest.name(), manifest, (a, b) -> a.version().compareTo(b.version()) >= 0 ? a : b));
  }

  /**
   * @param registered the tools of the installation; of one name, the version that policy lists, or
   *     else the one whose name comes last
   * @return YAML
   */
  public static String of(Policy from, Collection<ToolManifest> registered) {
    return new ObservingPolicy(from, registered).text();
  }

  private String text() {
    PolicyDocument document = new PolicyDocument(from.toJson());
    var roles = JsonValue.object();
    from.roles()
        .keySet()
        .forEach(name -> roles.put(name, role((JsonValue.Obj) document.object("roles").get(name))));
    document
        .put("name", JsonValue.of(name(from.name())))
        .put("roles", roles.build())
        .put("tools", listed(document))
        .put("budgets", budgets(document))
        .put("prices", prices(document))
        .put("temporal", temporal(document))
        .put("requirements", tools.keySet().stream().map(ObservingPolicy::requirement).toList());
    TreeMap<String, String> comments = new TreeMap<>();
    comments.put("/writ_policy", "Everything is let through and recorded: spec/propose.md.");
    return PolicyText.write(document.toJson(), comments);
  }

  private static String name(String name) {
    return name.endsWith(OBSERVING) ? name : name + OBSERVING;
  }

  private List<JsonValue> listed(PolicyDocument document) {
    List<JsonValue> listed = new ArrayList<>(document.list("tools"));
    tools.values().stream()
        .filter(manifest ->
            from.tools().stream().noneMatch(tool -> tool.ref().name().equals(manifest.name())))
        .map(manifest ->
            JsonValue.object()
                .put("name", manifest.name())
                .put("version", manifest.version())
                .put("package", manifest.ref().packageDigest())
                .put("stage", "active")
                .build())
        .forEach(listed::add);
    return listed;
  }

  /** What the manifests allow; secrets, programs and environment stay as they are. */
  private JsonValue role(JsonValue.Obj role) {
    TreeSet<String> network = texts(role, "network");
    network.addAll(ANYWHERE);
    TreeSet<String> sandboxes = texts(role, "sandboxes");
    tools.values().forEach(tool -> sandboxes.addAll(tool.sandboxes()));
    sandboxes.remove(SeedProfile.PRIVILEGED.text());
    TreeMap<String, JsonValue> members = new TreeMap<>(role.members());
    members.put("tools", list(tools.keySet()));
    members.put("sandboxes", list(sandboxes));
    members.put("paths", list(List.of(".")));
    members.put("network", list(network));
    members.put("resources", resources((JsonValue.Obj) role.get("resources")));
    return new JsonValue.Obj(members);
  }

  private JsonValue resources(JsonValue.Obj ceiling) {
    TreeMap<String, JsonValue> members = new TreeMap<>(ceiling.members());
    for (Resources most : tools.values().stream().map(ToolManifest::resourcesMax).toList()) {
      most.toJson()
          .members()
          .forEach((name, value) -> members.merge(name, value, PolicyDocument::greater));
    }
    return new JsonValue.Obj(members);
  }

  static TreeSet<String> texts(JsonValue.Obj object, String member) {
    TreeSet<String> texts = new TreeSet<>();
    ((JsonValue.Arr) object.get(member))
        .items()
        .forEach(item -> texts.add(((JsonValue.Str) item).value()));
    return texts;
  }

  static JsonValue list(Collection<String> texts) {
    return JsonValue.of(texts.stream().<JsonValue>map(JsonValue::of).toList());
  }

  /** Without limits, and counted all the same: what is proposed later can be held to them. */
  private static List<JsonValue> budgets(PolicyDocument document) {
    return Stream.concat(
            SeenAmounts.others(document.get("budgets")).stream(), Stream.of(SeenAmounts.budget(1)))
        .<JsonValue>map(
            budget -> PolicyDocument.with(budget, "limit", _ -> JsonValue.of("unlimited")))
        .toList();
  }

  private static JsonValue temporal(PolicyDocument document) {
    List<JsonValue> rates =
        Stream.concat(
                SeenAmounts.others(document.object("temporal").get("rates")).stream(),
                Stream.of(SeenAmounts.rate(1)))
            .<JsonValue>map(rate ->
                PolicyDocument.with(rate, "limit", _ -> JsonValue.of(JsonValue.Num.MAX_INTEGER)))
            .toList();
    return JsonValue.object().put("rates", JsonValue.of(rates)).build();
  }

  /** Where calls cost something, a tool without a price costs nothing. */
  private JsonValue prices(PolicyDocument document) {
    TreeMap<String, JsonValue> prices = new TreeMap<>(document.object("prices").members());
    if (from.budgets().values().stream().anyMatch(b -> b.unit() == Budget.Unit.COST)) {
      tools.keySet().forEach(tool -> prices.putIfAbsent(tool, JsonValue.of(0)));
    }
    return new JsonValue.Obj(prices);
  }

  private static JsonValue.Obj requirement(String tool) {
    return JsonValue.object()
        .put("effect", JsonValue.object().put("tool", tool).build())
        .put("require", JsonValue.object().put("cel", "true").build())
        .build();
  }
}
