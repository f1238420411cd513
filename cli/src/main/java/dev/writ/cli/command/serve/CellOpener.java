package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.tool.ToolPools;
import dev.writ.cli.home.ServedConfiguration;
import dev.writ.cli.publish.ServedCheckpoints;
import dev.writ.embed.home.CellMember;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.SystemFeed;
import dev.writ.executor.CellPlacement;
import dev.writ.gateway.CellDoor;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.cell.CellBoard;
import dev.writ.gateway.cell.CellSurface;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.ops.Readiness;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.Sinks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiFunction;

/**
 * Opens and serves the cells that a gateway owns, each with a whole server behind the one front.
 */
final class CellOpener implements ServedCell.Opener {
  private final Session session;
  private final Arguments arguments;
  private final Home home;
  private final Tokens.Entry own;

  /** As it was read last: a cell that is taken later is served by what is in force then. */
  private volatile ServedConfiguration served;

  private final SystemFeed feed;
  private final boolean isOfSeveral;

  /** Of each cell, as long as the process lives. */
  private final ConcurrentSkipListMap<Integer, Sessions> sessions = new ConcurrentSkipListMap<>();

  /** Of each cell that is open. */
  private final ConcurrentSkipListMap<Integer, Running> running = new ConcurrentSkipListMap<>();

  /**
   * @param served the configuration, as it was checked
   * @param own the token of commands
   * @param feed read by all cells, where there are several
   */
  CellOpener(
      Session session,
      Arguments arguments,
      Home home,
      ServedConfiguration served,
      Tokens.Entry own,
      SystemFeed feed) {
    this.session = session;
    this.arguments = arguments;
    this.home = home;
    this.own = own;
    this.served = owned(served);
    this.feed = feed;
    this.isOfSeveral = home.cells() > 1;
  }

  /** With the token of commands. */
  private ServedConfiguration owned(ServedConfiguration checked) {
    return checked.with(checked.config().withToken(own));
  }

  private GatewayConfig read() {
    return served.config();
  }

  @Override
  public ServedConfiguration readAgain() {
    ServedConfiguration next =
        owned(
            ServeCommand.checked(
                session,
                ServeCommand.config(session, arguments, home),
                ServeCommand.directory(arguments, home)));
    read().requireSameLife(next.config());
    return next;
  }

  @Override
  public void use(ServedConfiguration next) {
    served = next;
  }

  @Override
  public OpenHome open(int cell, LeaseTerms terms) {
    Home of = home.inCell(cell);
    Running calls = new Running();
    running.put(cell, calls);
    return OpenHome.open(
        of,
        ServeCommand.opening(session, arguments, of, read(), calls),
        Optional.of(terms),
        isOfSeveral ? Optional.of(feed) : Optional.empty());
  }

  private Sessions sessions(int cell) {
    return sessions.computeIfAbsent(
        cell,
        _ -> isOfSeveral ? ServeCommand.sessions(read(), cell) : ServeCommand.sessions(read()));
  }

  @Override
  public ServedCell.Running serve(OpenHome open, FrontCell front, CellBoard board, Probe warm) {
    ServedConfiguration inForce = served;
    GatewayConfig read = inForce.config();
    Home of = open.home();
    Running calls = running.get(front.number());
    Path directory = ServeCommand.directory(arguments, home);
    boolean mcp = ServedMcp.hasKey(session, open, read);
    GatewayConfig config = ServedMcp.in(read, of, mcp);
    ServedOperations operations = ServeCommand.operations(open, config);
    Sessions people = sessions(front.number());
    BiFunction<Pipeline, Lane, List<Surface>> surfaces =
        ServedSurfaces.forHome(
            open,
            own,
            ServedSurfaces.of(
                session, open, config, people, operations, session.environment(), directory));
    GatewayInstallation installation =
        ServedGateway.of(
                session,
                open,
                calls,
                inForce.with(config).require(of, open.kernel().system().trust()))
            // Of several, the front says it once.
            .withProbes(isOfSeveral ? List.of() : List.of(warm, board.probe()))
            .with(people);
    Gateway gateway =
        ServedGateway.start(
            open,
            open.member().map(member -> installation.with(door(of, member))).orElse(installation),
            config,
            (pipeline, lane) -> {
              List<Surface> all = new ArrayList<>(surfaces.apply(pipeline, lane));
              all.add(new CellSurface(board));
              return all;
            },
            Optional.of(front));
    if (!isOfSeveral) { // else the front's scrape has them
      board.measure(gateway.metrics());
      board.measure(gateway.metrics(), front.front());
    }
    ToolPools.measure(gateway, open.workers(), config.extras().region());
    operations.serves(gateway);
    List<ConfiguredSink> configured = ServedSinks.read(session, config, directory);
    Sinks sinks = ServedSinks.start(gateway, open, configured, gateway::log);
    operations.feeds(configured, sinks.feeders());
    gateway.whenReloaded(_ -> sinks.use(served.sinks()));
    ServedCheckpoints checkpoints = ServeCommand.checkpoints(gateway, open, config, operations);
    Optional<CellRounds> rounds =
        isOfSeveral
            ? Optional.of(
                CellRounds.start(
                    open,
                    new JsonLog(session.terminal().err(), Homes.clock()),
                    read.extras().cells().orElseThrow().roots()))
            : Optional.empty();
    return new Server(open, gateway, checkpoints, rounds, sinks, config, calls, mcp, inForce);
  }

  /** Commands of the home look after every cell; whoever else calls has to belong there. */
  private CellDoor door(Home of, CellMember member) {
    return new CellDoor(
        of.installation(),
        caller -> {
          member.requireCurrent();
          if (of.cell() != CellPlacement.SYSTEM && !isOwn(caller)) {
            member.requireKnown(caller.tenant());
          }
        });
  }

  private boolean isOwn(Caller caller) {
    return caller.method().equals(Tokens.METHOD) && caller.fingerprint().equals(own.digest().hex());
  }

  /** A cell that is served. */
  private final class Server implements ServedCell.Running {
    private final OpenHome open;
    private final Gateway gateway;
    private final ServedCheckpoints checkpoints;
    private final Optional<CellRounds> rounds;
    private final Sinks sinks;
    private final GatewayConfig config;
    private final Running calls;
    private final boolean mcp;
    private volatile ServedConfiguration inForce;

    Server(
        OpenHome open,
        Gateway gateway,
        ServedCheckpoints checkpoints,
        Optional<CellRounds> rounds,
        Sinks sinks,
        GatewayConfig config,
        Running calls,
        boolean mcp,
        ServedConfiguration inForce) {
      this.inForce = inForce;
      this.open = open;
      this.gateway = gateway;
      this.checkpoints = checkpoints;
      this.rounds = rounds;
      this.sinks = sinks;
      this.config = config;
      this.calls = calls;
      this.mcp = mcp;
    }

    @Override
    public CompletableFuture<WritException> ledgerStopped() {
      return gateway.ledgerStopped();
    }

    @Override
    public Duration drain() {
      return config.drain();
    }

    @Override
    public String metrics() {
      return gateway.metrics().text();
    }

    @Override
    public List<Readiness.Check> checks() {
      return gateway.health().checks();
    }

    /** A revocation takes effect at once, also on running calls. */
    @Override
    public void systemChanged() {
      calls.prohibit(open.kernel().system()::isProhibited);
      gateway.changes().systemChanged();
    }

    @Override
    public void reload() {
      ServedConfiguration next = served;
      if (next != inForce) {
        inForce = next;
        gateway.reload(() -> ServedMcp.in(next.config(), open.home(), mcp));
      }
    }

    @Override
    public void close(Duration atMost) {
      gateway.close(atMost);
      checkpoints.close();
      rounds.ifPresent(CellRounds::close);
      sinks.close();
      try {
        open.close();
      } catch (WritException e) {
        // The ledger had failed before.
        new JsonLog(session.terminal().err(), Homes.clock()).refused("ledger-stopped", e);
      }
    }
  }
}
