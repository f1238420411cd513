package dev.writ.guardian.policy.governance;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The section {@code governance} of a policy: which tools may be added by submission and approval,
 * and whose approvals that takes.
 *
 * @param tools names, or prefixes of names followed by {@code *}, sorted
 * @param approvals how many approvers of which role a version needs, by role
 * @param approvers the roles of each approver, by subject; their keys are the installation's
 * @param runtimes whether a tool runs only on a language runtime that an operator approved
 * @param ceiling the most that a governed tool may declare; absent: no ceiling
 * @param libraries what a governed tool may carry below {@code vendor/}, sorted; absent: any
 */
public record ToolGovernance(
    List<String> tools,
    SortedMap<String, Long> approvals,
    SortedMap<String, List<String>> approvers,
    boolean runtimes,
    Optional<CapabilityCeiling> ceiling,
    Optional<List<ApprovedLibrary>> libraries) {
  private static final long APPROVERS_MAX = 100;

  public static ToolGovernance read(Section section) {
    TreeMap<String, Long> approvals = new TreeMap<>();
    Section counts = section.section("approvals");
    counts.keys().forEach(role -> approvals.put(role, counts.between(role, 1, APPROVERS_MAX)));
    counts.end();
    TreeMap<String, List<String>> approvers = new TreeMap<>();
    Section holders = section.section("approvers");
    holders.keys().forEach(subject -> approvers.put(subject, holders.names(subject)));
    holders.end();
    ToolGovernance governance =
        new ToolGovernance(
            section.names("tools"),
            Collections.unmodifiableSortedMap(approvals),
            Collections.unmodifiableSortedMap(approvers),
            section.optional("runtimes", section::bool).orElse(false),
            section.optional("ceiling", key -> CapabilityCeiling.read(section.section(key))),
            section.optional("libraries", key -> libraries(section, key)));
    section.require("tools", governance.tools.stream().allMatch(ToolGovernance::isPattern), "");
    section.require("approvals", !approvals.isEmpty(), "no approval at all");
    approvals.forEach((role, count) -> governance.requireHolders(section, role, count));
    section.end();
    return governance;
  }

  private static List<ApprovedLibrary> libraries(Section section, String key) {
    List<ApprovedLibrary> listed =
        section.list(key, item -> ApprovedLibrary.read(item.itemSection()));
    List<ApprovedLibrary> sorted =
        listed.stream().distinct().sorted(ApprovedLibrary.ORDER).toList();
    section.require(key, sorted.size() == listed.size(), "names a library twice");
    return sorted;
  }

  private void requireHolders(Section section, String role, long count) {
    long held = approvers.values().stream().filter(roles -> roles.contains(role)).count();
    if (held < count) {
      throw section.at(
          "approvals",
          GuardianError.POLICY_REFERENCE,
          count + " approvers as \"" + role + "\", " + held + " hold it");
    }
  }

  private static boolean isPattern(String tool) {
    int star = tool.indexOf('*');
    return star < 0 || star == tool.length() - 1;
  }

  public JsonValue.Obj toJson() {
    var counts = JsonValue.object();
    approvals.forEach(counts::put);
    var holders = JsonValue.object();
    approvers.forEach((subject, roles) -> holders.putList(subject, roles, JsonValue::of));
    return JsonValue.object()
        .putList("tools", tools, JsonValue::of)
        .put("approvals", counts.build())
        .put("approvers", holders.build())
        .put("runtimes", runtimes)
        .putIfPresent("ceiling", ceiling, CapabilityCeiling::toJson)
        .putIfPresent(
            "libraries",
            libraries,
            list -> JsonValue.of(list.stream().<JsonValue>map(ApprovedLibrary::toJson).toList()))
        .build();
  }

  /** Whether governance may add a tool of that name. */
  public boolean covers(String tool) {
    return tools.stream()
        .anyMatch(pattern ->
            pattern.endsWith("*")
                ? tool.startsWith(pattern.substring(0, pattern.length() - 1))
                : tool.equals(pattern));
  }

  /** Whether a subject may approve tools in that role. */
  public boolean approves(String subject, String role) {
    return approvers.getOrDefault(subject, List.of()).contains(role);
  }
}
