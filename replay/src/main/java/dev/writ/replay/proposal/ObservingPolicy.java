package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A policy with {@code mode: observe} (spec/policy.md, Observing) that approves every registered
 * tool, so that a record comes to be (spec/propose.md).
 */
public final class ObservingPolicy {
  private ObservingPolicy() {}

  /**
   * @param from its rules and roles stay, and are recorded instead of enforced
   * @param registered the tools of the installation; of a name that policy does not list, the
   *     version whose name comes last
   * @return YAML
   */
  public static String of(Policy from, Collection<ToolManifest> registered) {
    PolicyDocument document = new PolicyDocument(from.toJson());
    document
        .put("mode", JsonValue.of("observe"))
        .put("tools", tools(from, document, registered))
        .put(
            "budgets",
            Stream.concat(
                    SeenAmounts.others(document.get("budgets")).stream(),
                    Stream.of(SeenAmounts.unlimitedBudget()))
                .toList());
    JsonValue.Obj temporal = document.object("temporal");
    List<JsonValue.Obj> rates =
        Stream.concat(
                SeenAmounts.others(temporal.get("rates")).stream(),
                Stream.of(SeenAmounts.rate(JsonValue.Num.MAX_INTEGER)))
            .toList();
    document.put("temporal", PolicyDocument.with(temporal, "rates", _ -> JsonValue.of(rates)));
    TreeMap<String, String> comments = new TreeMap<>();
    comments.put("/mode", "Rules and roles are recorded, not enforced: spec/policy.md, Observing.");
    return PolicyText.write(document.toJson(), comments);
  }

  private static List<JsonValue> tools(
      Policy from, PolicyDocument document, Collection<ToolManifest> registered) {
    TreeMap<String, ToolManifest> last = new TreeMap<>();
    registered.stream()
        .filter(manifest ->
            from.tools().stream().noneMatch(tool -> tool.ref().name().equals(manifest.name())))
        .forEach(manifest ->
            last.merge(
                manifest.name(),
                manifest,
                (a, b) -> a.version().compareTo(b.version()) >= 0 ? a : b));
    List<JsonValue> listed = new ArrayList<>(document.list("tools"));
    for (ToolManifest manifest : last.values()) {
      listed.add(
          JsonValue.object()
              .put("name", manifest.name())
              .put("version", manifest.version())
              .put("package", manifest.ref().packageDigest())
              .put("stage", "active")
              .build());
    }
    return listed;
  }
}
