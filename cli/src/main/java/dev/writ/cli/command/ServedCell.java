package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.ServeCommand.Listening;
import dev.writ.cli.home.ServiceManager;
import dev.writ.cli.home.Serving;
import dev.writ.cli.warm.WarmUp;
import dev.writ.embed.home.GatewaysSecret;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.gateway.cell.CellBoard;
import dev.writ.gateway.config.CellSettings;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.Front;
import dev.writ.gateway.http.HopKey;
import dev.writ.gateway.http.Tokens;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.ops.OpsSurface;
import dev.writ.gateway.ops.Readiness;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.ledger.storage.LeaseWatch.Ownership;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

/**
 * One gateway of several over one installation (spec/cells.md). It listens all the time: while it
 * owns the cell it answers requests itself, else it forwards them. Where nobody owns the cell it
 * takes it over.
 */
final class ServedCell {
  private static final Duration LOOKS_EVERY = Duration.ofMillis(100);

  /** After a refusal that will not go away by itself. */
  private static final Duration TRIES_AGAIN_AFTER = Duration.ofSeconds(1);

  /** For what is at work when the lease was lost: it may still find out what became of it. */
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(1);

  /** Of another gateway that was faster. */
  private static final Set<String> TAKEN =
      Set.of(LedgerError.LEASE_HELD.code(), LedgerError.LOCKED.code());

  private static final String STOPPING = "stopping";

  private final Session session;
  private final Home home;
  private final GatewayConfig config;
  private final CellSettings settings;
  private final Opener opener;
  private final JsonLog log;
  private final CellBoard board = new CellBoard();
  private final CompletableFuture<String> stop = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final WarmUp warmUp;
  private volatile BooleanSupplier worked = () -> false;
  private Optional<String> refusedBefore = Optional.empty();

  /** Opens the home and serves it. */
  interface Opener {
    /** Opens it for a time. */
    OpenHome open(LeaseTerms terms);

    /** Serves it behind the front. */
    Running serve(OpenHome open, Front front, CellBoard board, WarmUp warmUp);
  }

  /** A home that is open and served. */
  interface Running {
    /** Completes where its ledger failed for good. */
    CompletableFuture<WritException> ledgerStopped();

    /** The longest time for which calls at work are waited for. */
    Duration drain();

    /** Lets calls at work end, and closes it all. */
    void close(Duration drain);
  }

  ServedCell(Session session, Home home, GatewayConfig config, Opener opener) {
    this.session = session;
    this.home = home;
    this.config = config;
    this.settings = config.extras().cells().orElseThrow();
    this.opener = opener;
    this.log = new JsonLog(session.terminal().err(), Homes.clock());
    this.warmUp =
        new WarmUp(
            config.extras().warmUp(),
            Homes.clock(),
            () -> worked.getAsBoolean(),
            how -> log.event("warm-up", how));
  }

  /** The secret by which the gateways know each other; the first one makes it. */
  static HopKey key(Home home) {
    GatewaysSecret.makeIfMissing(home, new SecureRandom());
    return new HopKey(GatewaysSecret.read(home));
  }

  /**
   * The token of the home's own agent, for commands on this machine. It is the same for all
   * gateways, since the owner has to know it when another forwards the command's request.
   */
  static String token(HopKey key) {
    return "writ_"
        + Base64.getUrlEncoder()
            .withoutPadding()
            .encodeToString(key.derived("writ/token of commands/v1"));
  }

  /**
   * Serves until the process is asked to end.
   *
   * @throws WritException {@code LED-078}, {@code LED-082} and what the store of large contents
   *     refuses, {@code GWY-004}, {@code GWY-007}
   */
  ExitCode serve(HopKey key) {
    try (LeaseWatch watch = Ledger.watch(home.ledger())) {
      Ledger.requireSharedContents(home.ledger(), home.origin());
      int cell = ask(watch).map(Ownership::cell).orElse(0);
      try (Front front = front(key, cell)) {
        log.event("listening", front.url());
        log.event("listening-for-gateways", front.address());
        Serving serving = Serving.at(home, front.url(), token(key), config.listen().protection());
        Runtime.getRuntime().addShutdownHook(new Thread(this::stopAndWait, "writ-stop"));
        session.show(
            new Listening(front.url(), home.dir(), List.of(), ""),
            (l, terminal) -> terminal.out().println("listening on " + l.url()));
        session.terminal().out().flush();
        ServiceManager.of(session.environment()).ready();
        warmUp.begin();
        Thread looking =
            Thread.ofPlatform().daemon().name("writ-cells").start(() -> look(watch, front));
        try {
          while (!stop.isDone()) {
            takeTurn(front);
          }
        } finally {
          warmUp.close();
          front.drain(config.drain());
          looking.interrupt();
          serving.ended();
        }
      }
    } finally {
      closed.countDown();
    }
    return ExitCode.OK;
  }

  private void stopAndWait() {
    stop.complete(STOPPING);
    ServeCommand.haltAfter(config.drain().multipliedBy(2).plusSeconds(60));
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Front front(HopKey key, int cell) {
    Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
    board.measure(metrics, cell);
    Front front =
        Front.open(
            new Front.Config(
                config.listen(),
                config.limits(),
                config.extras().hosts(),
                List.of(
                    new OpsSurface(
                        () ->
                            List.of(
                                Readiness.check(board.probe()), Readiness.check(warmUp.probe())),
                        metrics,
                        config.listen().isUnreachable())),
                List.of(new Tokens(config.tokens())),
                settings.hop(),
                key,
                cell,
                log,
                log,
                Homes.clock(),
                new SecureRandom()));
    board.measure(metrics, front);
    return front;
  }

  /** Follows who owns the cell. */
  private void look(LeaseWatch watch, Front front) {
    Optional<String> before = Optional.empty();
    while (!Thread.currentThread().isInterrupted() && closed.getCount() > 0) {
      board.saw(ask(watch));
      Optional<String> owner = board.owner();
      front.owner(owner);
      if (!owner.equals(before)) {
        log.event("cell-owner", owner.orElse("nobody"));
        before = owner;
      }
      try {
        Thread.sleep(LOOKS_EVERY);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private Optional<Ownership> ask(LeaseWatch watch) {
    try {
      return Optional.of(watch.ask());
    } catch (WritException e) {
      if (e.code() == LedgerError.LEASES_UNKNOWN || e.code() == LedgerError.MISSING) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /** Takes the cell over if nobody owns it, and serves it until it is lost or given back. */
  private void takeTurn(Front front) {
    if (!board.isFree()) {
      pause(LOOKS_EVERY);
      return;
    }
    CompletableFuture<String> ends = new CompletableFuture<>();
    stop.thenAccept(ends::complete);
    LeaseTerms terms =
        new LeaseTerms(
            front.address(),
            front.address(),
            settings.lease(),
            settings.margin(),
            System::nanoTime,
            () -> ends.complete(LedgerError.LEASE_OVER.code()));
    OpenHome open;
    try {
      open = opener.open(terms);
    } catch (WritException e) {
      refused(e);
      return;
    }
    refusedBefore = Optional.empty();
    try {
      own(open, front, ends);
    } catch (WritException e) {
      log.refused("cell-refused", e);
      pause(TRIES_AGAIN_AFTER);
    }
  }

  /** Another gateway was faster, or this one cannot own the cell, which is said once. */
  private void refused(WritException e) {
    if (TAKEN.contains(e.code().code())) {
      pause(LOOKS_EVERY);
      return;
    }
    if (!refusedBefore.equals(Optional.of(e.code().code()))) {
      log.refused("cell-refused", e);
    }
    refusedBefore = Optional.of(e.code().code());
    pause(TRIES_AGAIN_AFTER);
  }

  private void own(OpenHome open, Front front, CompletableFuture<String> ends) {
    long epoch = open.kernel().epoch().orElseThrow();
    long events = open.kernel().ledger().treeSize();
    worked = () -> open.kernel().ledger().treeSize() > events;
    Running running;
    try {
      running = opener.serve(open, front, board, warmUp);
    } catch (RuntimeException e) {
      worked = () -> false;
      open.close();
      throw e;
    }
    board.took(new CellBoard.Owned(front.cell(), epoch, front.address()));
    front.owner(Optional.empty());
    log.event("cell-owned", "epoch " + epoch);
    running.ledgerStopped().thenAccept(why -> ends.complete(why.code().code()));
    String why = await(ends);
    worked = () -> false;
    board.gaveUp();
    log.event("cell-given-up", why);
    running.close(why.equals(STOPPING) ? running.drain() : ENDS_WITHIN);
  }

  private static String await(CompletableFuture<String> ends) {
    try {
      return ends.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return STOPPING;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  private void pause(Duration time) {
    try {
      stop.get(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // It goes on.
    } catch (InterruptedException | ExecutionException e) {
      Thread.currentThread().interrupt();
    }
  }
}
