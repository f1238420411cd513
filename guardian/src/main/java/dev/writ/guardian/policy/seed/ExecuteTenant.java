package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.yaml.Section;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A tenant of seed 000's surface, by the ids that its requests use.
 *
 * @param tenant as everywhere else
 * @param id its {@code tenant_id}
 * @param workspaces its {@code workspace_id}s, sorted
 * @param ceiling the least restricted sandbox profile that it may ask for
 * @param subjects {@code subject_id} by subject
 */
public record ExecuteTenant(
    String tenant,
    String id,
    List<String> workspaces,
    SeedProfile ceiling,
    SortedMap<String, String> subjects) {

  private static final Pattern UUID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

  static ExecuteTenant read(Section section) {
    TreeMap<String, String> subjects = new TreeMap<>();
    section.list(
        "subjects",
        item -> {
          Section subject = item.itemSection();
          String name = subject.name("subject");
          if (subjects.put(name, uuid(subject, "id")) != null) {
            throw item.refuse(GuardianError.POLICY_DUPLICATE, "\"" + name + "\"");
          }
          subject.end();
          return name;
        });
    ExecuteTenant tenant =
        new ExecuteTenant(
            section.name("tenant"),
            uuid(section, "id"),
            section.names("workspaces"),
            SeedProfile.read(section, "ceiling"),
            Collections.unmodifiableSortedMap(subjects));
    tenant.workspaces.forEach(id -> requireUuid(section, "workspaces", id));
    section.end();
    return tenant;
  }

  /** An id as the seed's requests write it; in lower case, so that there is one form of each. */
  static String uuid(Section section, String key) {
    String id = section.name(key);
    requireUuid(section, key, id);
    return id;
  }

  private static void requireUuid(Section section, String key, String id) {
    section.require(key, UUID.matcher(id).matches(), "\"" + id + "\" is no UUID in lower case");
  }

  /** Whether a text is a UUID, in either case. */
  public static boolean isUuid(String text) {
    return UUID.matcher(text.toLowerCase(Locale.ROOT)).matches();
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("id", id)
        .putList("workspaces", workspaces, JsonValue::of)
        .put("ceiling", ceiling.text())
        .putList(
            "subjects",
            List.copyOf(subjects.entrySet()),
            entry ->
                JsonValue.object()
                    .put("subject", entry.getKey())
                    .put("id", entry.getValue())
                    .build())
        .build();
  }
}
