package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.base.Version;
import dev.writ.cli.command.HangUp;
import dev.writ.cli.command.evidence.SeenByBoth;
import dev.writ.cli.command.executor.ExecutorWatch;
import dev.writ.cli.command.tool.ToolPools;
import dev.writ.cli.demo.Example;
import dev.writ.cli.home.ArchivingServer;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.HomeSurface;
import dev.writ.cli.home.ServedConfiguration;
import dev.writ.cli.home.ServedSandbox;
import dev.writ.cli.home.ServiceManager;
import dev.writ.cli.home.Serving;
import dev.writ.cli.mcp.RegistryTools;
import dev.writ.cli.mcp.ToldOnce;
import dev.writ.cli.publish.PublishingCheck;
import dev.writ.cli.publish.ServedCheckpoints;
import dev.writ.cli.warm.WarmUp;
import dev.writ.console.audit.AuditSurface;
import dev.writ.console.audit.RunAuditor;
import dev.writ.console.oidc.OidcError;
import dev.writ.console.oidc.OidcSurface;
import dev.writ.console.operation.OperationSurface;
import dev.writ.console.policy.PolicySurface;
import dev.writ.console.tool.ToolSurface;
import dev.writ.console.web.ConsoleSurface;
import dev.writ.console.web.SignOutSurface;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.ExecutorCard;
import dev.writ.embed.home.GatewaysSecret;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.InstalledTools;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.RotatedKeys;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.embed.home.SystemFeed;
import dev.writ.executor.CellPlacement;
import dev.writ.gateway.CellDoor;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.apart.ApartSecret;
import dev.writ.gateway.apart.ExecutorClient;
import dev.writ.gateway.apart.ExecutorSettings;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.http.server.HopKey;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.LibraryLog;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.gateway.v1.VouchedSurface;
import dev.writ.grpc.GrpcSurface;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.sinks.Sinks;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.surfaces.seed.SeedSurfaces;
import dev.writ.surfaces.tools.ToolsSurface;
import dev.writ.tools.registry.BrokenPackage;
import java.io.PrintStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** {@code writ serve}: agents submit over HTTP. */
public final class ServeCommand implements CliCommand {
  /** The exit status of a JVM with ExitOnOutOfMemoryError. */
  private static final int OUT_OF_MEMORY = 3;

  private static final int TERMINATED = 128 + 15;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "serve",
            "Serve the data directory over HTTP until Ctrl-C or SIGTERM; then it finishes"
                + " the calls at work and accepts no new ones.",
            "Without a configuration it listens on loopback, port 8181, for holders of enrolled"
                + " keys. Log lines go to stderr, one JSON object each. SIGHUP makes it read"
                + " tokens, certificates, origins, oidc, checkpoints and the files of TLS again.")
        .option(
            "--config", "FILE", "The configuration (default: gateway.yaml in the home, if any).")
        .option("--port", "PORT", "Listen on this port instead of the configured one; 0 for any.")
        .flag(
            "--init",
            "Where there is no data directory, make one first, with a token for its agent, and"
                + " show what an MCP client needs for its first call.")
        .flag(
            "--demo",
            "A temporary server with an example policy, on which the examples of the seeds are"
                + " played.")
        .example("serve --init")
        .example("serve --config gateway.yaml --port 8443");
  }

  record Listening(String url, Path home, List<Example> examples, String token) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("url", url)
          .put("home", home.toString())
          .put("token", token)
          .putList("try", examples, Example::toJson)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    SignatureEngines.use(SignatureEngines.fastest());
    JsonLog log = new JsonLog(log(session), Homes.clock());
    LibraryLog.into(log, Homes.clock());
    Thread.setDefaultUncaughtExceptionHandler((_, e) -> uncaught(log, e));
    if (arguments.has("--demo")) {
      return new ServeDemo(session)
          .run(arguments.integer("--port", 0, 65535).orElse(0L).intValue());
    }
    Optional<FirstServing> first =
        arguments.has("--init")
            ? FirstServing.make(session, arguments.integer("--port", 0, 65535))
            : Optional.empty();
    bringUpToDate(Homes.place(session));
    Home home = Homes.home(session);
    requireUnserved(home);
    GatewayConfig read = config(session, arguments, home);
    ServedConfiguration.requireOfCells(read, home);
    ServedConfiguration.requireFitting(home, read);
    if (read.extras().cells().isPresent()) {
      return cells(session, arguments, home, read);
    }
    String token = Tokens.generate(new SecureRandom());
    Tokens.Entry own = own(home, token);
    Optional<ExecutorClient> elsewhere = read.extras().executor().map(at -> executor(home, at));
    Running running =
        elsewhere.map(executor -> new Running(executor::cancel)).orElseGet(Running::new);
    ServedConfiguration served = checked(session, read, directory(arguments, home));
    LedgerPlaces.probeContents(home.ledger(), home.origin());
    Opening opening = opening(session, arguments, home, read, running);
    OpenHome open = OpenHome.open(home, elsewhere.map(opening::executedBy).orElse(opening));
    boolean mcp = surfaceKey(session, open, read);
    Supplier<GatewayConfig> again =
        () -> ServedMcp.in(config(session, arguments, home), home, mcp).withToken(own);
    GatewayConfig config = ServedMcp.in(read, home, mcp).withToken(own);
    WarmUp warmUp = warmUp(session, open, config);
    Sessions sessions = sessions(config);
    ServedOperations operations = operations(open, config);
    SortedMap<String, SigningKey> keys = keys(served.with(config), open);
    BiConsumer<String, WritException> refused = new JsonLog(log(session), Homes.clock())::refused;
    sayWaiting(home, refused);
    Optional<ExecutorWatch> watch =
        elsewhere.map(executor -> ExecutorWatch.start(executor::system, refused));
    Gateway gateway =
        start(
            session,
            open,
            running,
            config,
            keys,
            Stream.concat(Stream.of(warmUp.probe()), watch.stream().map(ExecutorWatch::probe))
                .toList(),
            sessions,
            forHome(
                open,
                own,
                surfaces(
                    session,
                    open,
                    config,
                    sessions,
                    operations,
                    session.environment(),
                    directory(arguments, home))));
    Optional<SeenByBoth> seen =
        elsewhere.map(executor -> SeenByBoth.start(home, open.kernel(), executor, refused));
    // At once, since the log says by now that it listens: a command after that is to find it.
    Serving serving = Serving.at(home, gateway.url(), token, config.listen().protection());
    HangUp.then(() -> gateway.reload(again));
    ToolPools.measure(gateway, open.workers(), config.extras().region());
    operations.serves(gateway);
    Sinks sinks = ServedSinks.start(gateway, open, served.sinks(), gateway::log);
    operations.feeds(served.sinks(), sinks.feeders());
    ServedCheckpoints checkpoints = checkpoints(gateway, open, config, operations);
    session.show(
        new Listening(
            gateway.url(), home.dir(), List.of(), first.map(FirstServing::token).orElse("")),
        (l, terminal) -> {
          terminal.out().println("listening on " + l.url());
          first.ifPresent(made -> made.print(terminal, l.url()));
        });
    ServiceManager.of(session.environment()).ready();
    stopWhenAsked(
        session,
        gateway,
        () -> {
          warmUp.close();
          checkpoints.close();
          sinks.close();
          seen.ifPresent(SeenByBoth::close);
          watch.ifPresent(ExecutorWatch::close);
        },
        open,
        serving::ended);
    warmUp.begin();
    return serveUntilStopped(gateway);
  }

  /** Nothing else tells a server's operator that another key signs than the one that is to. */
  static void sayWaiting(Home home, BiConsumer<String, WritException> refused) {
    RotatedKeys.unread(home).values().forEach(why -> refused.accept("key-waits", why));
  }

  private static ExecutorClient executor(Home home, ExecutorSettings at) {
    return new ExecutorClient(
        at,
        new ApartSecret(GatewaysSecret.read(ApartHomes.secret(home))),
        at.patience(),
        Homes.clock());
  }

  private static Tokens.Entry own(Home home, String token) {
    return new Tokens.Entry(
        GatewayConfig.OWN_TOKEN,
        Tokens.digest(token),
        home.tenant(),
        home.agent(),
        List.of(),
        Optional.empty());
  }

  static Opening opening(
      Session session, Arguments arguments, Home home, GatewayConfig config, Running running) {
    return Opening.of(
            Homes.clock(),
            SandboxPlace.host(home, environment(session, config, directory(arguments, home))))
        .wrapping(running::cancellable)
        .inRegion(config.extras().region())
        .keepingWorkers(ToolPools.settings(config.extras().toolPool()));
  }

  /**
   * Where a home has several cells, whoever asks which one is meant reads the database, and nobody
   * reads one whose schema a release before has made.
   */
  private static void bringUpToDate(Home place) {
    if (place.exists() && place.cells() > 1) {
      try (LeaseWatch watch = LedgerPlaces.watch(place.inCell(CellPlacement.SYSTEM).ledger())) {
        watch.ask();
      }
    }
  }

  /** Serves as one gateway of several. */
  private static ExitCode cells(
      Session session, Arguments arguments, Home home, GatewayConfig read) {
    ServedConfiguration served = checked(session, read, directory(arguments, home));
    HopKey key = ServedCells.key(home);
    Tokens.Entry own = own(home, ServedCells.token(key));
    try (SystemFeed feed =
        new SystemFeed(home, read.extras().cells().orElseThrow().bound(), System::nanoTime)) {
      return new ServedCells(
              session,
              home,
              read.withToken(own),
              new CellOpener(session, arguments, home, served, own, feed),
              feed)
          .serve(key);
    }
  }

  /** Publishes checkpoints as the configuration says, also after it was read again. */
  static ServedCheckpoints checkpoints(
      Gateway gateway, OpenHome open, GatewayConfig config, ServedOperations operations) {
    Home home = open.home();
    ServedCheckpoints checkpoints =
        new ServedCheckpoints(
            open.kernel(),
            gateway::log,
            Homes.clock(),
            home.cells() == 1 ? OptionalInt.empty() : OptionalInt.of(home.cell()));
    checkpoints.measure(gateway.metrics());
    checkpoints.use(config);
    gateway.whenReloaded(checkpoints::use);
    operations.publishes(checkpoints);
    return checkpoints;
  }

  /** That of the session, with the directory that the configuration names for commands. */
  private static Map<String, String> environment(
      Session session, GatewayConfig config, Path directory) {
    TreeMap<String, String> environment = new TreeMap<>(session.environment());
    SeedSurfaces.workspaceRoot(config.surfaces(), session.environment(), directory)
        .ifPresent(root -> environment.put(SeedSurfaces.WORKSPACE_ROOT, root.toString()));
    return environment;
  }

  static GatewayConfig config(Session session, Arguments arguments, Home home) {
    GatewayConfig named = file(session, arguments, home).inFolder(directory(arguments, home));
    named.extras().checkpoints().ifPresent(PublishingCheck::require);
    return arguments
        .integer("--port", 0, 65535)
        .map(port -> named.withPort(port.intValue()))
        .orElse(named);
  }

  /** The configuration that {@code --config} names, or the home's, or an empty one. */
  static GatewayConfig file(Session session, Arguments arguments, Home home) {
    return arguments
        .option("--config")
        .map(file -> ConfigCommand.read(session, file))
        .orElseGet(() -> ConfigCommand.ofHome(session, home));
  }

  /** The folder of the configuration; file names in the configuration are relative to it. */
  static Path directory(Arguments arguments, Home home) {
    return arguments
        .option("--config")
        .map(file -> Path.of(file).toAbsolutePath().getParent())
        .orElse(home.dir());
  }

  /** With what commands of the home have the server do. */
  static BiFunction<Pipeline, Lane, List<Surface>> forHome(
      OpenHome open, Tokens.Entry own, BiFunction<Pipeline, Lane, List<Surface>> surfaces) {
    return (pipeline, lane) -> {
      List<Surface> all = new ArrayList<>(surfaces.apply(pipeline, lane));
      all.add(new HomeSurface(open, own));
      return all;
    };
  }

  /**
   * The surfaces that the configuration names beside the native API. Seed 000's audit lines go to
   * the log.
   */
  static BiFunction<Pipeline, Lane, List<Surface>> surfaces(
      Session session,
      OpenHome open,
      GatewayConfig config,
      Sessions sessions,
      ServedOperations operations,
      Map<String, String> environment,
      Path directory) {
    return (pipeline, lane) -> {
      List<Surface> all =
          new ArrayList<>(
              SeedSurfaces.of(
                  pipeline,
                  config.surfaces(),
                  environment,
                  directory,
                  line -> JsonLog.write(log(session), line)));
      SeedSurfaces.grpcPort(config.surfaces())
          .ifPresent(port ->
              List.copyOf(all).stream()
                  .filter(ToolsSurface.class::isInstance)
                  .map(ToolsSurface.class::cast)
                  .forEach(tools -> all.add(new GrpcSurface(tools, port))));
      Optional.ofNullable(config.surfaces().get(EngineSurface.NAME))
          .ifPresent(_ ->
              all.add(
                  new EngineSurface(
                      pipeline,
                      open.packages()::manifest,
                      lane,
                      ToolPools.place(pipeline, open.workers(), config.extras().region()))));
      Optional.ofNullable(config.surfaces().get(VouchedSurface.NAME))
          .ifPresent(_ -> all.add(new VouchedSurface(pipeline, open.packages()::manifest)));
      Optional.ofNullable(config.surfaces().get(McpSurface.NAME))
          .filter(mcp -> McpSettings.parse(mcp.settings()).served())
          .ifPresent(mcp -> all.add(mcp(session, pipeline, open, config, mcp)));
      all.add(
          new OidcSurface(
              sessions,
              new SecureRandom(),
              Homes.clock(),
              refused -> signInRefused(session, refused)));
      all.add(
          new ConsoleSurface(
              pipeline,
              sessions,
              new ConsoleSurface.Server(
                  Version.text(),
                  config.extras().region().orElse(""),
                  !config.extras().certificates().isEmpty())));
      all.add(new SignOutSurface(pipeline, sessions, ended -> sessionsEnded(session, ended)));
      all.add(new OperationSurface(pipeline, Version.text(), operations));
      all.add(
          new AuditSurface(
              pipeline,
              new RunBundle(open.packages()),
              new RunAuditor(List.copyOf(open.drivers().byName().values())),
              new SecureRandom(),
              failure -> uncaught(new JsonLog(log(session), Homes.clock()), failure)));
      all.add(new ToolSurface(pipeline, open.packages()));
      all.add(new PolicySurface(pipeline, open.packages()::manifest));
      return all;
    };
  }

  private static void signInRefused(Session session, WritException refused) {
    JsonLog.write(
        log(session),
        JsonValue.object()
            .put("at", Homes.clock().instant())
            .put("level", refused.code() == OidcError.UNREACHED ? "error" : "info")
            .put("event", "sign-in")
            .put("code", refused.code().code())
            .put("detail", refused.found())
            .build());
  }

  private static void sessionsEnded(Session session, SignOutSurface.Ended ended) {
    JsonLog.write(
        log(session),
        JsonValue.object()
            .put("at", Homes.clock().instant())
            .put("level", "info")
            .put("event", "sessions-ended")
            .put("tenant", ended.tenant())
            .put("subject", ended.subject())
            .put("who", ended.by())
            .put("count", ended.count())
            .build());
  }

  private static void broken(Session session, BrokenPackage broken) {
    JsonLog.write(
        log(session),
        JsonValue.object()
            .put("at", Homes.clock().instant())
            .put("level", "error")
            .put("event", "package")
            .put("code", broken.why().code().code())
            .put("detail", broken.name() + " " + broken.version() + ": " + broken.why().found())
            .build());
  }

  private static Surface mcp(
      Session session, Pipeline pipeline, OpenHome open, GatewayConfig config, SurfaceConfig mcp) {
    InstalledTools packages = open.packages();
    return new McpSurface(
        pipeline,
        new RegistryTools(open, packages, new ToldOnce(broken -> broken(session, broken))),
        new RunBundle(packages),
        McpSettings.parse(mcp.settings()),
        config.listen().isLoopback(),
        Version.text(),
        new SecureRandom());
  }

  /** How the server is, for who operates it. */
  static ServedOperations operations(OpenHome open, GatewayConfig config) {
    return new ServedOperations(open.kernel().ledger(), config.extras().alerts());
  }

  /** Of people who sign in to the console; over TLS alone where browsers reach it by TLS. */
  static Sessions sessions(GatewayConfig config) {
    return new Sessions(
        new SecureRandom(), !(config.listen().protection() instanceof Listen.Protection.None));
  }

  /** The same of one cell of several. */
  static Sessions sessions(GatewayConfig config, int cell) {
    return Sessions.ofCell(
        new SecureRandom(),
        !(config.listen().protection() instanceof Listen.Protection.None),
        cell);
  }

  private static boolean surfaceKey(Session session, OpenHome open, GatewayConfig config) {
    try {
      return ServedMcp.hasKey(session, open, config);
    } catch (RuntimeException e) {
      open.close();
      throw e;
    }
  }

  /** Says where the other server is, which the ledger's lock cannot. */
  private static void requireUnserved(Home home) {
    HomeServer.of(home)
        .ifPresent(other -> {
          throw new WritException(
              LedgerError.LOCKED, home.dir() + " is served at " + other.url() + " already");
        });
  }

  static ServedConfiguration checked(Session session, GatewayConfig config, Path directory) {
    return ServedConfiguration.of(config, directory, session.environment(), Homes.clock());
  }

  private static SortedMap<String, SigningKey> keys(ServedConfiguration config, OpenHome open) {
    try {
      return config.require(open.home(), open.kernel().system().trust());
    } catch (WritException e) {
      open.close();
      throw e;
    }
  }

  /** Until the first event beside those that opening the ledger has written. */
  private static WarmUp warmUp(Session session, OpenHome open, GatewayConfig config) {
    long events = open.kernel().ledger().treeSize();
    return new WarmUp(
        config.extras().warmUp(),
        Homes.clock(),
        () -> open.kernel().ledger().treeSize() > events,
        how ->
            JsonLog.write(
                log(session),
                JsonValue.object()
                    .put("at", Homes.clock().instant())
                    .put("level", "info")
                    .put("event", "warm-up")
                    .put("detail", how)
                    .build()));
  }

  /**
   * @param probes further conditions of readiness
   */
  static Gateway start(
      Session session,
      OpenHome open,
      Running running,
      GatewayConfig config,
      SortedMap<String, SigningKey> keys,
      List<Probe> probes,
      Sessions sessions,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces) {
    try {
      return start(
          session,
          open,
          running,
          config,
          keys,
          probes,
          sessions,
          surfaces,
          Optional.empty(),
          Optional.empty());
    } catch (RuntimeException e) {
      open.close();
      throw e;
    }
  }

  /** The same, behind a front; the home is left open where it does not start. */
  static Gateway start(
      Session session,
      OpenHome open,
      Running running,
      GatewayConfig config,
      SortedMap<String, SigningKey> keys,
      List<Probe> probes,
      Sessions sessions,
      BiFunction<Pipeline, Lane, List<Surface>> surfaces,
      Optional<FrontCell> front,
      Optional<CellDoor> door) {
    GatewayInstallation plain =
        new GatewayInstallation(
                open.kernel(),
                running,
                open.home().dir(),
                keys,
                new RunBundle(open.packages()),
                Homes.clock(),
                new SecureRandom(),
                log(session))
            .withProbes(probes)
            .with(sessions);
    // Where the executor is elsewhere, tools run there, and nothing is confined here.
    GatewayInstallation confined =
        ExecutorCard.elsewhere(open.home()).isPresent()
            ? plain
            : plain.with(new ServedSandbox(open.drivers(), open.registry()));
    Gateway gateway =
        Gateway.start(config, door.map(confined::with).orElse(confined), surfaces, front);
    gateway.archive(new ArchivingServer(open));
    gateway.gauge("writ.guests.running", "Guests that run", open.guests()::running);
    gateway.gauge("writ.guests.waiting", "Calls that wait for a guest", open.guests()::waiting);
    return gateway;
  }

  private static PrintStream log(Session session) {
    return session.terminal().err();
  }

  /**
   * A full heap ends the JVM by an option that the launcher sets; this ends it when other memory is
   * exhausted. The supervisor of the process starts it again.
   */
  private static void uncaught(JsonLog log, Throwable e) {
    if (e instanceof OutOfMemoryError) {
      Runtime.getRuntime().halt(OUT_OF_MEMORY);
    }
    log.failed(e);
  }

  /** Ends the process after this time even if something hangs. */
  static void haltAfter(Duration time) {
    Thread.ofPlatform()
        .daemon()
        .name("writ-halt")
        .start(() -> {
          try {
            Thread.sleep(time);
          } catch (InterruptedException e) {
            return; // the process ends
          }
          Runtime.getRuntime().halt(TERMINATED);
        });
  }

  /**
   * Stops the server when the process is asked to end: calls at work finish, then {@code after}
   * runs.
   *
   * @param beforeLedger runs when no more calls come and the ledger is still open
   */
  static void stopWhenAsked(
      Session session, Gateway gateway, Runnable beforeLedger, OpenHome open, Runnable after) {
    session.terminal().out().flush();
    Runtime.getRuntime()
        .addShutdownHook(
            Thread.ofPlatform()
                .name("writ-stop")
                .unstarted(() -> {
                  haltAfter(gateway.stopsWithin());
                  gateway.close();
                  beforeLedger.run();
                  try {
                    open.close();
                  } catch (WritException e) {
                    // The ledger had failed before.
                    new JsonLog(log(session), Homes.clock()).refused("ledger-stopped", e);
                  } finally {
                    after.run();
                  }
                }));
  }

  /**
   * Blocks until the process ends. If the ledger fails for good this ends the process, so that its
   * supervisor starts it again.
   */
  static ExitCode serveUntilStopped(Gateway gateway) {
    try {
      gateway.ledgerStopped().get();
      return ExitCode.LEDGER_STOPPED;
    } catch (InterruptedException | ExecutionException e) {
      Thread.currentThread().interrupt();
      return ExitCode.OK;
    }
  }
}
