package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.Descriptors;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.stage.StageObserver;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Connections;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.TlsFiles;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.OidcCallers;
import dev.writ.gateway.http.auth.OidcProvider;
import dev.writ.gateway.http.auth.SessionAuthentication;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.ops.EffectTelemetry;
import dev.writ.gateway.ops.JsonLog;
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
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.Scheduler;
import dev.writ.gateway.schedule.SharedSlots;
import dev.writ.gateway.v1.NativeApi;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.StorageUse;
import java.io.PrintStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** A whole server over one kernel: configuration in, surfaces wired, ready to be stopped. */
public final class Gateway implements AutoCloseable {
  /** A submission holds evidence and base64 beside the request, whose size policy limits. */
  private static final int SUBMISSION_BYTES_MAX = 4 << 20;

  private static final Duration STOPS_AFTER_DRAINING = Duration.ofSeconds(60);
  private static final Duration HOUSEKEEPING_EVERY = Duration.ofSeconds(5);
  private static final Duration COLLECTING_EVERY = Duration.ofMinutes(10);

  private final GatewayServer server;
  private final JsonLog log;
  private final Housekeeping housekeeping;
  private final Kernel kernel;
  private final Metrics metrics;
  private final Optional<Telemetry> telemetry;
  private final Optional<Housekeeping> looking;
  private final Housekeeping collecting;
  private final Housekeeping retaining;
  private final RetentionSchedule retention;
  private final CredentialScopes narrowed;
  private final Scheduler lane;
  private final CompletableFuture<WritException> ledgerStopped;
  private final Changes changes;
  private final Optional<Sessions> sessions;
  private final Optional<FrontCell> front;
  private final Optional<CellDoor> cell;
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
      Housekeeping housekeeping,
      Optional<Housekeeping> looking,
      Housekeeping collecting,
      Housekeeping retaining,
      RetentionSchedule retention,
      CompletableFuture<WritException> ledgerStopped,
      Changes changes,
      Optional<Sessions> sessions,
      Optional<FrontCell> front,
      Optional<CellDoor> cell,
      Supplier<ServerHealth> health) {
    this.front = front;
    this.cell = cell;
    this.changes = changes;
    this.health = health;
    this.sessions = sessions;
    this.looking = looking;
    this.collecting = collecting;
    this.retaining = retaining;
    this.retention = retention;
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

  /**
   * The installation that a server works over; the server does not close it.
   *
   * @param running the one that made the kernel's drivers cancellable
   * @param disk where the ledger lies
   * @param surfaceKeys by {@link KernelPipeline#keyName}
   * @param log gets one line of JSON for each call
   * @param probes further conditions of readiness, beside ledger, disk, clock and policy
   * @param confining confines tools that are processes; absent if there can be none
   * @param sessions of people who sign in by a browser; absent where there is no console
   * @param cell who may call, where the kernel's log is one of several cells
   */
  public record Installation(
      Kernel kernel,
      Running running,
      Path disk,
      SortedMap<String, SigningKey> surfaceKeys,
      RunBundle bundles,
      InstantSource clock,
      SecureRandom random,
      PrintStream log,
      List<Probe> probes,
      Optional<Confining> confining,
      Optional<Sessions> sessions,
      Optional<CellDoor> cell) {
    public Installation {
      probes = List.copyOf(probes);
    }

    /** An installation whose readiness depends on ledger, disk and policy alone. */
    public Installation(
        Kernel kernel,
        Running running,
        Path disk,
        SortedMap<String, SigningKey> surfaceKeys,
        RunBundle bundles,
        InstantSource clock,
        SecureRandom random,
        PrintStream log) {
      this(
          kernel,
          running,
          disk,
          surfaceKeys,
          bundles,
          clock,
          random,
          log,
          List.of(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
    }

    /** With further conditions of readiness. */
    public Installation withProbes(List<Probe> more) {
      return new Installation(
          kernel,
          running,
          disk,
          surfaceKeys,
          bundles,
          clock,
          random,
          log,
          more,
          confining,
          sessions,
          cell);
    }

    /** With the confinement of tools that are processes, for readiness and metrics. */
    public Installation with(Confining processes) {
      return new Installation(
          kernel,
          running,
          disk,
          surfaceKeys,
          bundles,
          clock,
          random,
          log,
          probes,
          Optional.of(processes),
          sessions,
          cell);
    }

    /** With people who sign in by a browser. */
    public Installation with(Sessions people) {
      return new Installation(
          kernel,
          running,
          disk,
          surfaceKeys,
          bundles,
          clock,
          random,
          log,
          probes,
          confining,
          Optional.of(people),
          cell);
    }

    /** As one cell of several. */
    public Installation with(CellDoor door) {
      return new Installation(
          kernel,
          running,
          disk,
          surfaceKeys,
          bundles,
          clock,
          random,
          log,
          probes,
          confining,
          sessions,
          Optional.of(door));
    }
  }

  /** Starts a server without a queue: every call of its surfaces runs at once. */
  public static Gateway start(
      GatewayConfig config, Installation installation, Function<Pipeline, List<Surface>> surfaces) {
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
      Installation installation,
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
      Installation installation,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces,
      Optional<FrontCell> front) {
    Kernel kernel = installation.kernel();
    Optional<OidcProvider> provider = OidcFiles.read(config);
    installation.sessions().ifPresent(open -> open.signInBy(provider));
    HttpLimits limits = config.limits().within(Descriptors.limit().orElse(Long.MAX_VALUE));
    ConcurrencyLimiter places = new ConcurrencyLimiter(limits);
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
            metrics, (trace, spans) -> telemetry.ifPresent(t -> t.inBackground(trace, spans)));
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
                authenticators(kernel, config, installation.sessions(), installation.cell()),
                new Certificates(config.extras().certificates()),
                config.extras().hosts(),
                config.extras().origins(),
                places,
                observer(watch, telemetry, List.of(log, metrics)),
                log,
                installation.clock(),
                installation.random()),
            front);
    measure(metrics, places, server.connections());
    metrics.counter("writ.log.lines.left.out", "Log lines not written", log::leftOut);
    metrics.gauge("writ.http.connections.max", "Connections at most", limits::connectionsMax);
    metrics.gauge(
        "writ.process.descriptors",
        "Files, sockets and pipes that are open",
        () -> Descriptors.open().orElse(0));
    metrics.gauge("writ.log.size", "Events in the log", () -> kernel.ledger().treeSize());
    metrics.gauge("writ.ledger.waiting", "Batches that wait for the disk", kernel::commitsWaiting);
    installation.confining().ifPresent(c -> measure(metrics, c));
    kernel.observe(watch, watch);
    Instant startedAt = installation.clock().instant();
    if (front.isEmpty()) {
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
    RetentionSchedule retention = new RetentionSchedule(kernel, metrics, log);
    return new Gateway(
        server,
        log,
        config,
        narrowed,
        kernel,
        metrics,
        telemetry,
        lane,
        housekeeping(pipeline, kernel, log),
        confining.map(c -> looking(c, log)),
        collecting(kernel, metrics, log),
        new Housekeeping(HOUSEKEEPING_EVERY, retention, failing(log)),
        retention,
        ledgerStopped,
        changes,
        installation.sessions(),
        front,
        installation.cell(),
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

  private static Observer observer(
      Watch watch, Optional<Telemetry> telemetry, List<Observer> others) {
    return new Observer() {
      @Override
      public void begun(TraceContext trace) {
        watch.callBegins(trace);
      }

      @Override
      public boolean isSampled(String traceId) {
        return telemetry.filter(t -> t.isSampled(traceId)).isPresent();
      }

      @Override
      public void finished(Finished call) {
        Watch.Seen seen = watch.callEnds(call);
        others.forEach(other -> other.finished(seen.call()));
        telemetry.ifPresent(t -> t.ended(seen.call(), seen.spans()));
      }
    };
  }

  private static void measure(Metrics metrics, ConcurrencyLimiter places, Connections connections) {
    metrics.gauge("writ.http.at.work", "Calls at work", places::atWork);
    metrics.gauge("writ.http.streams", "Answers that are streams", places::streams);
    metrics.gauge(
        "writ.http.unverified", "Requests whose body will say whose they are", places::unverified);
    metrics.gauge("writ.http.memory.bytes", "Memory that calls hold", places::memoryUsed);
    metrics.gauge("writ.http.connections", "Open connections", connections::open);
    metrics.counter(
        "writ.http.connections.refused", "Connections without a place", connections::refused);
    metrics.counter(
        "writ.http.connections.evicted", "Connections that made room", connections::evicted);
  }

  private static void measure(Metrics metrics, Confining confining) {
    metrics.gauge("writ.sandboxes.running", "Sandboxes that live", confining::running);
    metrics.counter("writ.sandboxes.started", "Sandboxes that were made", confining::started);
    for (String reason : confining.ended().keySet()) {
      metrics.counter(
          "writ.sandbox.commands",
          "Commands that ended in a sandbox, by why",
          "reason",
          reason,
          () -> confining.ended().get(reason));
    }
  }

  /** Has closed runs be archived as often as the rules of retention are applied. */
  public void archive(RunArchiving runs) {
    retention.archive(runs);
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
    List<Authenticator> authenticators = authenticators(kernel, next, sessions, cell);
    Certificates certificates = new Certificates(next.extras().certificates());
    Optional<TlsFiles> files = server.files(next.listen());
    narrowed.add(next); // before a new credential can make a call
    try {
      server.change(authenticators, certificates, next.extras().origins(), files);
    } catch (WritException e) {
      narrowed.add(config);
      throw e;
    }
    sessions.ifPresent(open -> open.signInBy(provider));
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

  private static Housekeeping looking(ConfiningWatch confining, JsonLog log) {
    return new Housekeeping(Duration.ZERO, ConfiningWatch.EVERY, confining::look, failing(log));
  }

  /** What fails now may succeed the next time: a database that does not answer, for example. */
  private static Consumer<RuntimeException> failing(JsonLog log) {
    return e -> log.failed("housekeeping", e);
  }

  private static Housekeeping housekeeping(KernelPipeline pipeline, Kernel kernel, JsonLog log) {
    Runnable closing =
        () -> {
          int closed = pipeline.closeOverRuns(failing(log));
          if (closed > 0) {
            log.event("runs-closed", String.valueOf(closed));
          }
        };
    return new Housekeeping(
        HOUSEKEEPING_EVERY, List.of(closing, kernel::settleAwaited), failing(log));
  }

  /** Removes uploads that no document names; it reads the whole ledger where there are any. */
  private static Housekeeping collecting(Kernel kernel, Metrics metrics, JsonLog log) {
    LongAdder bytes = new LongAdder();
    metrics.counter(
        "writ.storage.collected.bytes", "Bytes of uploads that were removed", bytes::sum);
    metrics.gauge(
        "writ.storage.uploaded.bytes",
        "Bytes of uploads, of all tenants",
        () -> kernel.storageUse().values().stream().mapToLong(StorageUse::bytes).sum());
    return new Housekeeping(
        COLLECTING_EVERY,
        () -> {
          Ledger.Collected collected = kernel.collect(kernel.now());
          bytes.add(collected.bytes());
          if (collected.claims() > 0) {
            log.event(
                "storage-collected",
                collected.claims()
                    + " uploads, "
                    + collected.blobs()
                    + " blobs, "
                    + collected.bytes()
                    + " bytes");
          }
        },
        failing(log));
  }

  private static List<Authenticator> authenticators(
      Kernel kernel, GatewayConfig config, Optional<Sessions> sessions, Optional<CellDoor> cell) {
    String audience = cell.map(CellDoor::installation).orElseGet(() -> kernel.ledger().origin());
    List<Authenticator> all =
        new ArrayList<>(
            List.of(
                new Tokens(config.tokens()),
                new OidcCallers(config.extras().oidc()),
                AccessAuthentication.authenticator(() -> kernel.system().trust(), audience)));
    sessions.ifPresent(open ->
        all.add(
            new SessionAuthentication(
                open, List.copyOf(all), new Certificates(config.extras().certificates()))));
    return cell.map(door -> all.stream().map(door::guarding).toList()).orElse(all);
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

  /** What else changes with a configuration that is put in force while the server runs. */
  public synchronized void whenReloaded(Consumer<GatewayConfig> listener) {
    reloaded = listener;
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
    looking.ifPresent(Housekeeping::close);
    collecting.close();
    retaining.close();
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
