package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.apart.ExecutorSettings;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.AddressRange;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.limit.TrustedProxies;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.security.auth.x500.X500Principal;

/** Reads the configuration of a server from its file and its environment (spec/gateway.md). */
final class GatewayConfigReader {
  private static final int REQUEST_HEAD_MAX = 1 << 20;
  private static final long WARM_UP_S_MAX = 600;
  private static final String WARM_UP_VARIABLE = "WRIT_WARM_UP_S";

  private GatewayConfigReader() {}

  /** As {@link GatewayConfig#parse}. */
  static GatewayConfig parse(byte[] yaml, String fileName, Map<String, String> environment) {
    try {
      return read(Section.of(fileName, PlainYaml.read(yaml, fileName)), environment);
    } catch (WritException e) {
      // The YAML reader is policy's and throws policy's codes; its message names the place.
      throw e.code() instanceof GatewayError
          ? e
          : new WritException(GatewayError.CONFIG_FIELD, e.code().meaning() + ": " + e.found(), e);
    }
  }

  private static GatewayConfig read(Section file, Map<String, String> environment) {
    file.require("writ_gateway", file.between("writ_gateway", 0, Integer.MAX_VALUE) == 1, "not 1");
    Optional<Section> listen = file.optional("listen", file::section);
    GatewayConfig config =
        new GatewayConfig(
            ListenSection.read(listen, environment),
            file.optional("limits", file::section)
                .map(GatewayConfigReader::limits)
                .orElse(HttpLimits.DEFAULT),
            file.listOrNone("tokens", item -> token(item.itemSection())),
            surfaces(file.optional("surfaces", file::section)),
            Duration.ofSeconds(file.optional("drain_s", k -> file.between(k, 0, 3600)).orElse(30L)),
            file.optional("blob_bytes_max", k -> file.between(k, 1, 1L << 40))
                .orElse(GatewayConfig.BLOB_BYTES_MAX),
            extras(file, environment));
    file.end();
    requireBinding(config);
    return config;
  }

  private static GatewayConfig.Extras extras(Section file, Map<String, String> environment) {
    return new GatewayConfig.Extras(
        file.listOrNone("certificates", item -> certificate(item.itemSection())),
        file.listOrNone("hosts", GatewayConfigReader::host),
        file.listOrNone("origins", GatewayConfigReader::origin),
        file.optional("telemetry", key -> TelemetrySettings.read(file.section(key))),
        file.optional("tool_pool", key -> ToolPoolSettings.read(file.section(key)))
            .orElse(ToolPoolSettings.DEFAULT),
        file.optional("region", key -> region(file, key)),
        file.optional("alerts", key -> AlertThresholds.read(file.section(key)))
            .orElse(AlertThresholds.DEFAULT),
        sinks(file.optional("sinks", file::section)),
        warmUp(file, environment),
        file.optional("oidc", key -> OidcSection.read(file.section(key))),
        file.optional("cells", key -> CellSettings.read(file.section(key))),
        file.optional("checkpoints", key -> CheckpointSettings.read(file.section(key))),
        file.optional("executor", key -> ExecutorSettings.read(file.section(key))));
  }

  private static Duration warmUp(Section file, Map<String, String> environment) {
    Optional<Long> inFile = file.optional("warm_up_s", k -> file.between(k, 0, WARM_UP_S_MAX));
    String outside = environment.getOrDefault(WARM_UP_VARIABLE, "");
    if (outside.isEmpty()) {
      return inFile.map(Duration::ofSeconds).orElse(GatewayConfig.Extras.WARM_UP);
    }
    if (!outside.matches("[0-9]{1,3}") || Long.parseLong(outside) > WARM_UP_S_MAX) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          WARM_UP_VARIABLE + " is not a number of 0 to " + WARM_UP_S_MAX);
    }
    return Duration.ofSeconds(Long.parseLong(outside));
  }

  private static Certificates.Entry certificate(Section s) {
    String dn = s.name("dn");
    X500Principal name;
    try {
      name = new X500Principal(dn);
    } catch (IllegalArgumentException e) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "certificates: \"" + dn + "\" is no distinguished name", e);
    }
    Certificates.Entry entry =
        new Certificates.Entry(s.name("name"), name, s.name("tenant"), s.name("subject"), roles(s));
    s.end();
    return entry;
  }

  private static String host(Section.Item item) {
    String host = item.name();
    if (!host.matches("[A-Za-z0-9.-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\]")) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "hosts: \"" + host + "\" is no host name without a port");
    }
    return host;
  }

  /** A browser's origin is scheme, host and port, in lower case and without a path. */
  private static String origin(Section.Item item) {
    String origin = item.name();
    if (!origin.matches("https?://[a-z0-9.-]{1,200}(:[0-9]{1,5})?")) {
      throw new WritException(
          GatewayError.CONFIG_FIELD,
          "origins: \"" + origin + "\" is no origin like https://a.example");
    }
    return origin;
  }

  private static String region(Section file, String key) {
    String region = file.name(key);
    file.require(key, Receipt.isRegion(region), "\"" + region + "\" is no region like eu-1");
    return region;
  }

  private static void requireBinding(GatewayConfig config) {
    boolean asked =
        config.listen().protection() instanceof Listen.Protection.Tls tls
            && tls.clients().isPresent();
    if (!asked && !config.extras().certificates().isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "certificates need tls: own with a client_ca");
    }
    boolean elsewhere = !config.listen().isUnreachable();
    if (elsewhere && config.extras().oidc().filter(o -> o.address().isEmpty()).isPresent()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "oidc needs an address, where browsers reach the server");
    }
  }

  /** Refuses an empty list of roles: it would look like a credential that is not narrowed. */
  private static List<String> roles(Section s) {
    Optional<List<String>> roles = s.optional("roles", s::names);
    s.require("roles", roles.filter(List::isEmpty).isEmpty(), "no role; leave roles out for all");
    return roles.orElse(List.of());
  }

  private static HttpLimits limits(Section s) {
    HttpLimits d = HttpLimits.DEFAULT;
    HttpLimits limits =
        new HttpLimits(
            number(s, "uri_bytes_max", 256, 65536, d.uriBytesMax()),
            number(s, "head_bytes_max", 1024, REQUEST_HEAD_MAX, d.headBytesMax()),
            number(s, "head_fields_max", 16, 10_000, d.headFieldsMax()),
            number(s, "connections_max", 1, 1_000_000, d.connectionsMax()),
            number(s, "connections_per_address_max", 1, 1_000_000, d.connectionsPerAddressMax()),
            number(s, "concurrent_max", 1, 100_000, d.concurrentMax()),
            number(s, "concurrent_per_tenant_max", 1, 100_000, d.concurrentPerTenantMax()),
            number(s, "concurrent_per_credential_max", 1, 100_000, d.concurrentPerCredentialMax()),
            number(s, "unverified_max", 1, 100_000, d.unverifiedMax()),
            number(s, "unverified_per_address_max", 1, 100_000, d.unverifiedPerAddressMax()),
            number(s, "unverified_bytes_max", 4096, 64 << 20, d.unverifiedBytesMax()),
            number(s, "streams_max", 1, 100_000, d.streamsMax()),
            s.optional("memory_max", k -> s.between(k, 1 << 20, 1L << 40)).orElse(d.memoryMax()),
            seconds(s, "head_within_s", d.headWithin()),
            seconds(s, "body_within_s", d.bodyWithin()),
            seconds(s, "write_within_s", d.writeWithin()),
            new TrustedProxies(s.listOrNone("proxies", GatewayConfigReader::proxy)));
    s.end();
    return limits;
  }

  private static AddressRange proxy(Section.Item item) {
    return AddressRange.parse(item.name())
        .orElseThrow(() ->
            new WritException(
                GatewayError.CONFIG_FIELD,
                "limits/proxies: " + item.name() + " is no address, or range such as 10.0.0.0/8"));
  }

  private static int number(Section s, String key, int min, int max, int otherwise) {
    return s.optional(key, k -> (int) s.between(k, min, max)).orElse(otherwise);
  }

  private static Duration seconds(Section s, String key, Duration otherwise) {
    return s.optional(key, k -> Duration.ofSeconds(s.between(k, 1, 3600))).orElse(otherwise);
  }

  private static Tokens.Entry token(Section s) {
    Tokens.Entry entry =
        new Tokens.Entry(
            s.name("name"),
            s.digest("digest"),
            s.name("tenant"),
            s.name("subject"),
            roles(s),
            s.optional("expires_at", s::time));
    s.end();
    return entry;
  }

  private static SortedMap<String, SurfaceConfig> surfaces(Optional<Section> section) {
    TreeMap<String, SurfaceConfig> surfaces = new TreeMap<>();
    section.ifPresent(all -> {
      for (String name : all.keys()) {
        surfaces.put(name, SurfaceConfig.read(all.section(name)));
      }
      all.end();
    });
    return surfaces;
  }

  private static SortedMap<String, SinkConfig> sinks(Optional<Section> section) {
    TreeMap<String, SinkConfig> sinks = new TreeMap<>();
    section.ifPresent(all -> {
      for (String name : all.keys()) {
        all.require(name, name.matches("[a-z0-9][a-z0-9_-]{0,62}"), "no name of a sink");
        sinks.put(name, SinkConfig.read(all.section(name)));
      }
      all.end();
    });
    return sinks;
  }
}
