package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The provider of OpenID Connect by which people sign in to the console, as the configuration names
 * it (spec/console.md).
 *
 * @param issuer exactly as the provider names itself
 * @param secret the file of the client's secret; absent for a public client
 * @param address the origin at which browsers reach this server; absent on loopback alone
 * @param authority the file of the provider's authorities; absent for those of the system
 * @param origins further origins that the provider's endpoints may have
 * @param scopes what is asked for beside {@code openid}
 */
public record OidcSettings(
    String issuer,
    String clientId,
    Optional<Path> secret,
    Optional<String> address,
    Optional<Path> authority,
    List<String> origins,
    List<String> scopes,
    People people) {
  public OidcSettings {
    origins = List.copyOf(origins);
    scopes = List.copyOf(scopes);
  }

  /**
   * Who somebody is here, by the claims of the provider.
   *
   * @param subjectClaim whose value is the subject
   * @param tenant of everybody; absent where a claim says it
   * @param tenantClaim whose value is a key of {@code tenants}
   * @param rolesClaim where the provider's roles stand, name by name; empty where nobody is
   *     narrowed
   * @param roles what the provider's roles are here
   */
  public record People(
      String subjectClaim,
      Optional<String> tenant,
      Optional<String> tenantClaim,
      SortedMap<String, String> tenants,
      List<String> rolesClaim,
      SortedMap<String, List<String>> roles) {
    public People {
      tenants = Collections.unmodifiableSortedMap(new TreeMap<>(tenants));
      rolesClaim = List.copyOf(rolesClaim);
      TreeMap<String, List<String>> copy = new TreeMap<>();
      roles.forEach((name, here) -> copy.put(name, List.copyOf(here)));
      roles = Collections.unmodifiableSortedMap(copy);
    }
  }

  /** The same, with file names relative to that folder. */
  public OidcSettings inFolder(Path folder) {
    return new OidcSettings(
        issuer,
        clientId,
        secret.map(folder::resolve),
        address,
        authority.map(folder::resolve),
        origins,
        scopes,
        people);
  }

  /** Of what decides who somebody is: where it changes, what was said before counts no more. */
  public Digest identity() {
    TreeMap<String, JsonValue> tenants = new TreeMap<>();
    people.tenants().forEach((claim, tenant) -> tenants.put(claim, JsonValue.of(tenant)));
    TreeMap<String, JsonValue> roles = new TreeMap<>();
    people
        .roles()
        .forEach((claim, here) ->
            roles.put(claim, JsonValue.of(here.stream().map(JsonValue::of).toList())));
    return Jcs.digest(
        JsonValue.object()
            .put("issuer", issuer)
            .put("client_id", clientId)
            .put("subject_claim", people.subjectClaim())
            .put("tenant", people.tenant().orElse(""))
            .put("tenant_claim", people.tenantClaim().orElse(""))
            .put("tenants", new JsonValue.Obj(tenants))
            .putList("roles_claim", people.rolesClaim(), JsonValue::of)
            .put("roles", new JsonValue.Obj(roles))
            .build());
  }
}
