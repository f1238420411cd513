package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.auth.OidcSettings;
import dev.writ.guardian.yaml.Section;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/** Reads {@code oidc} of the configuration. */
final class OidcSection {
  private static final String ORIGIN = "https?://[a-z0-9.-]{1,200}(:[0-9]{1,5})?";

  private OidcSection() {}

  static OidcSettings read(Section s) {
    OidcSettings settings =
        new OidcSettings(
            issuer(s),
            s.name("client_id"),
            s.optional("client_secret", k -> Path.of(s.name(k))),
            s.optional("address", k -> origin(k, s.name(k))),
            s.optional("ca", k -> Path.of(s.name(k))),
            s.listOrNone("origins", item -> origin("origins", item.name())),
            s.optional("scopes", s::names).orElse(List.of()),
            people(s));
    settings.scopes().forEach(scope -> s.require("scopes", isScope(scope), "no scope: " + scope));
    s.end();
    return settings;
  }

  private static boolean isScope(String scope) {
    return scope.matches("[!#-\\[\\]-~]{1,100}");
  }

  /** OpenID Connect Discovery 1.0, 3: https, without query and fragment. */
  private static String issuer(Section s) {
    String issuer = s.name("issuer");
    try {
      URI uri = new URI(issuer);
      s.require(
          "issuer",
          uri.getHost() != null
              && uri.getRawUserInfo() == null
              && uri.getRawQuery() == null
              && uri.getRawFragment() == null
              && isProtected(uri),
          "no https address without query");
    } catch (URISyntaxException e) {
      throw new WritException(GatewayError.CONFIG_FIELD, "oidc/issuer is no address", e);
    }
    return issuer;
  }

  private static String origin(String key, String origin) {
    if (!origin.matches(ORIGIN) || !isProtected(URI.create(origin))) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "oidc/" + key + ": \"" + origin + "\" is no origin like https://a.example");
    }
    return origin;
  }

  /** Where nothing protects the connection, it must not leave this machine. */
  private static boolean isProtected(URI uri) {
    return "https".equals(uri.getScheme())
        || "http".equals(uri.getScheme())
            && uri.getHost() != null
            && Hosts.isLoopback(uri.getHost().toLowerCase(Locale.ROOT));
  }

  private static OidcSettings.People people(Section s) {
    Optional<String> tenant = s.optional("tenant", s::name);
    Optional<String> tenantClaim = s.optional("tenant_claim", s::name);
    TreeMap<String, String> tenants = new TreeMap<>();
    s.optional("tenants", s::section)
        .ifPresent(map -> {
          List.copyOf(map.keys()).forEach(claim -> tenants.put(claim, map.name(claim)));
          map.end();
        });
    s.require(
        "tenant",
        tenant.isPresent() != tenantClaim.isPresent(),
        "either a tenant, or a tenant_claim with tenants");
    s.require(
        "tenants", tenantClaim.isPresent() != tenants.isEmpty(), "they stand with a tenant_claim");
    List<String> rolesClaim =
        s.listOrNone("roles_claim", Section.Item::name); // a way: its order counts
    TreeMap<String, List<String>> roles = new TreeMap<>();
    s.optional("roles", s::section)
        .ifPresent(map -> {
          for (String claim : List.copyOf(map.keys())) {
            List<String> here = map.names(claim);
            map.require(claim, !here.isEmpty(), "no role");
            roles.put(claim, here);
          }
          map.end();
        });
    s.require("roles", rolesClaim.isEmpty() == roles.isEmpty(), "they stand with a roles_claim");
    return new OidcSettings.People(
        s.optional("subject_claim", s::name).orElse("sub"),
        tenant,
        tenantClaim,
        tenants,
        rolesClaim,
        roles);
  }
}
