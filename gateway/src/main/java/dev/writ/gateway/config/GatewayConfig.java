package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.apart.ExecutorSettings;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.OidcSettings;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.policy.engine.ResourceClasses;
import dev.writ.guardian.yaml.Located;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import dev.writ.tools.language.PoolName;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import javax.security.auth.x500.X500Principal;

/**
 * The configuration of a server: one YAML file for people, with overrides from the environment
 * (spec/gateway.md). It holds no secret: tokens by digest, keys and other secrets by file.
 *
 * @param surfaces by name; a surface that is not here is not served
 * @param drain how long a stopping server waits for what is at work
 * @param blobBytesMax of one blob
 */
public record GatewayConfig(
    Listen listen,
    HttpLimits limits,
    List<Tokens.Entry> tokens,
    SortedMap<String, SurfaceConfig> surfaces,
    Duration drain,
    long blobBytesMax,
    Extras extras) {
  /**
   * The name of the token that a server makes for commands of its home. It is no token of the
   * configuration, which may have none of that name.
   */
  public static final String OWN_TOKEN = "home of the server";

  private static final long BLOB_BYTES_MAX = 256L << 20;
  private static final int REQUEST_HEAD_MAX = 1 << 20;
  private static final long WARM_UP_S_MAX = 600;
  private static final String WARM_UP_VARIABLE = "WRIT_WARM_UP_S";

  public GatewayConfig {
    tokens = List.copyOf(tokens);
  }

  /** With {@link Extras#NONE}. */
  public GatewayConfig(
      Listen listen,
      HttpLimits limits,
      List<Tokens.Entry> tokens,
      SortedMap<String, SurfaceConfig> surfaces,
      Duration drain,
      long blobBytesMax) {
    this(listen, limits, tokens, surfaces, drain, blobBytesMax, Extras.NONE);
  }

  /**
   * Settings that most servers do not need.
   *
   * @param certificates of clients; the listener names their authority
   * @param hosts further names by which the server may be called
   * @param origins of web pages that may call the server from a browser
   * @param telemetry where spans, metrics and log lines are sent
   * @param toolPool waiting workers of tool packages
   * @param region where this server stands, for results and metrics
   * @param alerts thresholds of alerts
   * @param sinks where executions are sent, by name
   * @param warmUp the longest time for which a new server is exercised before it is ready
   * @param oidc by which people sign in to the console
   * @param cells how it shares its installation with other gateways; absent where it is alone
   * @param checkpoints how checkpoints are published; absent where they are not
   * @param executor where the tools run, if that is another process
   */
  public record Extras(
      List<Certificates.Entry> certificates,
      List<String> hosts,
      List<String> origins,
      Optional<Telemetry> telemetry,
      ToolPool toolPool,
      Optional<String> region,
      AlertThresholds alerts,
      SortedMap<String, SinkConfig> sinks,
      Duration warmUp,
      Optional<OidcSettings> oidc,
      Optional<CellSettings> cells,
      Optional<CheckpointSettings> checkpoints,
      Optional<ExecutorSettings> executor) {
    /** Unless the configuration names another. */
    public static final Duration WARM_UP = Duration.ofSeconds(20);

    public static final Extras NONE =
        new Extras(
            List.of(),
            List.of(),
            List.of(),
            Optional.empty(),
            ToolPool.DEFAULT,
            Optional.empty(),
            AlertThresholds.DEFAULT,
            new TreeMap<>(),
            WARM_UP,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());

    public Extras {
      certificates = List.copyOf(certificates);
      hosts = List.copyOf(hosts);
      origins = List.copyOf(origins);
    }

    Extras inFolder(Path folder) {
      return new Extras(
          certificates,
          hosts,
          origins,
          telemetry,
          toolPool,
          region,
          alerts,
          sinks,
          warmUp,
          oidc.map(settings -> settings.inFolder(folder)),
          cells.map(settings -> settings.inFolder(folder)),
          checkpoints.map(settings -> settings.inFolder(folder)),
          executor.map(settings -> settings.inFolder(folder)));
    }
  }

  /**
   * Bounds of the workers that wait for calls of tool packages.
   *
   * @param budgetMib memory of all; 0 for no waiting workers
   * @param workersMax of one language and resource class
   * @param pools the same for those of their own bound
   * @param shrink how long there must have been too many before one is ended
   */
  public record ToolPool(long budgetMib, int workersMax, List<Pool> pools, Duration shrink) {
    private static final long BUDGET_MIB_MAX = 1 << 20;
    private static final int WORKERS_MAX = 1_024;
    private static final long SHRINK_S_MAX = 3_600;

    /** 1 GiB, eight workers of each pool, ten seconds. */
    public static final ToolPool DEFAULT =
        new ToolPool(1_024, 8, List.of(), Duration.ofSeconds(10));

    public ToolPool {
      pools = List.copyOf(pools);
    }

    /** One language and resource class. */
    public record Pool(String language, String resourceClass, int workersMax) {
      static Pool read(Section s) {
        Pool pool =
            new Pool(
                s.oneOf("language", PoolName.languages(), name -> name),
                s.oneOf("class", ResourceClasses.NAMES, name -> name),
                (int) s.between("workers_max", 0, WORKERS_MAX));
        s.end();
        return pool;
      }
    }

    static ToolPool read(Section s) {
      ToolPool pool =
          new ToolPool(
              s.optional("budget_mib", k -> s.between(k, 0, BUDGET_MIB_MAX))
                  .orElse(DEFAULT.budgetMib),
              s.optional("workers_max", k -> (int) s.between(k, 0, WORKERS_MAX))
                  .orElse(DEFAULT.workersMax),
              s.listOrNone("pools", item -> Pool.read(item.itemSection())),
              s.optional("shrink_s", k -> Duration.ofSeconds(s.between(k, 1, SHRINK_S_MAX)))
                  .orElse(DEFAULT.shrink));
      long different =
          pool.pools.stream().map(p -> p.language() + " " + p.resourceClass()).distinct().count();
      s.require("pools", different == pool.pools.size(), "names a pool twice");
      s.end();
      return pool;
    }
  }

  /**
   * @param otlp where OTLP/HTTP is spoken, for example {@code http://127.0.0.1:4318/v1/traces}
   * @param percent of the calls without a trace of their own whose spans are sent
   * @param metrics the same address for metrics, {@code …/v1/metrics}
   * @param logs the same for the lines of the log, {@code …/v1/logs}
   * @param every how often metrics are sent
   */
  public record Telemetry(
      String otlp, int percent, Optional<String> metrics, Optional<String> logs, Duration every) {}

  /**
   * Requires that a running server can change to that configuration: only tokens, certificates,
   * origins, the provider of people, the files of TLS and the publishing of checkpoints may differ.
   *
   * @throws WritException {@code GWY-006}, naming what differs
   */
  public void requireSameLife(GatewayConfig next) {
    List<String> others = new ArrayList<>();
    if (!listen.host().equals(next.listen.host())
        || listen.port() != next.listen.port()
        || listen.protection().getClass() != next.listen.protection().getClass()) {
      others.add("listen");
    }
    if (!limits.equals(next.limits)) {
      others.add("limits");
    }
    if (!surfaces.equals(next.surfaces)) {
      others.add("surfaces");
    }
    if (!drain.equals(next.drain)) {
      others.add("drain_s");
    }
    if (blobBytesMax != next.blobBytesMax) {
      others.add("blob_bytes_max");
    }
    if (!extras.hosts().equals(next.extras.hosts())) {
      others.add("hosts");
    }
    if (!extras.telemetry().equals(next.extras.telemetry())) {
      others.add("telemetry");
    }
    if (!extras.toolPool().equals(next.extras.toolPool())) {
      others.add("tool_pool");
    }
    if (!extras.region().equals(next.extras.region())) {
      others.add("region");
    }
    if (!extras.alerts().equals(next.extras.alerts())) {
      others.add("alerts");
    }
    if (!extras.sinks().equals(next.extras.sinks())) {
      others.add("sinks");
    }
    if (!extras.warmUp().equals(next.extras.warmUp())) {
      others.add("warm_up_s");
    }
    if (!extras.cells().equals(next.extras.cells())) {
      others.add("cells");
    }
    if (!extras.executor().equals(next.extras.executor())) {
      others.add("executor");
    }
    if (!others.isEmpty()) {
      throw new WritException(GatewayError.RESTART_NEEDED, String.join(", ", others));
    }
  }

  /** With another port. */
  public GatewayConfig withPort(int port) {
    return with(new Listen(listen.host(), port, listen.protection()));
  }

  /** With files named from the folder of the configuration. */
  public GatewayConfig inFolder(Path folder) {
    return new GatewayConfig(
        listen.inFolder(folder),
        limits,
        tokens,
        surfaces,
        drain,
        blobBytesMax,
        extras.inFolder(folder));
  }

  /** With one token more. */
  public GatewayConfig withToken(Tokens.Entry token) {
    List<Tokens.Entry> all = new ArrayList<>(tokens);
    all.add(token);
    return new GatewayConfig(listen, limits, all, surfaces, drain, blobBytesMax, extras);
  }

  /** The same with a surface, in place of one of that name. */
  public GatewayConfig withSurface(String name, SurfaceConfig surface) {
    TreeMap<String, SurfaceConfig> all = new TreeMap<>(surfaces);
    all.put(name, surface);
    return new GatewayConfig(listen, limits, tokens, all, drain, blobBytesMax, extras);
  }

  /** The same without the surface of that name, if it has one. */
  public GatewayConfig withoutSurface(String name) {
    TreeMap<String, SurfaceConfig> all = new TreeMap<>(surfaces);
    all.remove(name);
    return new GatewayConfig(listen, limits, tokens, all, drain, blobBytesMax, extras);
  }

  private GatewayConfig with(Listen other) {
    return new GatewayConfig(other, limits, tokens, surfaces, drain, blobBytesMax, extras);
  }

  /** Loopback, a free port, no tokens: only holders of keys can call. */
  public static GatewayConfig minimal(int port) {
    return new GatewayConfig(
        Listen.loopback(port),
        HttpLimits.DEFAULT,
        List.of(),
        new TreeMap<>(),
        Duration.ofSeconds(30),
        BLOB_BYTES_MAX);
  }

  /**
   * Reads a file.
   *
   * @param environment variables {@code WRIT_LISTEN}, {@code WRIT_TLS}, {@code
   *     WRIT_TLS_CERTIFICATE}, {@code WRIT_TLS_KEY} and {@code WRIT_WARM_UP_S} override the file
   * @throws WritException {@code GWY-002}, naming line, column and field; {@code GWY-003}
   */
  public static GatewayConfig parse(byte[] yaml, String fileName, Map<String, String> environment) {
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
            listen(listen, environment),
            file.optional("limits", file::section)
                .map(GatewayConfig::limits)
                .orElse(HttpLimits.DEFAULT),
            file.listOrNone("tokens", item -> token(item.itemSection())),
            surfaces(file.optional("surfaces", file::section)),
            Duration.ofSeconds(file.optional("drain_s", k -> file.between(k, 0, 3600)).orElse(30L)),
            file.optional("blob_bytes_max", k -> file.between(k, 1, 1L << 40))
                .orElse(BLOB_BYTES_MAX),
            extras(file, environment));
    file.end();
    requireBinding(config);
    return config;
  }

  private static Listen listen(Optional<Section> section, Map<String, String> environment) {
    String host = "127.0.0.1";
    int port = 8181;
    Optional<String> tls = Optional.empty();
    Optional<String> certificate = Optional.empty();
    Optional<String> key = Optional.empty();
    Optional<Listen.Clients> clients = Optional.empty();
    if (section.isPresent()) {
      Section s = section.get();
      host = s.optional("host", k -> bare(s.name(k))).orElse(host);
      port = s.optional("port", k -> (int) s.between(k, 0, 65535)).orElse(port);
      tls = s.optional("tls", k -> s.oneOf(k, List.of("none", "proxy", "own"), v -> v));
      certificate = s.optional("certificate", s::name);
      key = s.optional("key", s::name);
      clients = clients(s);
      s.end();
    }
    String at = environment.getOrDefault("WRIT_LISTEN", "");
    if (!at.isEmpty()) {
      int colon = at.endsWith("]") ? -1 : at.lastIndexOf(':');
      host = bare(colon < 0 ? at : at.substring(0, colon));
      port = colon < 0 ? port : port(at.substring(colon + 1));
    }
    tls = fromEnvironment(environment, "WRIT_TLS").or(orElse(tls));
    certificate = file(environment, "WRIT_TLS_CERTIFICATE").or(orElse(certificate));
    key = file(environment, "WRIT_TLS_KEY").or(orElse(key));
    Listen listen =
        new Listen(host, port, protection(tls.orElse("none"), certificate, key, clients));
    if (clients.isPresent() && !(listen.protection() instanceof Listen.Protection.Tls)) {
      throw new WritException(GatewayError.CONFIG_FIELD, "listen/client_ca needs tls: own");
    }
    return listen;
  }

  /** An address of IPv6 may stand in brackets, as in a URL; they are no part of it. */
  private static String bare(String host) {
    return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
  }

  /** If an authority is named, a client without a certificate of it gets no connection. */
  private static Optional<Listen.Clients> clients(Section s) {
    Optional<Path> authority = s.optional("client_ca", k -> Path.of(s.name(k)));
    Optional<Boolean> required =
        s.optional(
            "client_certificate",
            k -> s.oneOf(k, List.of("required", "offered"), v -> v).equals("required"));
    if (authority.isEmpty() && required.isPresent()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "listen/client_certificate needs a client_ca");
    }
    return authority.map(ca -> new Listen.Clients(ca, required.orElse(true)));
  }

  private static Extras extras(Section file, Map<String, String> environment) {
    return new Extras(
        file.listOrNone("certificates", item -> certificate(item.itemSection())),
        file.listOrNone("hosts", GatewayConfig::host),
        file.listOrNone("origins", GatewayConfig::origin),
        file.optional("telemetry", key -> telemetry(file.section(key))),
        file.optional("tool_pool", key -> ToolPool.read(file.section(key)))
            .orElse(ToolPool.DEFAULT),
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
      return inFile.map(Duration::ofSeconds).orElse(Extras.WARM_UP);
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

  private static Telemetry telemetry(Section s) {
    Telemetry telemetry =
        new Telemetry(
            address(s, "otlp"),
            s.optional("percent", k -> (int) s.between(k, 0, 100)).orElse(100),
            s.optional("metrics", k -> address(s, k)),
            s.optional("logs", k -> address(s, k)),
            Duration.ofSeconds(s.optional("every_s", k -> s.between(k, 1, 3_600)).orElse(60L)));
    s.end();
    return telemetry;
  }

  private static String address(Section s, String key) {
    String url = s.name(key);
    if (!url.matches("https?://[!-~]{1,250}")) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "telemetry/" + key + " is no http address");
    }
    return url;
  }

  private static String region(Section file, String key) {
    String region = file.name(key);
    file.require(key, Receipt.isRegion(region), "\"" + region + "\" is no region like eu-1");
    return region;
  }

  private static void requireBinding(GatewayConfig config) {
    boolean asked =
        config.listen.protection() instanceof Listen.Protection.Tls tls
            && tls.clients().isPresent();
    if (!asked && !config.extras.certificates().isEmpty()) {
      throw new WritException(
          GatewayError.CONFIG_FIELD, "certificates need tls: own with a client_ca");
    }
    boolean elsewhere = !config.listen.isUnreachable();
    if (elsewhere && config.extras.oidc().filter(o -> o.address().isEmpty()).isPresent()) {
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

  /**
   * A file name from the environment is relative to the directory in which the server was started.
   */
  private static Optional<String> file(Map<String, String> environment, String name) {
    return fromEnvironment(environment, name)
        .map(path -> Path.of(path).toAbsolutePath().toString());
  }

  private static Supplier<Optional<String>> orElse(Optional<String> otherwise) {
    return () -> otherwise;
  }

  private static Optional<String> fromEnvironment(Map<String, String> environment, String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
  }

  private static int port(String text) {
    if (text.matches("[0-9]{1,5}") && Integer.parseInt(text) <= 65535) {
      return Integer.parseInt(text);
    }
    throw new WritException(GatewayError.CONFIG_FIELD, "WRIT_LISTEN: \"" + text + "\" is no port");
  }

  private static Listen.Protection protection(
      String tls,
      Optional<String> certificate,
      Optional<String> key,
      Optional<Listen.Clients> clients) {
    return switch (tls) {
      case "none" -> new Listen.Protection.None();
      case "proxy" -> new Listen.Protection.Proxy();
      case "own" ->
          new Listen.Protection.Tls(
              Path.of(certificate.orElseThrow(() -> missing("certificate"))),
              Path.of(key.orElseThrow(() -> missing("key"))),
              clients);
      default ->
          throw new WritException(
              GatewayError.CONFIG_FIELD, "tls \"" + tls + "\" is none of none, proxy, own");
    };
  }

  private static WritException missing(String what) {
    return new WritException(GatewayError.CONFIG_FIELD, "tls: own needs a " + what);
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
            seconds(s, "write_within_s", d.writeWithin()));
    s.end();
    return limits;
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

  /**
   * The configuration of one sink.
   *
   * @param kind for example {@code redis}
   * @param tenant the tenant whose records it gets; absent for all
   * @param secret a file
   * @param settings all others, which the kind interprets
   */
  public record SinkConfig(
      String kind,
      Optional<String> tenant,
      Optional<String> secret,
      SortedMap<String, String> settings) {

    static SinkConfig read(Section s) {
      String kind = s.name("kind");
      Optional<String> tenant = s.optional("tenant", s::name);
      Optional<String> secret = s.optional("secret", s::name);
      TreeMap<String, String> settings = new TreeMap<>();
      for (String key : s.keys()) {
        if (!List.of("kind", "tenant", "secret").contains(key)) {
          settings.put(key, setting(s, key));
        }
      }
      s.end();
      return new SinkConfig(kind, tenant, secret, settings);
    }

    private static String setting(Section s, String key) {
      JsonValue value =
          s.value(key) instanceof Located.Scalar scalar ? scalar.value() : JsonValue.NULL;
      return switch (value) {
        case JsonValue.Num _ -> String.valueOf(s.count(key));
        case JsonValue.Bool _ -> String.valueOf(s.bool(key));
        default -> s.name(key);
      };
    }
  }

  /** The configuration of one surface. */
  public record SurfaceConfig(
      SortedMap<String, String> keys, List<String> secrets, Map<String, String> settings) {
    public SurfaceConfig {
      secrets = List.copyOf(secrets);
      settings = new TreeMap<>(settings);
    }

    /**
     * @return {@code keys}: the name of a key file for each tenant; {@code secrets}: files; {@code
     *     settings}: settings that the surface interprets
     */
    static SurfaceConfig read(Section s) {
      SurfaceConfig config =
          new SurfaceConfig(
              words(s.optional("keys", s::section)),
              s.listOrNone("secrets", Section.Item::name),
              words(s.optional("settings", s::section)));
      s.end();
      return config;
    }

    private static SortedMap<String, String> words(Optional<Section> section) {
      TreeMap<String, String> words = new TreeMap<>();
      section.ifPresent(s -> {
        new ArrayList<>(s.keys()).forEach(key -> words.put(key, s.name(key)));
        s.end();
      });
      return words;
    }
  }
}
