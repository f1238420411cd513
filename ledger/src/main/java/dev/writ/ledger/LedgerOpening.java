package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.disk.Flock;
import dev.writ.ledger.disk.WriterLock;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.Storage;
import java.net.URI;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Opens a ledger as its one writer.
 *
 * @param host where the writer's lock is taken
 * @param opening opens the database
 * @param seam wraps the disk under the appender
 */
record LedgerOpening(
    LedgerConfig config,
    WriterLock.Host host,
    Database database,
    Supplier<Storage> opening,
    UnaryOperator<LogWriter.Disk> seam,
    Workers workers) {
  /** With the machine's locks and threads. */
  static LedgerOpening of(LedgerConfig config, Database database) {
    return over(config, database, Flock::take, Workers.REAL);
  }

  /** With other locks and threads than the machine's. */
  static LedgerOpening over(
      LedgerConfig config, Database database, WriterLock.Host host, Workers workers) {
    return new LedgerOpening(config, host, database, database::open, disk -> disk, workers);
  }

  /** For a time only. */
  LedgerOpening under(LeaseTerms terms) {
    return new LedgerOpening(config, host, database, () -> database.open(terms), seam, workers);
  }

  /** With the disk under the appender wrapped. */
  LedgerOpening with(UnaryOperator<LogWriter.Disk> other) {
    return new LedgerOpening(config, host, database, opening, other, workers);
  }

  /**
   * Opens the ledger, and holds it against its anchors before anything is written.
   *
   * @throws WritException as {@link Ledger#open(LedgerConfig)}
   */
  Ledger started() {
    Ledger ledger = unstarted(this::requireContinued);
    try {
      Anchor anchor =
          ledger
              .anchors()
              .own()
              .orElseThrow(
                  () -> new WritException(LedgerError.ANCHOR_MISSING, config.anchor().toString()));
      anchor.verify(ledger, ledger.leaseEpoch().isPresent() || ledger.hasOtherHomes());
      if (ledger.anchors().isShared()) {
        Anchor shared =
            ledger
                .anchors()
                .readShared()
                .orElseThrow(() ->
                    new WritException(
                        LedgerError.ANCHOR_MISSING, "in " + ledger.blobs.contents().location()));
        shared.verify(ledger);
      }
      ledger.start();
      if (anchor.treeSize() < ledger.treeSize() || anchor.incarnation() < ledger.incarnation()) {
        // After a crash between a commit and the anchor: bring the anchor up now, since there may
        // be no further commit.
        ledger.bringAnchorUp();
      }
      return ledger;
    } catch (RuntimeException | Error e) {
      ledger.close();
      throw e;
    }
  }

  /**
   * Looks at what an opening would change, so that one that is refused leaves everything as it is:
   * rows behind a damaged place of a write-ahead log, for whoever can put that place back.
   *
   * @throws WritException as {@link Anchor#verify}
   */
  private void requireContinued() {
    if (!database.isChangedByOpening()) {
      return;
    }
    Optional<Anchor> anchor = Anchor.read(config.anchor());
    try (LedgerView view = ReadOnlyLedger.open(database, config.dir())) {
      if (anchor.isPresent() && view.origin().equals(config.origin())) {
        anchor.get().verify(view);
      }
    } catch (WritException e) {
      if (e.code() == LedgerError.ANCHOR_BEHIND || e.code() == LedgerError.ANCHOR_OTHER) {
        throw e;
      }
      // What cannot be read so, the opening says itself.
    }
  }

  /**
   * Opens the database, whatever the anchor says, and loads the state; nothing can be written
   * before {@link Ledger#start}.
   */
  Ledger unstarted() {
    return unstarted(() -> {});
  }

  private Ledger unstarted(Runnable look) {
    Format.require(config.dir());
    WriterLock lock = WriterLock.take(host, config.dir(), config.anchor());
    try {
      // Before the log is taken: who cannot reach the contents is not to hold it.
      boolean isElsewhere = requireContents(config);
      look.run();
      Storage store = opening.get();
      try {
        if (isElsewhere) {
          ContentPlaces.requireEpochs(store);
        }
        database.locks().forEach(lock::watch);
        return new Ledger(config, store, lock, seam, workers);
      } catch (RuntimeException | Error e) {
        store.close();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      lock.close();
      throw e;
    }
  }

  /** Whether large contents are in a store elsewhere, which is this installation's then. */
  private static boolean requireContents(LedgerConfig config) {
    Optional<URI> address = ContentPlaces.address(config.dir());
    if (address.isPresent()) {
      try (LargeContents contents = ContentPlaces.at(address.get())) {
        contents.requireClaimed(ContentPlaces.marker(config.origin()));
      }
    }
    return address.isPresent();
  }
}
