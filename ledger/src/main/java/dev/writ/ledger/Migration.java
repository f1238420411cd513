package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.net.URI;
import java.security.MessageDigest;
import java.util.OptionalLong;
import java.util.function.LongConsumer;

/**
 * Moves the rows of a ledger into another database, which continues the same log (spec/storage.md,
 * Moving). The rows of before are left where they are, and not read any more.
 */
public final class Migration {
  /** The address of the ledger's own directory. */
  public static final URI ROCKSDB = Databases.ROCKSDB;

  private static final long WRITE_BYTES = 4 << 20;
  private static final byte[] ALL = {};

  private final Storage from;
  private final Storage to;
  private final LongConsumer progress;
  private Write write;
  private long logRows;
  private long logRowsWritten;
  private long rows;

  private Migration(Storage from, Storage to, LongConsumer progress) {
    this.from = from;
    this.to = to;
    this.progress = progress;
    this.write = to.newWrite();
  }

  /**
   * Moves the rows while no writer is at work, reads them back and compares them, and only then
   * says in the ledger's directory where they are.
   *
   * @param address of a database in which nothing is, or {@link #ROCKSDB}
   * @param progress is told how many rows were copied so far
   * @return how many rows were moved
   * @throws WritException as {@link Ledger#open}, {@code LED-001} where something is in the other
   *     database or it is that of the ledger, {@code LED-006} where what is read back differs,
   *     {@code LED-084} where large contents are elsewhere and the other database counts no
   *     writers; nothing has changed then. A move that was killed leaves rows there, which the same
   *     call removes
   */
  public static long move(LedgerConfig config, URI address, LongConsumer progress) {
    try (Ledger ledger = Ledger.open(config)) {
      URI now = Databases.address(config.dir());
      if (now.equals(address)) {
        throw new WritException(LedgerError.EXISTS, "the rows are in " + address + " already");
      }
      Database database = Databases.at(config.files(), config.dir(), address);
      MoveUnderWay underWay = MoveUnderWay.of(config);
      removeLeft(database, address, underWay);
      Storage to = database.create();
      try {
        long rows;
        try (to) {
          if (ContentPlaces.location(ledger.store).isPresent()) {
            ContentPlaces.requireEpochs(to);
          }
          if (to.epoch().isPresent()) {
            underWay.begin(address, to.epoch().get());
          }
          rows = new Migration(ledger.store, to, progress).copy();
        }
        try (Storage read = database.openReader()) {
          compare(ledger.store, read);
        }
        Databases.write(config.files(), config.dir(), address);
        underWay.end();
        return rows;
      } catch (IOException e) {
        undo(config, address, database, underWay, e);
        throw Failures.of("writing where the rows of " + config.dir() + " are", e);
      } catch (RuntimeException e) {
        undo(config, address, database, underWay, e);
        throw e;
      }
    } catch (IOException e) {
      throw Failures.of("looking into " + config.dir() + " for a move that was broken off", e);
    }
  }

  /** Whether the rows are at that address. */
  public static boolean isAt(LedgerConfig config, URI address) {
    return Databases.address(config.dir()).equals(address);
  }

  /** Removes what an earlier move to there left, which is not in use. */
  private static void removeLeft(Database database, URI address, MoveUnderWay underWay)
      throws IOException {
    if (address.equals(ROCKSDB)) {
      database.undoCreation();
    }
    OptionalLong epoch = underWay.brokenOff(address);
    if (epoch.isPresent()) {
      try {
        database.undoCreation(epoch.getAsLong());
      } catch (WritException e) {
        // Perhaps somebody has removed all of it. What is left there is refused next.
      }
    }
  }

  /** Not where the directory names the new place already: a crash may bring that to light. */
  private static void undo(
      LedgerConfig config, URI address, Database database, MoveUnderWay underWay, Exception why) {
    if (isAt(config, address)) {
      return;
    }
    try {
      database.undoCreation();
      underWay.end();
    } catch (IOException | WritException e) {
      why.addSuppressed(e); // a database that has gone away: the next move removes it
    }
  }

  private long copy() {
    for (Family family : Family.values()) {
      from.scan(
          family,
          ALL,
          ALL,
          (key, value) -> {
            write.put(family, key, value);
            logRows += family == Family.LOG ? 1 : 0;
            rows++;
            if (write.bytes() > WRITE_BYTES) {
              flush();
            }
            return true;
          });
    }
    flush();
    return rows;
  }

  private void flush() {
    try (Write full = write) {
      to.write(full, logRowsWritten, logRows);
    }
    logRowsWritten = logRows;
    write = to.newWrite();
    progress.accept(rows);
  }

  private static void compare(Storage from, Storage to) {
    for (Family family : Family.values()) {
      if (!digest(from, family).equals(digest(to, family))) {
        throw new WritException(
            LedgerError.CORRUPT, "the rows of " + family + " that were read back differ");
      }
    }
  }

  private static Digest digest(Storage storage, Family family) {
    MessageDigest digest = Digest.newSha256();
    storage.scan(
        family,
        ALL,
        ALL,
        (key, value) -> {
          digest.update(Keys.number(key.length));
          digest.update(key);
          digest.update(Keys.number(value.length));
          digest.update(value);
          return true;
        });
    return Digest.ofBytes(digest.digest());
  }
}
