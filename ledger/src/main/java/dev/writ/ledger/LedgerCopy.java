package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.rocks.RocksFiles;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A ledger in another directory as it was durable at one moment, made while its writer goes on
 * (spec/backup.md, "The moment"). It takes no lock and changes nothing in the ledger.
 *
 * <p>Tables and large contents, which never change, are further names of the same files where the
 * file system allows it. So a copy takes next to no time and space, and keeps what the writer
 * deletes meanwhile.
 */
public final class LedgerCopy {
  /** How often it begins anew because the writer moved or deleted files meanwhile. */
  private static final int ATTEMPTS = 20;

  private LedgerCopy() {}

  /**
   * Makes the copy. What the writer had acknowledged before the call is in it.
   *
   * @param ledger the ledger's directory
   * @param to does not exist; where this fails it does not exist afterwards either
   * @throws WritException {@code LED-002} without a ledger, {@code LED-079} where its rows are in
   *     another database, {@code LED-031} where a large content is missing, {@code LED-004}, {@code
   *     LED-005} or {@code LED-008} where the disk refuses
   */
  public static void make(Path ledger, Path to) {
    Format.require(ledger);
    requireHere(ledger);
    for (int attempt = 1; ; attempt++) {
      try {
        Optional<Digest> missing = attempt(ledger, to);
        if (missing.isEmpty()) {
          return;
        }
        if (attempt == ATTEMPTS) {
          throw new WritException(
              LedgerError.BLOB_CORRUPT, missing.get() + ": its file is missing");
        }
        DurableFiles.deleteTree(to);
      } catch (IOException e) {
        throw removing(to, Failures.of("copying " + ledger, e));
      } catch (WritException e) {
        throw removing(to, e);
      }
    }
  }

  /**
   * Requires that the rows are files on this machine, since no other kind of database is copied
   * here.
   *
   * @throws WritException {@code LED-079} where they are not
   */
  public static void requireHere(Path ledger) {
    URI address = Databases.address(ledger);
    if (!address.equals(Databases.ROCKSDB)) {
      throw new WritException(LedgerError.ROWS_ELSEWHERE, "its rows are in " + address.getScheme());
    }
  }

  /**
   * Copies everything once.
   *
   * @return a content that was deleted between its row and its file, if there was one
   */
  private static Optional<Digest> attempt(Path ledger, Path to) throws IOException {
    DurableFiles.REAL.createDirectory(to);
    Path db = to.resolve(Databases.DIRECTORY);
    RocksFiles.copy(ledger.resolve(Databases.DIRECTORY), db);
    Files.copy(ledger.resolve("FORMAT"), to.resolve("FORMAT"));
    RocksFiles.settle(db);
    Blobs.create(DurableFiles.REAL, to.resolve("blobs"));
    try (Storage rows = RocksStorage.openReader(db)) {
      return linkContents(rows, ledger.resolve("blobs"), to.resolve("blobs"));
    }
  }

  private static Optional<Digest> linkContents(Storage rows, Path from, Path to) {
    byte[] all = {};
    Digest[] missing = new Digest[1];
    rows.scan(
        Family.FILES,
        all,
        all,
        (key, _) -> {
          Digest digest = Digest.ofBytes(key);
          String folder = digest.hex().substring(0, 2);
          Path file = from.resolve(folder).resolve(digest.hex());
          try {
            Path target = to.resolve(folder);
            DurableFiles.REAL.createDirectories(target);
            RocksFiles.link(file, target.resolve(digest.hex()));
            return true;
          } catch (NoSuchFileException e) {
            missing[0] = digest;
            return false;
          } catch (IOException e) {
            throw Failures.of("copying blob " + digest, e);
          }
        });
    return Optional.ofNullable(missing[0]);
  }

  @Nondeterministic("everything is removed, in whatever order")
  private static WritException removing(Path to, WritException why) {
    try {
      if (Files.exists(to)) {
        DurableFiles.deleteTree(to);
      }
    } catch (IOException e) {
      why.addSuppressed(e);
    }
    return why;
  }
}
