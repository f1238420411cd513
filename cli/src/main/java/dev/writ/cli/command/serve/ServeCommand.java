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
import dev.writ.cli.command.HangUp;
import dev.writ.cli.command.evidence.SeenByBoth;
import dev.writ.cli.command.tool.ToolPools;
import dev.writ.cli.demo.Example;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.ServedConfiguration;
import dev.writ.cli.home.ServiceManager;
import dev.writ.cli.home.Serving;
import dev.writ.cli.publish.PublishingCheck;
import dev.writ.cli.publish.ServedCheckpoints;
import dev.writ.cli.warm.WarmUp;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.GatewaysSecret;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.RotatedKeys;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.embed.home.SystemFeed;
import dev.writ.executor.CellPlacement;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.apart.ApartSecret;
import dev.writ.gateway.apart.ExecutorClient;
import dev.writ.gateway.apart.ExecutorSettings;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.server.HopKey;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.LibraryLog;
import dev.writ.gateway.ops.LoggedRenewal;
import dev.writ.gateway.pipeline.Running;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.Sinks;
import dev.writ.surfaces.seed.SeedSurfaces;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** {@code writ serve}: agents submit over HTTP. */
public final class ServeCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "serve",
            "Serve the data directory over HTTP until Ctrl-C or SIGTERM; then it finishes"
                + " the calls at work and accepts no new ones.",
            "Without a configuration it listens on loopback, port 8181, for holders of enrolled"
                + " keys. Log lines go to stderr, one JSON object each. SIGHUP makes it read"
                + " tokens, certificates, origins, oidc, checkpoints, the sinks' files and those of"
                + " TLS again;"
                + " renewed files of TLS it takes up by itself.")
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
    JsonLog log = ServerLog.of(session);
    LibraryLog.into(log, Homes.clock());
    Thread.setDefaultUncaughtExceptionHandler((_, e) -> ServerLog.uncaught(log, e));
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
    AtomicReference<List<ConfiguredSink>> fed = new AtomicReference<>(served.sinks());
    Supplier<GatewayConfig> again =
        () -> {
          GatewayConfig next = config(session, arguments, home);
          fed.set(ServedSinks.read(session, next, directory(arguments, home)));
          return ServedMcp.in(next, home, mcp).withToken(own);
        };
    GatewayConfig config = ServedMcp.in(read, home, mcp).withToken(own);
    WarmUp warmUp = warmUp(session, open, config);
    Sessions sessions = sessions(config);
    ServedOperations operations = operations(open, config);
    SortedMap<String, SigningKey> keys = keys(served.with(config), open);
    BiConsumer<String, WritException> refused = log::refused;
    sayWaiting(home, refused);
    List<AnswerWatch> watches = watches(home, elsewhere, log);
    Gateway gateway =
        ServedGateway.start(
            open,
            ServedGateway.of(session, open, running, keys)
                .withProbes(
                    Stream.concat(
                            Stream.of(warmUp.probe()), watches.stream().map(AnswerWatch::probe))
                        .toList())
                .with(sessions),
            config,
            ServedSurfaces.forHome(
                open,
                own,
                ServedSurfaces.of(
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
    gateway.whenReloaded(_ -> sinks.use(fed.get()));
    sinks.use(fed.get()); // what was read again meanwhile
    ServedCheckpoints checkpoints = checkpoints(gateway, open, config, operations);
    session.show(
        new Listening(
            gateway.url(), home.dir(), List.of(), first.map(FirstServing::token).orElse("")),
        (l, terminal) -> {
          terminal.out().println("listening on " + l.url());
          first.ifPresent(made -> made.print(terminal, l.url()));
        });
    ServiceManager.of(session.environment()).ready();
    ServerEnd.stopWhenAsked(
        session,
        gateway,
        () -> {
          warmUp.close();
          checkpoints.close();
          sinks.close();
          seen.ifPresent(SeenByBoth::close);
          watches.forEach(AnswerWatch::close);
        },
        open,
        serving::ended);
    warmUp.begin();
    return ServerEnd.serveUntilStopped(gateway);
  }

  /** Nothing else tells a server's operator that another key signs than the one that is to. */
  static void sayWaiting(Home home, BiConsumer<String, WritException> refused) {
    RotatedKeys.unread(home).values().forEach(why -> refused.accept("key-waits", why));
  }

  /** What this server needs of other processes. */
  private static List<AnswerWatch> watches(
      Home home, Optional<ExecutorClient> elsewhere, JsonLog log) {
    List<AnswerWatch> all = new ArrayList<>();
    elsewhere.ifPresent(executor ->
        all.add(
            AnswerWatch.ofExecutor(
                asking(executor, log), why -> log.refused("executor-not-seen", why))));
    databaseOf(home)
        .ifPresent(database ->
            all.add(
                AnswerWatch.ofDatabase(
                    database::ask, why -> log.refused("database-not-seen", why), database::close)));
    return all;
  }

  /** That of the ledger; none where its files are here, which fail with what uses them. */
  private static Optional<LeaseWatch> databaseOf(Home home) {
    return LedgerPlaces.databaseDirectory(home.ledger()).isPresent()
        ? Optional.empty()
        : Optional.of(LedgerPlaces.watch(home.ledger()));
  }

  /** It is asked by the certificate that is there now. */
  private static Runnable asking(ExecutorClient executor, JsonLog log) {
    Optional<TlsRenewal> tls = executor.renewal(new LoggedRenewal(log, () -> {}));
    return () -> {
      try {
        tls.ifPresent(TlsRenewal::look);
      } catch (IllegalStateException | UncheckedIOException e) { // such as no descriptor left
        log.failed("housekeeping", e);
      }
      executor.system();
    };
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
        how -> ServerLog.warmUp(session, how));
  }
}
