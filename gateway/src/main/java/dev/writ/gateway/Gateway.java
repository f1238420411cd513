package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Descriptors;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.stage.StageObserver;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.TlsFiles;
import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.OidcProvider;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.ops.CallTelemetry;
import dev.writ.gateway.ops.EffectTelemetry;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.LoggedRenewal;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.ops.OpsSurface;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.ops.Readiness;
import dev.writ.gateway.ops.ServerHealth;
import dev.writ.gateway.ops.Telemetry;
import dev.writ.gateway.ops.Watch;
import dev.writ.gateway.pipeline.Backend;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Scheduler;
import dev.writ.gateway.schedule.SharedSlots;
import dev.writ.gateway.v1.NativeApi;
import dev.writ.ledger.CommitObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** A whole server over one kernel: configuration in, surfaces wired, ready to be stopped. */
public final class Gateway implements AutoCloseable {
  /** A submission holds evidence and base64 beside the request, whose size policy limits. */
  private static final int SUBMISSION_BYTES_MAX = 4 << 20;

  private static final Duration STOPS_AFTER_DRAINING = Duration.ofSeconds(60);

  private final GatewayServer server;
  private final JsonLog log;
  private final GatewayHousekeeping housekeeping;
  private final Kernel kernel;
  private final Metrics metrics;
  private final Optional<Telemetry> telemetry;
  private final CredentialScopes narrowed;
  private final Scheduler lane;
  private final CompletableFuture<WritException> ledgerStopped;
  private final Changes changes;
  private final Optional<FrontCell> front;
  private final GatewayCallers callers;
  private final Supplier<ServerHealth> health;
  private GatewayConfig config;
  private Consumer<GatewayConfig> reloaded = _ -> {};
  private boolean closed;

  private Gateway(
      GatewayServer server,
      JsonLog log,
      GatewayConfig config,
      CredentialScopes narrowed,
      Kernel kernel,
      Metrics metrics,
      Optional<Telemetry> telemetry,
      Scheduler lane,
      GatewayHousekeeping housekeeping,
      CompletableFuture<WritException> ledgerStopped,
      Changes changes,
      Optional<FrontCell> front,
      GatewayCallers callers,
      Supplier<ServerHealth> health) {
    this.front = front;
    this.callers = callers;
    this.changes = changes;
    this.health = health;
    this.ledgerStopped = ledgerStopped;
    this.kernel = kernel;
    this.lane = lane;
    this.metrics = metrics;
    this.telemetry = telemetry;
    this.housekeeping = housekeeping;
    this.server = server;
    this.log = log;
    this.config = config;
    this.narrowed = narrowed;
  }

  /** Starts a server without a queue: every call of its surfaces runs at once. */
  public static Gateway start(
      GatewayConfig config,
      GatewayInstallation installation,
      Function<Pipeline, List<Surface>> surfaces) {
    return start(config, installation, (pipeline, _) -> surfaces.apply(pipeline));
  }

  /**
   * Starts a server.
   *
   * @param surfaces makes the surfaces beside the native API from the pipeline, and from the lane
   *     for surfaces whose callers may wait; their routes are tried before those of the native API
   */
  public static Gateway start(
      GatewayConfig config,
      GatewayInstallation installation,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces) {
    return start(config, installation, surfaces, Optional.empty());
  }

  /**
   * The same, behind a front that listens already and outlives it.
   *
   * @param front gives the requests for its cell to this server until it is told to stand by
   */
  public static Gateway start(
      GatewayConfig config,
      GatewayInstallation installation,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces,
      Optional<FrontCell> front) {
    Kernel kernel = installation.kernel();
    Optional<OidcProvider> provider = OidcFiles.read(config);
    installation.sessions().ifPresent(open -> open.signInBy(provider));
    HttpLimits limits = config.limits().within(Descriptors.limit().orElse(Long.MAX_VALUE));
    ConcurrencyLimiter places = new ConcurrencyLimiter(limits);
    GatewayCallers callers =
        new GatewayCallers(kernel, installation.sessions(), installation.cell());
    JsonLog log = new JsonLog(installation.log(), installation.clock());
    Metrics metrics =
        new Metrics(
            () -> kernel.system().policyInForce(), installation.bundles().packages()::manifest);
    metrics.thresholds(config.extras().alerts());
    Optional<Telemetry> telemetry =
        config
            .extras()
            .telemetry()
            .map(t ->
                new Telemetry(
                    t,
                    kernel.ledger().origin(),
                    installation.clock(),
                    metrics,
                    trouble -> log.event(Telemetry.TROUBLE, trouble)));
    telemetry.ifPresent(t -> log.alsoTo(t::logged));
    Watch watch =
        new Watch(
            metrics,
            (trace, spans) -> telemetry.ifPresent(t -> t.inBackground(trace, spans)),
            why -> log.failed("content-not-stored", why));
    EffectTelemetry effects = new EffectTelemetry(metrics, watch, log);
    Scheduler lane =
        new Scheduler(
            front.map(cell -> cell.front().slots()).orElseGet(SharedSlots::new),
            () -> kernel.system().policyInForce(),
            System::nanoTime,
            watch);
    metrics.lane(lane);
    Changes changes = new Changes();
    changes.whenSystemChanges(lane::policyChanged);
    Backend backend = new Backend(kernel, places, installation.running(), changes, lane, effects);
    CredentialScopes narrowed = new CredentialScopes(config);
    KernelPipeline pipeline =
        new KernelPipeline(backend, installation.surfaceKeys(), narrowed, installation.random());
    Optional<ConfiningWatch> confining =
        installation
            .confining()
            .map(processes ->
                new ConfiningWatch(
                    processes, () -> kernel.system().policy(), kernel.passed(), log));
    List<Probe> probes = new ArrayList<>(installation.probes());
    confining.ifPresent(c -> probes.add(new Probe("sandbox", c::seen)));
    Readiness readiness =
        new Readiness(kernel, pipeline, installation.disk(), probes, kernel.passed());
    readiness.measure(metrics);
    List<Surface> all = new ArrayList<>(surfaces.apply(pipeline, lane));
    all.add(new OpsSurface(readiness::checks, metrics, config.listen().isUnreachable()));
    effects.named(all);
    List<Route> others = all.stream().flatMap(surface -> surface.routes().stream()).toList();
    all.add(
        new NativeApi(
            backend, installation.bundles(), SUBMISSION_BYTES_MAX, config.blobBytesMax(), others));
    GatewayServer server =
        GatewayServer.start(
            new GatewayServer.Config(
                config.listen(),
                limits,
                all,
                callers.authenticators(config),
                new Certificates(config.extras().certificates()),
                config.extras().hosts(),
                config.extras().origins(),
                places,
                new CallTelemetry(watch, telemetry, List.of(log, metrics)),
                log,
                installation.clock(),
                installation.random()),
            front);
    GatewayMeasures.calls(metrics, places, server.connections());
    GatewayMeasures.process(metrics, log, limits.connectionsMax(), kernel);
    installation.confining().ifPresent(c -> GatewayMeasures.sandboxes(metrics, c));
    kernel.observe(watch, watch);
    Instant startedAt = installation.clock().instant();
    if (front.isEmpty()) { // else the front has what listens
      metrics.certificate("callers", server::certificateEnd);
      log.event("listening", server.url());
    }
    server.besides().forEach(url -> log.event("listening", url));
    CompletableFuture<WritException> ledgerStopped = new CompletableFuture<>();
    kernel.whenStopped(e -> {
      readiness.ledgerStopped();
      if (ledgerStopped.complete(e)) {
        log.refused("ledger-stopped", e);
      }
    });
    return new Gateway(
        server,
        log,
        config,
        narrowed,
        kernel,
        metrics,
        telemetry,
        lane,
        new GatewayHousekeeping(
            pipeline,
            kernel,
            confining,
            server.renewal(new LoggedRenewal(log, changes::happened)),
            metrics,
            log),
        ledgerStopped,
        changes,
        front,
        callers,
        () ->
            new ServerHealth(
                startedAt,
                readiness.checks(),
                lane.waiting(),
                lane.running(),
                kernel.commitsWaiting(),
                readiness.diskFree(),
                installation
                    .confining()
                    .map(c ->
                        new ServerHealth.Sandboxes(
                            confining.flatMap(ConfiningWatch::found),
                            c.running(),
                            c.started(),
                            c.ended(),
                            c.guarantees()))));
  }

  /** Has closed runs be archived as often as the rules of retention are applied. */
  public void archive(RunArchiving runs) {
    housekeeping.archive(runs);
  }

  /** Adds a number from another component to {@code /metrics}: from a sandbox, for example. */
  public void gauge(String name, String help, Supplier<Number> value) {
    metrics.gauge(name, help, value);
  }

  /** The same with labels from fixed lists. */
  public void gauge(
      String name, String help, SortedMap<String, String> labels, Supplier<Number> value) {
    metrics.gauge(name, help, labels, value);
  }

  /** Adds a number of another component that only grows, with labels from fixed lists. */
  public void counter(
      String name, String help, SortedMap<String, String> labels, Supplier<Number> value) {
    metrics.counter(name, help, labels, value);
  }

  /** The same with a label from a fixed list. */
  public void gauge(String name, String help, String label, String word, Supplier<Number> value) {
    metrics.gauge(name, help, label, word, value);
  }

  /** Adds a number that only grows, with a label from a fixed list. */
  public void counter(String name, String help, String label, String word, Supplier<Number> value) {
    metrics.counter(name, help, label, word, value);
  }

  /** Numbers of other components are added here. */
  public Metrics metrics() {
    return metrics;
  }

  /** How the server is now. */
  public ServerHealth health() {
    return health.get();
  }

  /** Announces new events in the ledger. */
  public Changes changes() {
    return changes;
  }

  private void change(GatewayConfig next) {
    Optional<OidcProvider> provider = OidcFiles.read(next);
    List<Authenticator> authenticators = callers.authenticators(next);
    Certificates certificates = new Certificates(next.extras().certificates());
    Optional<TlsFiles> files = server.files(next.listen());
    narrowed.add(next); // before a new credential can make a call
    try {
      server.change(authenticators, certificates, next.extras().origins(), files);
    } catch (WritException e) {
      narrowed.add(config);
      throw e;
    }
    callers.sessions().ifPresent(open -> open.signInBy(provider));
    changes.happened(); // wakes streams, which end where their callers are others now
  }

  /**
   * Writes a line of a part beside it, such as a sink, into its log.
   *
   * @param line an event of spec/telemetry.md
   */
  public void log(JsonValue.Obj line) {
    log.written(line);
  }

  /**
   * Reads the configuration again, and puts its tokens, certificates and origins and the TLS files
   * in force. If that is not possible, everything stays as it was, and the log says why.
   *
   * @param read reads it
   */
  public synchronized void reload(Supplier<GatewayConfig> read) {
    if (closed) {
      return;
    }
    try {
      GatewayConfig next = read.get();
      config.requireSameLife(next);
      change(next);
      config = next;
      reloaded.accept(next);
      log.event(
          "reloaded",
          "tokens: "
              + next.tokens().stream()
                  .filter(token -> !token.name().equals(GatewayConfig.OWN_TOKEN))
                  .count()
              + ", certificates: "
              + next.extras().certificates().size()
              + ", origins: "
              + next.extras().origins().size());
    } catch (RuntimeException e) {
      log.failed("reload", e);
    }
  }

  /** Adds what else changes with a configuration that is put in force while the server runs. */
  public synchronized void whenReloaded(Consumer<GatewayConfig> listener) {
    reloaded = reloaded.andThen(listener);
  }

  /**
   * Completes when the ledger has failed for good: nothing can be acknowledged any more, so the
   * process has to end and be started again.
   */
  public CompletableFuture<WritException> ledgerStopped() {
    return ledgerStopped;
  }

  public String url() {
    return server.url();
  }

  /**
   * The time within which the server stops after a shutdown began; if it takes longer, something
   * hangs.
   */
  public synchronized Duration stopsWithin() {
    return config.drain().plus(STOPS_AFTER_DRAINING);
  }

  public int port() {
    return server.port();
  }

  /**
   * Refuses new calls, lets calls at work finish, then closes all connections. Behind a front, new
   * calls go to another gateway, and those that have begun are finished, also where they wait for
   * their turn.
   */
  @Override
  public synchronized void close() {
    close(config.drain());
  }

  /**
   * The same with another time for what is at work: where nothing of it can be acknowledged any
   * more, for example.
   */
  public synchronized void close(Duration drain) {
    if (closed) {
      return;
    }
    closed = true;
    front.ifPresent(FrontCell::standBy);
    if (front.isEmpty()) {
      log.event("draining", drain.toString());
      lane.drain();
    }
    boolean whole = server.drain(drain);
    lane.drain();
    housekeeping.close();
    server.close();
    kernel.observe(StageObserver.NONE, CommitObserver.NONE);
    telemetry.ifPresent(Telemetry::close);
    String how = whole ? "everything at work was finished" : "the time to finish was up";
    if (front.isPresent()) { // the server goes on, and may take the cell again
      log.event("cell-closed", front.get() + ", " + how);
    } else {
      log.event("stopped", how);
    }
  }
}
