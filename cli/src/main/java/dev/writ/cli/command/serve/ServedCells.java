package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.HangUp;
import dev.writ.cli.command.serve.ServeCommand.Listening;
import dev.writ.cli.home.ServedConfiguration;
import dev.writ.cli.home.ServiceManager;
import dev.writ.cli.home.Serving;
import dev.writ.cli.warm.WarmUp;
import dev.writ.embed.home.GatewaysSecret;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.SystemFeed;
import dev.writ.executor.Placements;
import dev.writ.gateway.cell.CellBoard;
import dev.writ.gateway.cell.CellMetrics;
import dev.writ.gateway.cell.Contenders;
import dev.writ.gateway.cell.FairShare;
import dev.writ.gateway.config.CellSettings;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.server.CellChoice;
import dev.writ.gateway.http.server.Front;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.http.server.HopKey;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.LoggedRenewal;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.ops.OpsSurface;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.ops.Readiness;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import dev.writ.ledger.storage.LeaseWatch.Ownership;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * One gateway of several over one installation (spec/cells.md). It listens all the time: what is
 * for a cell that it owns it answers itself, all else it forwards. It takes free cells up to its
 * share of them.
 */
final class ServedCells {
  private static final String NOBODY = "nobody";

  private static final Duration LOOKS_EVERY = Duration.ofMillis(100);

  /** In each time for which a gateway says that it lives. */
  private static final int SAYINGS = 4;

  private final Session session;
  private final Home home;
  private final int count;
  private final GatewayConfig config;
  private final CellSettings settings;
  private final ServedCell.Opener opener;
  private final SystemFeed feed;
  private final JsonLog log;
  private final CellBoard board;
  private final CompletableFuture<String> stop = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final WarmUp warmUp;
  private final CopyOnWriteArrayList<ServedCell> cells = new CopyOnWriteArrayList<>();

  /** Opening a cell takes time of a processor, of which those that are served need some, too. */
  private static final int OPENED_AT_ONCE = 4;

  private final Semaphore opening = new Semaphore(OPENED_AT_ONCE);

  /** Held while one is counted, so that each of several sees what the others are about to get. */
  private final ReentrantLock counting = new ReentrantLock();

  /** How many it owns, or is about to. */
  private final AtomicInteger taken = new AtomicInteger();

  /** When each was seen to be free, by the monotonic time; 0 while it is not. */
  private final AtomicLongArray freeSince;

  private volatile String address = "";
  private volatile List<LivingGateway> live = List.of();
  private volatile Placements placements = Placements.NOTHING;
  private volatile long liveSince = System.nanoTime();
  private long saidAt;
  private long gaveAt = System.nanoTime();

  /**
   * @param opener opens and serves one cell
   * @param feed says where tenants and cells are, where there are several
   */
  ServedCells(
      Session session, Home home, GatewayConfig config, ServedCell.Opener opener, SystemFeed feed) {
    this.session = session;
    this.home = home;
    this.count = home.cells();
    this.config = config;
    this.settings = config.extras().cells().orElseThrow();
    this.board = new CellBoard(count, config.extras().region());
    this.opener = opener;
    this.feed = feed;
    this.freeSince = new AtomicLongArray(count);
    this.log = new JsonLog(session.terminal().err(), Homes.clock());
    this.warmUp =
        new WarmUp(
            config.extras().warmUp(),
            Homes.clock(),
            () -> cells.stream().anyMatch(ServedCell::hasWorked),
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
   * Requires that the large contents of each cell are where all gateways have them.
   *
   * @throws WritException {@code LED-082} and what the store refuses
   */
  static void requireSharedContents(Home home) {
    for (int cell = 0; cell < home.cells(); cell++) {
      Home of = home.inCell(cell);
      LedgerPlaces.requireSharedContents(of.ledger(), of.origin());
    }
  }

  /**
   * Serves until the process is asked to end.
   *
   * @throws WritException {@code LED-078}, {@code LED-082} and what the store of large contents
   *     refuses, {@code GWY-004}, {@code GWY-007}
   */
  ExitCode serve(HopKey key) {
    try (LeaseWatch watch = watch()) {
      // First: it brings the database's schema up to date, which whoever reads requires.
      List<Ownership> found = all(watch);
      requireSharedContents(home);
      ServeCommand.sayWaiting(home, log::refused);
      board.saw(Optional.of(found));
      CellChoice choice =
          new CellChoice(
              count,
              home.tenant(),
              config.extras().region(),
              new Tokens(config.tokens()),
              new Certificates(config.extras().certificates()));
      if (isOfSeveral()) {
        placements = feed.placements();
        placed(choice);
      }
      try (Front front = front(key, choice)) {
        address = front.address();
        for (int cell = 0; cell < count; cell++) {
          cells.add(new ServedCell(this, front.cell(cell), board, log));
        }
        log.event("listening", front.url());
        log.event("listening-for-gateways", front.address());
        Serving serving = Serving.at(home, front.url(), token(key), config.listen().protection());
        Runtime.getRuntime().addShutdownHook(new Thread(this::stopAndWait, "writ-stop"));
        HangUp.then(() -> reload(front, choice));
        session.show(
            new Listening(front.url(), home.dir(), List.of(), ""),
            (l, terminal) -> terminal.out().println("listening on " + l.url()));
        session.terminal().out().flush();
        ServiceManager.of(session.environment()).ready();
        warmUp.begin();
        Thread.ofPlatform().daemon().name("writ-tls").start(() -> renewTls(front));
        Thread looking =
            Thread.ofPlatform().daemon().name("writ-cells").start(() -> look(watch, front, choice));
        try {
          runCells();
        } finally {
          warmUp.close();
          front.drain(config.drain());
          log.event("stopped", "every cell was given up");
          looking.interrupt();
          serving.ended();
        }
        leave(watch);
      }
    } finally {
      closed.countDown();
    }
    return ExitCode.OK;
  }

  private void runCells() {
    List<Thread> threads =
        cells.stream().map(cell -> Thread.ofPlatform().name("writ-cell").start(cell::run)).toList();
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void leave(LeaseWatch watch) {
    try {
      watch.leaves(address);
    } catch (WritException e) {
      // It ceases to count when its time is over.
    }
  }

  private void stopAndWait() {
    log.event("draining", config.drain().toString());
    stop.complete(ServedCell.STOPPING);
    ServerEnd.haltAfter(config.drain().multipliedBy(2).plusSeconds(60));
    try {
      closed.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What was read again is in force for the whole gateway, whatever it owns: also for cells that it
   * takes later.
   */
  private void reload(Front front, CellChoice choice) {
    try {
      ServedConfiguration next = opener.readAgain();
      Tokens tokens = new Tokens(next.config().tokens());
      front.change(next.config().listen(), List.of(tokens));
      choice.change(tokens, new Certificates(next.config().extras().certificates()));
      opener.use(next);
    } catch (RuntimeException e) {
      log.refused("reload", CellTrouble.of(e));
      return;
    }
    List<ServedCell.Running> served =
        cells.stream().flatMap(cell -> cell.running().stream()).toList();
    served.forEach(ServedCell.Running::reload);
    if (served.isEmpty()) { // else each cell says it
      log.event("reloaded", "no cell is owned: for those that are taken");
    }
  }

  /** Until it stops, it looks whether somebody has renewed certificates. */
  private void renewTls(Front front) {
    List<TlsRenewal> all =
        front.renewals(
            new LoggedRenewal(
                log,
                () ->
                    cells.forEach(
                        cell -> cell.running().ifPresent(ServedCell.Running::systemChanged))));
    while (!all.isEmpty() && !isStopping()) {
      for (TlsRenewal one : all) {
        try {
          one.look();
        } catch (RuntimeException e) { // it looks again
          log.refused("housekeeping", CellTrouble.of(e));
        }
      }
      pause(TlsRenewal.EVERY);
    }
  }

  private Front front(HopKey key, CellChoice choice) {
    Metrics metrics = new Metrics(() -> null, _ -> Optional.empty());
    board.measure(metrics);
    for (Probe probe : List.of(board.probe(), warmUp.probe())) {
      Readiness.measure(metrics, probe.name(), () -> Readiness.check(probe));
    }
    Front front =
        Front.open(
            new Front.Config(
                config.listen(),
                config.limits(),
                config.extras().hosts(),
                List.of(
                    new OpsSurface(
                        this::checks,
                        () -> CellMetrics.joined(metrics.text(), scrapes()),
                        config.listen().isUnreachable())),
                List.of(new Tokens(config.tokens())),
                settings.hop(),
                key,
                choice,
                board.first(),
                log,
                log,
                Homes.clock(),
                new SecureRandom()));
    board.measure(metrics, front);
    return front;
  }

  private List<Readiness.Check> checks() {
    List<Readiness.Check> all = new ArrayList<>();
    all.add(Readiness.check(board.probe()));
    all.add(Readiness.check(warmUp.probe()));
    for (int cell = 0; cell < cells.size(); cell++) {
      String name = "cell-" + cell + " ";
      cells
          .get(cell)
          .running()
          .ifPresent(running ->
              running
                  .checks()
                  .forEach(check ->
                      all.add(new Readiness.Check(name + check.name(), check.ok(), check.why()))));
    }
    return all;
  }

  private TreeMap<Integer, String> scrapes() {
    TreeMap<Integer, String> scrapes = new TreeMap<>();
    for (int cell = 0; cell < cells.size(); cell++) {
      int number = cell;
      cells.get(cell).running().ifPresent(running -> scrapes.put(number, running.metrics()));
    }
    return scrapes;
  }

  /** Follows who owns the cells and which gateways live. */
  private void look(LeaseWatch watch, Front front, CellChoice choice) {
    TreeMap<Integer, String> before = new TreeMap<>();
    CellTrouble trouble = new CellTrouble(log, "cells-not-seen");
    while (!Thread.currentThread().isInterrupted() && closed.getCount() > 0) {
      try {
        board.saw(ask(watch));
        trouble.isOver();
      } catch (RuntimeException e) { // perhaps a backup is being restored
        board.saw(Optional.empty());
        trouble.is(e);
      }
      tellOwners(front, before);
      if (isOfSeveral()) {
        sayPresent(watch);
        lookWhereTheyAre();
        placed(choice);
        giveBackWhatMayNotBeHere();
        giveBackIfTooMany();
      }
      try {
        Thread.sleep(LOOKS_EVERY);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void tellOwners(Front front, TreeMap<Integer, String> before) {
    for (int cell = 0; cell < count; cell++) {
      Optional<String> owner = board.owner(cell);
      front.cell(cell).owner(owner);
      String named = owner.orElse(NOBODY);
      if (!named.equals(before.getOrDefault(cell, NOBODY))) {
        log.event("cell-owner", isOfSeveral() ? front.cell(cell) + ", " + named : named);
      }
      before.put(cell, named);
      noteFree(cell);
    }
  }

  private void noteFree(int cell) {
    if (!board.isFree(cell)) {
      freeSince.set(cell, 0);
    } else if (freeSince.get(cell) == 0) {
      freeSince.set(cell, System.nanoTime() | 1); // never 0
    }
  }

  private List<Ownership> all(LeaseWatch watch) {
    List<Ownership> found = watch.askAll(count);
    if (found.size() < count) {
      throw new WritException(LedgerError.MISSING, found.size() + " cells of " + count);
    }
    return found;
  }

  private Optional<List<Ownership>> ask(LeaseWatch watch) {
    try {
      return Optional.of(all(watch));
    } catch (WritException e) {
      if (e.code() == LedgerError.LEASES_UNKNOWN || e.code() == LedgerError.MISSING) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /** A gateway that could not take a cell over lately does not count as one that will. */
  private void sayPresent(LeaseWatch watch) {
    Duration length = settings.lease();
    boolean isDue = System.nanoTime() - saidAt >= length.toNanos() / SAYINGS;
    if (!isDue || isStopping()) {
      return;
    }
    try {
      if (cells.stream().anyMatch(ServedCell::isRefused)) {
        watch.leaves(address);
      } else {
        List<LivingGateway> now =
            watch.present(new LivingGateway(address, config.extras().region()), length);
        if (!now.equals(live)) {
          liveSince = System.nanoTime();
        }
        live = now;
      }
      saidAt = System.nanoTime();
    } catch (WritException e) {
      // The database does not answer: said again in a moment.
    }
  }

  private void placed(CellChoice choice) {
    choice.placed(placements);
    board.placed(placements, live);
  }

  /** Where it cannot be known, what was stated before counts. */
  private void lookWhereTheyAre() {
    try {
      placements = feed.placements();
    } catch (WritException e) {
      // The cells that are open here follow the same statements, and say what is wrong.
    }
  }

  /** At once: its kernel refuses everything. */
  private void giveBackWhatMayNotBeHere() {
    for (int cell = 0; cell < count; cell++) {
      if (board.owns(cell) && !placements.mayOwn(cell, config.extras().region())) {
        cells.get(cell).giveBack(ServedCell.REGION);
      }
    }
  }

  private Optional<FairShare> share(int cell) {
    return new Contenders(address, live, placements)
        .share(cell, taken.get(), board.shares(), board.formerOwners());
  }

  /** Whether gateways that live in an earlier region of the cell, or have fewer, are to take it. */
  private boolean gives(int cell) {
    return board.owns(cell) && share(cell).map(FairShare::gives).orElse(true);
  }

  /** One at a time, and not before others had the time to take what is free. */
  private void giveBackIfTooMany() {
    long now = System.nanoTime();
    long calm = settings.lease().toNanos();
    boolean isCalm = now - liveSince >= calm && now - gaveAt >= calm;
    if (!isCalm || isStopping()) {
      return;
    }
    Contenders contenders = new Contenders(address, live, placements);
    for (int cell = 0; cell < count; cell++) {
      if (board.owner(cell).isEmpty() && !contenders.of(cell).isEmpty()) {
        return;
      }
    }
    for (int cell = count - 1; cell >= 0; cell--) {
      if (gives(cell)) {
        gaveAt = now;
        cells.get(cell).giveBack(ServedCell.SHARED);
        return;
      }
    }
  }

  // For the cells.

  /** Serves a cell that is open. */
  ServedCell.Running serve(OpenHome open, FrontCell front) {
    return opener.serve(open, front, board, warmUp.probe());
  }

  OpenHome open(int cell, LeaseTerms terms) {
    return opener.open(cell, terms);
  }

  /** Whether this gateway is to take the cell over now. */
  boolean takes(int cell) {
    if (!board.isFree(cell)) {
      return false;
    }
    if (!isOfSeveral()) {
      return true;
    }
    long since = freeSince.get(cell);
    Duration free = since == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - since);
    return share(cell).filter(share -> share.takes(free, settings.lease())).isPresent();
  }

  /**
   * Opens a cell beside a few others, unless it is not to be taken any more when there is room. It
   * counts as taken from before it is opened until {@link #isClosed}, or until that failed.
   */
  Optional<OpenHome> opened(int cell, Supplier<OpenHome> open) {
    opening.acquireUninterruptibly();
    try {
      if (!isCounted(cell)) {
        return Optional.empty();
      }
      try {
        return Optional.of(open.get());
      } catch (RuntimeException e) {
        isClosed();
        throw e;
      }
    } finally {
      opening.release();
    }
  }

  private boolean isCounted(int cell) {
    counting.lock();
    try {
      boolean takes = takes(cell);
      if (takes) {
        taken.incrementAndGet();
      }
      return takes;
    } finally {
      counting.unlock();
    }
  }

  /** It has been closed, or was not opened. */
  void isClosed() {
    taken.decrementAndGet();
  }

  LeaseTerms terms(Runnable over) {
    return new LeaseTerms(
        address, address, settings.lease(), settings.margin(), System::nanoTime, over);
  }

  Duration lease() {
    return settings.lease();
  }

  LeaseWatch watch() {
    return LedgerPlaces.watch(home.inCell(0).ledger());
  }

  String address() {
    return address;
  }

  boolean isOfSeveral() {
    return count > 1;
  }

  boolean isStopping() {
    return stop.isDone();
  }

  CompletableFuture<String> stopping() {
    return stop;
  }

  void pause(Duration time) {
    try {
      stop.get(time.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // It goes on.
    } catch (InterruptedException | ExecutionException e) {
      Thread.currentThread().interrupt();
    }
  }
}
