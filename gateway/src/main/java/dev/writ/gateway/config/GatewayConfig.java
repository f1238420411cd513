package dev.writ.gateway.config;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.apart.ExecutorSettings;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.OidcSettings;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

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

  /** Of one blob, unless the configuration says otherwise: 256 MiB. */
  static final long BLOB_BYTES_MAX = 256L << 20;

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
      Optional<TelemetrySettings> telemetry,
      ToolPoolSettings toolPool,
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
            ToolPoolSettings.DEFAULT,
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
    return GatewayConfigReader.parse(yaml, fileName, environment);
  }
}
