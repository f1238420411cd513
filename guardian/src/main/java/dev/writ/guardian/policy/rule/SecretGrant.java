package dev.writ.guardian.policy.rule;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Lets subjects hand a secret to a tool. A policy holds only the secret's name, never the secret.
 *
 * @param match whom it is for; it always names the tenant and the tool
 */
public record SecretGrant(String name, Match match) {

  public static SecretGrant read(Section section) {
    SecretGrant grant = new SecretGrant(section.name("name"), Match.read(section.section("match")));
    section.require("name", isName(grant.name), "\"" + grant.name + "\" is no plain name");
    section.require(
        "match",
        grant.match.tenant().isPresent() && grant.match.tool().isPresent(),
        "a secret is for a tenant and a tool, both written");
    section.end();
    return grant;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object().put("name", name).put("match", match.toJson()).build();
  }

  /** The key by which grants are sorted; grants with one key are the same. */
  public String key() {
    return name + "\u0000" + new String(Jcs.write(match.toJson()), StandardCharsets.UTF_8);
  }

  /**
   * The form of a secret's name, which is also a file name: 1 to 64 of letters, digits, {@code . _
   * -}.
   */
  public static boolean isName(String name) {
    return name.matches("[A-Za-z0-9_][A-Za-z0-9._-]{0,63}");
  }

  /** Whether it is for that subject, acting in one role, with that tool. */
  public boolean covers(String secret, String tenant, String subject, String role, String tool) {
    return name.equals(secret) && match.applies(tenant, subject, List.of(role), tool);
  }
}
