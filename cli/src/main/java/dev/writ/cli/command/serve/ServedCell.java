package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.home.ServedConfiguration;
import dev.writ.embed.home.CellMember;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.CellPlacement;
import dev.writ.gateway.cell.CellBoard;
import dev.writ.gateway.http.server.FrontCell;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.ops.Readiness;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.LeaseWatch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * One cell of a gateway's installation: where nobody owns it this gateway takes it over, and serves
 * it until it is lost, given back, or the gateway ends (spec/cells.md).
 */
final class ServedCell {
  static final String STOPPING = "stopping";

  static final String SHARED = "shared";

  /** Operators have it that the cell is in no gateway of this region. */
  static final String REGION = "region";

  private static final String NOT_SEEN = "system-not-seen";

  /** Why a cell is given up by a gateway that still has its lease. */
  private static final Set<String> ORDERLY = Set.of(STOPPING, SHARED, REGION);

  private static final Duration LOOKS_EVERY = Duration.ofMillis(100);

  /** How often it looks what is in force, of which it may be behind by `system_ms`. */
  private static final Duration FOLLOWS_EVERY = Duration.ofMillis(50);

  /** After a refusal that will not go away by itself. */
  private static final Duration TRIES_AGAIN_AFTER = Duration.ofSeconds(1);

  /**
   * At most, while the anchor refuses the log: only an operator changes that, and each try takes
   * the cell over by a further epoch.
   */
  private static final Duration TRIES_RARELY_AFTER = Duration.ofSeconds(16);

  private static final Set<String> ANCHORS =
      Set.of(
          LedgerError.ANCHOR_MISSING.code(),
          LedgerError.ANCHOR_BEHIND.code(),
          LedgerError.ANCHOR_MALFORMED.code(),
          LedgerError.ANCHOR_OTHER.code());

  /** For what is at work when the lease was lost: it may still find out what became of it. */
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(1);

  /** Of another gateway that was faster. */
  private static final Set<String> TAKEN =
      Set.of(LedgerError.LEASE_HELD.code(), LedgerError.LOCKED.code());

  private final ServedCells gateway;
  private final FrontCell front;
  private final CellBoard board;
  private final JsonLog log;

  /** What keeps this gateway from owning the cell. */
  private final CellTrouble refusal;

  /** How long the last refusal was waited after; of one thread. */
  private Duration triesAfter = TRIES_AGAIN_AFTER;

  private volatile Optional<CompletableFuture<String>> ends = Optional.empty();
  private volatile Optional<Running> running = Optional.empty();
  private volatile BooleanSupplier worked = () -> false;

  /** Opens the home and serves it. */
  interface Opener {
    /**
     * Reads the configuration again.
     *
     * @throws WritException what is not valid, and {@code GWY-006}
     */
    ServedConfiguration readAgain();

    /** Serves by that from now on what is not served yet. */
    void use(ServedConfiguration next);

    /** Opens a cell for a time. */
    OpenHome open(int cell, LeaseTerms terms);

    /**
     * Serves it behind the front.
     *
     * @param board shown to callers
     * @param warm whether this gateway is warm
     */
    Running serve(OpenHome open, FrontCell front, CellBoard board, Probe warm);
  }

  /** A cell that is open and served. */
  interface Running {
    /** Completes where its ledger failed for good. */
    CompletableFuture<WritException> ledgerStopped();

    /** The longest time for which calls at work are waited for. */
    Duration drain();

    /** What a scrape of it shows. */
    String metrics();

    /** Its conditions of readiness. */
    List<Readiness.Check> checks();

    /** Other statements are in force than before. */
    void systemChanged();

    /** Puts the configuration in force that is used now, if it is another one. */
    void reload();

    /** Lets calls at work end, and closes it all. */
    void close(Duration drain);
  }

  ServedCell(ServedCells gateway, FrontCell front, CellBoard board, JsonLog log) {
    this.gateway = gateway;
    this.front = front;
    this.board = board;
    this.log = log;
    this.refusal = new CellTrouble(log, "cell-refused");
  }

  /** What serves it here, while it is owned. */
  Optional<Running> running() {
    return running;
  }

  /**
   * Has it be given back, so that another gateway takes it.
   *
   * @param why {@link #SHARED} or {@link #REGION}
   */
  void giveBack(String why) {
    ends.ifPresent(end -> end.complete(why));
  }

  /** Goes on until the gateway ends. */
  void run() {
    while (!gateway.isStopping()) {
      takeTurn();
    }
  }

  /** Takes the cell over if nobody owns it, and serves it until it is lost or given back. */
  private void takeTurn() {
    if (!gateway.takes(front.number())) {
      gateway.pause(LOOKS_EVERY);
      return;
    }
    CompletableFuture<String> end = new CompletableFuture<>();
    gateway.stopping().thenAccept(end::complete);
    Optional<OpenHome> open;
    try {
      open = gateway.opened(front.number(), () -> gateway.open(front.number(), terms(end)));
    } catch (RuntimeException e) {
      refused(e);
      return;
    }
    if (open.isEmpty()) {
      return;
    }
    try {
      own(open.get(), end);
    } catch (RuntimeException e) {
      refused(e);
    } finally {
      gateway.isClosed();
    }
  }

  private LeaseTerms terms(CompletableFuture<String> end) {
    return gateway.terms(() -> end.complete(LedgerError.LEASE_OVER.code()));
  }

  /** Another gateway was faster, or this one cannot own the cell. */
  private void refused(RuntimeException e) {
    if (TAKEN.contains(CellTrouble.of(e).code().code())) {
      gateway.pause(LOOKS_EVERY);
      return;
    }
    refusal.is(e);
    gateway.pause(pauseAfter(CellTrouble.of(e).code().code()));
  }

  private Duration pauseAfter(String code) {
    Duration longer = triesAfter.multipliedBy(2);
    triesAfter =
        !ANCHORS.contains(code)
            ? TRIES_AGAIN_AFTER
            : longer.compareTo(TRIES_RARELY_AFTER) < 0 ? longer : TRIES_RARELY_AFTER;
    return triesAfter;
  }

  /** Whether it could not be taken over lately, for a reason that others need not have. */
  boolean isRefused() {
    return refusal.lasts();
  }

  /** Whether the cell has had work of its own since it was taken over. */
  boolean hasWorked() {
    return worked.getAsBoolean();
  }

  private void own(OpenHome open, CompletableFuture<String> end) {
    long epoch = open.kernel().epoch().orElseThrow();
    long events = open.kernel().ledger().treeSize();
    worked = () -> open.kernel().ledger().treeSize() > events;
    AtomicBoolean over = new AtomicBoolean();
    Running served;
    try {
      open.member().ifPresent(member -> follow(member, epoch, over, end));
      served = gateway.serve(open, front);
    } catch (RuntimeException e) {
      over.set(true);
      worked = () -> false;
      open.close();
      throw e;
    }
    refusal.isOver();
    triesAfter = TRIES_AGAIN_AFTER;
    running = Optional.of(served);
    served.reload(); // what was read again while it was made
    ends = Optional.of(end);
    board.took(new CellBoard.Owned(front.number(), epoch, gateway.address()));
    front.owner(Optional.empty());
    log.event("cell-owned", said("epoch " + epoch));
    served.ledgerStopped().thenAccept(why -> end.complete(why.code().code()));
    String why = await(end);
    worked = () -> false;
    ends = Optional.empty();
    running = Optional.empty();
    board.gaveUp(front.number());
    log.event("cell-given-up", said(why));
    served.close(ORDERLY.contains(why) ? served.drain() : ENDS_WITHIN);
    over.set(true);
  }

  /** Where there are several cells, it says which. */
  private String said(String what) {
    return gateway.isOfSeveral() ? front + ", " + what : what;
  }

  /**
   * Brings what is in force up to date before anything is served, and from then on again and again.
   */
  private void follow(
      CellMember member, long epoch, AtomicBoolean over, CompletableFuture<String> end) {
    int has = member.follow();
    tell(epoch, has);
    if (front.number() != CellPlacement.SYSTEM) {
      Thread.ofPlatform()
          .daemon()
          .name("writ-system-" + front.number())
          .start(() -> keepFollowing(member, epoch, has, over, end));
    }
  }

  /**
   * Where this does not succeed for as long as a lease, the cell is given up: the next owner copies
   * what is missing before it serves, with the times of the system cell.
   */
  private void keepFollowing(
      CellMember member, long epoch, int first, AtomicBoolean over, CompletableFuture<String> end) {
    int told = first;
    CellTrouble trouble = new CellTrouble(log, NOT_SEEN);
    long succeeded = System.nanoTime();
    MovedTenants moves = new MovedTenants(log, front.toString());
    while (!over.get()) {
      try {
        int has = member.follow();
        succeeded = System.nanoTime();
        if (has != told) {
          running.ifPresent(Running::systemChanged);
          tell(epoch, has);
          told = has;
        }
        trouble.isOver();
        moves.goOn(member);
      } catch (RuntimeException e) {
        if (!over.get() && !isClosed(e, end)) {
          trouble.is(e);
        }
      }
      if (System.nanoTime() - succeeded > gateway.lease().toNanos()) {
        end.complete(NOT_SEEN);
        return;
      }
      try {
        Thread.sleep(FOLLOWS_EVERY);
      } catch (InterruptedException e) {
        return; // nobody interrupts it on purpose
      }
    }
  }

  /** Of a cell that is being given up: its ledger is closed before this ends. */
  private static boolean isClosed(RuntimeException e, CompletableFuture<String> end) {
    return end.isDone()
        && e instanceof WritException refusal
        && refusal.code() == LedgerError.CLOSED;
  }

  private void tell(long epoch, int statements) {
    try (LeaseWatch watch = gateway.watch()) {
      watch.observed(front.number(), epoch, statements);
    }
  }

  private static String await(CompletableFuture<String> end) {
    try {
      return end.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return STOPPING;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
