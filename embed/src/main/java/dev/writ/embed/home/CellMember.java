package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.CellRules;
import dev.writ.executor.Kernel;
import dev.writ.executor.Placements;
import dev.writ.executor.SystemStatement;
import dev.writ.executor.TenantElsewhere;
import dev.writ.executor.TenantsMoved;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.storage.LeaseWatch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A log that is open as one cell of several (spec/cells.md, "What is in force"). Other cells follow
 * the system cell: somebody calls {@link #follow} again and again, or, where nobody does, every
 * action looks for itself.
 */
public final class CellMember implements CellRules {
  private static final Duration ASKS_EVERY = Duration.ofMillis(10);

  private final Home home;
  private final int cells;
  private final SystemFeed feed;
  private final Kernel kernel;
  private final Optional<String> region;

  /** How many statements of the system cell are in this one. */
  private int copied;

  /** The last of them, from the first call of {@link #follow} on. */
  private Optional<Digest> latest = Optional.empty();

  private volatile boolean isFollowed;

  /** Up to which moment everything that was durable in the system cell is in this one. */
  private volatile long seen;

  /**
   * @param region where this process stands, if anywhere in particular
   * @param copied how many statements of the system cell are in this one
   */
  CellMember(Home home, SystemFeed feed, Kernel kernel, Optional<String> region, int copied) {
    this.home = home;
    this.cells = home.cells();
    this.feed = feed;
    this.kernel = kernel;
    this.region = region;
    this.copied = copied;
  }

  private boolean isSystem() {
    return home.cell() == CellPlacement.SYSTEM;
  }

  /**
   * Takes what the system cell has stated since the last call. From the first call on the cell acts
   * only where such a call has succeeded within the bound.
   *
   * @return how many statements are durable here
   * @throws WritException what the database refuses, and the code of a statement that does not
   *     hold; {@code EXE-993} where the system cell does not have what it had stated
   */
  public synchronized int follow() {
    if (isSystem()) {
      return (int) SystemStatement.count(kernel.ledger());
    }
    SystemFeed.Look look = feed.look();
    List<SystemStatement> all = look.statements();
    requireCopied(all);
    while (copied < all.size()) {
      kernel.follow(all.get(copied).document());
      copied++;
    }
    latest = all.isEmpty() ? Optional.empty() : Optional.of(all.getLast().document().id());
    seen = look.begun();
    isFollowed = true;
    return copied;
  }

  /** Else what is stated in place of what was lost would never come here. */
  private void requireCopied(List<SystemStatement> all) {
    boolean isThere =
        all.size() >= copied
            && latest.filter(id -> !id.equals(all.get(copied - 1).document().id())).isEmpty();
    if (!isThere) {
      throw new WritException(
          ExecutorError.CELL_DIVERGED,
          "statement "
              + copied
              + " of this cell is no longer that of the system cell, which has "
              + all.size());
    }
  }

  /**
   * Goes on with moves of tenants from this cell and to it.
   *
   * @throws WritException {@code EXE-991}, {@code EXE-966}, and what the database refuses
   */
  public TenantsMoved moveTenants() {
    return kernel.cells().moveTenants();
  }

  @Override
  public void requireTenant(String tenant) {
    int right = kernel.system().placements().cellOf(tenant, cells);
    if (right != home.cell()) {
      throw new TenantElsewhere(tenant, right, home.cell());
    }
  }

  /**
   * Refuses a tenant that is in another cell and never was in this one.
   *
   * @throws WritException {@code EXE-990}
   */
  public void requireKnown(String tenant) {
    if (!kernel.cells().isKnownHere(tenant)) {
      requireTenant(tenant);
    }
  }

  @Override
  public int number() {
    return home.cell();
  }

  @Override
  public int count() {
    return cells;
  }

  @Override
  public LedgerView log(int cell) {
    return feed.log(cell);
  }

  @Override
  public void requireCurrent() {
    if (isSystem()) {
      return;
    }
    requireRegion();
    if (!isFollowed) {
      requireNothingNew();
      return;
    }
    Duration ago = Duration.ofNanos(feed.elapsed().getAsLong() - seen);
    if (ago.compareTo(feed.bound()) >= 0) {
      throw new WritException(
          ExecutorError.CELL_BEHIND,
          "cell "
              + home.cell()
              + " saw it "
              + ago.toMillis()
              + " ms ago, at most "
              + feed.bound().toMillis());
    }
  }

  private void requireRegion() {
    Placements placed = kernel.system().placements();
    if (!placed.mayOwn(home.cell(), region)) {
      throw new WritException(
          ExecutorError.CELL_ELSEWHERE,
          "cell "
              + home.cell()
              + " may be in "
              + String.join(", ", placed.regionsOf(home.cell()).orElseThrow().regions())
              + "; this is "
              + region.orElse("none"));
    }
  }

  /** For a command, which is over before it would have to follow. */
  private void requireNothingNew() {
    int stated = feed.look().statements().size();
    int here;
    synchronized (this) {
      here = copied;
    }
    if (stated != here) {
      throw new WritException(
          ExecutorError.CELL_BEHIND,
          "cell " + home.cell() + " has " + here + " statements of " + stated);
    }
  }

  @Override
  public void requireSystem() {
    if (!isSystem()) {
      throw new WritException(ExecutorError.NOT_SYSTEM_CELL, "this is cell " + home.cell());
    }
  }

  @Override
  public void requireCell(int cell) {
    if (cell >= cells) {
      throw new WritException(ExecutorError.CELL_UNKNOWN, "cell " + cell + " of " + cells);
    }
  }

  /**
   * Waits until every cell with an owner has the change. Where one does not within the bound, it
   * has ceased to act by then; a tenth is for clocks that run unequally.
   */
  @Override
  public void changed() {
    int stated = (int) SystemStatement.count(kernel.ledger());
    long end = feed.elapsed().getAsLong() + feed.bound().plus(feed.bound().dividedBy(10)).toNanos();
    try (LeaseWatch watch = LedgerPlaces.watch(home.ledger())) {
      tell(watch, stated);
      while (feed.elapsed().getAsLong() < end && !isEverywhere(watch, stated)) {
        Thread.sleep(ASKS_EVERY);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Others see by it how far they are behind. */
  private void tell(LeaseWatch watch, int stated) {
    try {
      kernel.epoch().ifPresent(epoch -> watch.observed(home.cell(), epoch, stated));
    } catch (WritException e) {
      // It is for people who look, and told again at the next change.
    }
  }

  private boolean isEverywhere(LeaseWatch watch, int stated) {
    try {
      return watch.askAll(cells).stream()
          .filter(cell -> cell.cell() != CellPlacement.SYSTEM)
          .allMatch(cell -> !cell.isHeld() || cell.observed() >= stated);
    } catch (WritException e) {
      return false; // the bound covers that the database does not answer
    }
  }
}
