package dev.writ.guardian.policy.limit;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.rule.Match;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.Function;

/** The party that an account of a budget or a rate limit is for; always within one tenant. */
public enum AccountScope {
  TENANT,
  SUBJECT,
  ROLE,
  TOOL;

  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The accounts that an effect is charged to: each a canonical list of strings, so that different
   * accounts never get the same key. Sorted, each once.
   *
   * @param subjects all that are charged: the subject and its delegators
   */
  public List<String> keys(
      Match match,
      String tenant,
      List<String> subjects,
      Function<String, List<String>> rolesOf,
      String tool) {
    TreeSet<String> keys = new TreeSet<>();
    for (String subject : subjects) {
      List<String> roles = rolesOf.apply(subject);
      if (!match.applies(tenant, subject, roles, tool)) {
        continue;
      }
      switch (this) {
        case TENANT -> keys.add(key(tenant));
        case SUBJECT -> keys.add(key(tenant, subject));
        case TOOL -> keys.add(key(tenant, tool));
        case ROLE ->
            roles.stream()
                .filter(role -> match.role().filter(r -> !r.equals(role)).isEmpty())
                .forEach(role -> keys.add(key(tenant, role)));
      }
    }
    return List.copyOf(keys);
  }

  private static String key(String... parts) {
    List<JsonValue> list = new ArrayList<>(parts.length);
    for (String part : parts) {
      list.add(JsonValue.of(part));
    }
    return new String(Jcs.write(JsonValue.of(list)), StandardCharsets.UTF_8);
  }
}
