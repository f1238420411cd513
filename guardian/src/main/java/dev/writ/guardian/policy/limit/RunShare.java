package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * A group of subjects that share runs opened by surfaces: every member may use and read runs that
 * were opened for any other member.
 *
 * @param surfaces the surfaces that opened the runs; empty: any
 * @param runs the name of the runs, or a prefix with {@code *} at its end; absent: any
 * @param roles holders of these roles are members, sorted
 * @param subjects these subjects are members, sorted
 * @param everybody whether all subjects of the tenant are members
 */
public record RunShare(
    String tenant,
    List<String> surfaces,
    Optional<String> runs,
    List<String> roles,
    List<String> subjects,
    boolean everybody) {

  static RunShare read(Section section) {
    RunShare share =
        new RunShare(
            section.name("tenant"),
            section.names("surfaces", List.of()),
            section.optional("runs", section::name),
            section.names("roles", List.of()),
            section.names("subjects", List.of()),
            section.optional("everybody", section::bool).orElse(false));
    section.require(
        "tenant",
        share.everybody != (share.roles.size() + share.subjects.size() > 0),
        "a share names roles and subjects, or says everybody: true");
    section.end();
    return share;
  }

  JsonValue.Obj toJson() {
    var json = JsonValue.object().put("tenant", tenant);
    if (!surfaces.isEmpty()) {
      json.putList("surfaces", surfaces, JsonValue::of);
    }
    json.putIfPresent("runs", runs, JsonValue::of);
    if (everybody) {
      return json.put("everybody", true).build();
    }
    if (!roles.isEmpty()) {
      json.putList("roles", roles, JsonValue::of);
    }
    if (!subjects.isEmpty()) {
      json.putList("subjects", subjects, JsonValue::of);
    }
    return json.build();
  }

  /** By which shares are sorted. */
  String key() {
    return new String(Jcs.write(toJson()), StandardCharsets.UTF_8);
  }

  /** Whether it is about that run. */
  public boolean covers(String inTenant, String surface, String run) {
    return tenant.equals(inTenant)
        && (surfaces.isEmpty() || surfaces.contains(surface))
        && runs.map(pattern -> matches(pattern, run)).orElse(true);
  }

  private static boolean matches(String pattern, String run) {
    return pattern.endsWith("*")
        ? run.startsWith(pattern.substring(0, pattern.length() - 1))
        : run.equals(pattern);
  }

  /** Whether a subject with these roles is a member. */
  public boolean isOf(String subject, List<String> held) {
    return everybody || subjects.contains(subject) || roles.stream().anyMatch(held::contains);
  }
}
