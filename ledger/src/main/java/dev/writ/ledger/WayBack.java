package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.disk.Flock;
import dev.writ.ledger.disk.WriterLock;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.rocks.RocksDatabase;
import dev.writ.ledger.rocks.RocksFiles;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The state of a ledger before its format was upgraded, kept until somebody confirms the upgrade
 * (spec/backup.md, "The way back from an upgrade").
 */
public final class WayBack {
  private static final String PREFIX = "before-";
  private static final String AFTER = "db.after";
  private static final String FORMAT = "FORMAT";

  /** Tables that are made of others again; a start writes them (spec/storage.md, "Summaries"). */
  private static final List<byte[]> DERIVED =
      Stream.of("account_summary\0", "account_nonces\0")
          .map(table -> table.getBytes(StandardCharsets.UTF_8))
          .toList();

  private WayBack() {}

  /**
   * What is kept.
   *
   * @param format the earlier one
   * @param size how many events the ledger had then
   * @param bytes of its files; tables that the ledger still has count although they are the same
   * @param isOpen whether nothing was written since, so that {@link #back} loses nothing
   */
  public record Kept(int format, long size, long bytes, boolean isOpen) {}

  /**
   * What is kept of the state before an upgrade, if anything is; also while a writer is at work.
   *
   * @throws WritException {@code LED-002}, {@code LED-006} and others of {@link
   *     Ledger#openReadOnly}
   */
  public static Optional<Kept> kept(Path dir) {
    Optional<Path> before = find(dir);
    if (before.isEmpty()) {
      return Optional.empty();
    }
    try (ReadOnlyLedger then = open(before.get())) {
      return Optional.of(
          new Kept(
              Format.version(before.get()),
              then.treeSize(),
              bytes(before.get()),
              isThere(dir.resolve(Databases.DIRECTORY)) && written(dir, then).isEmpty()));
    }
  }

  /** The format of the ledger in this directory. */
  public static int format(Path dir) {
    return Format.version(dir);
  }

  /**
   * Removes what is kept; there is no way back then.
   *
   * @throws WritException {@code LED-087} where nothing is kept
   */
  public static void confirm(Path dir) {
    find(dir).orElseThrow(() -> none(dir));
    remove(dir);
  }

  /**
   * Puts the state of before back, while no writer is at work. One that a crash interrupted is
   * completed by the next call; until then the ledger does not open.
   *
   * @param anchor of the ledger, which its writer locks
   * @return the format that the ledger has now
   * @throws WritException {@code LED-003} while a writer is at work, {@code LED-087} where nothing
   *     is kept, {@code LED-088} where something was written since: nothing has changed then
   */
  public static int back(Path dir, Path anchor) {
    Path absolute = dir.toAbsolutePath().normalize();
    Path before = find(absolute).orElseThrow(() -> none(dir));
    WriterLock lock = WriterLock.take(Flock::take, absolute, anchor.toAbsolutePath().normalize());
    try {
      Path db = absolute.resolve(Databases.DIRECTORY);
      if (isThere(db)) {
        try (ReadOnlyLedger then = open(before)) {
          written(absolute, then)
              .ifPresent(what -> {
                throw new WritException(LedgerError.WRITTEN_SINCE, what);
              });
        }
      }
      exchange(absolute, before);
      return Format.version(absolute);
    } catch (IOException e) {
      throw Failures.of("putting back " + before, e);
    } finally {
      lock.close();
    }
  }

  private static void exchange(Path dir, Path before) throws IOException {
    DurableFiles files = DurableFiles.REAL;
    Path db = dir.resolve(Databases.DIRECTORY);
    Path after = dir.resolve(AFTER);
    // First the format: with it alone either release opens the ledger, whose rows are the same.
    files.write(dir.resolve(FORMAT), Files.readAllBytes(before.resolve(FORMAT)));
    if (isThere(db)) {
      delete(after);
      files.move(db, after);
    } else {
      delete(db); // what an attempt to open a ledger without its database made
    }
    files.move(before.resolve(Databases.DIRECTORY), db);
    delete(before);
    delete(after);
  }

  private static void delete(Path tree) throws IOException {
    if (Files.exists(tree)) {
      DurableFiles.deleteTree(tree);
    }
  }

  private static boolean isThere(Path database) {
    return Files.exists(database.resolve("CURRENT"));
  }

  private static WritException none(Path dir) {
    return new WritException(LedgerError.NO_WAY_BACK, "in " + dir);
  }

  private static ReadOnlyLedger open(Path before) {
    return ReadOnlyLedger.open(
        new RocksDatabase(DurableFiles.REAL, before.resolve(Databases.DIRECTORY)), before);
  }

  /** What was written since, in words; empty where nothing was. */
  private static Optional<String> written(Path dir, ReadOnlyLedger then) {
    if (!Databases.address(dir).equals(Databases.ROCKSDB)) {
      return Optional.of("the rows were moved to another database");
    }
    try (ReadOnlyLedger now = open(dir)) {
      long events = now.treeSize() - then.treeSize();
      if (events != 0) {
        return Optional.of(events + " events");
      }
      if (RocksStorage.writes(now.store) == RocksStorage.writes(then.store)) {
        return Optional.empty();
      }
      return Stream.of(Family.values())
          .filter(family -> !digest(now.store, family).equals(digest(then.store, family)))
          .findFirst()
          .map(family -> "no event, but other rows of " + family.name().toLowerCase(Locale.ROOT));
    }
  }

  private static Digest digest(Storage storage, Family family) {
    MessageDigest digest = Digest.newSha256();
    byte[] all = {};
    storage.scan(
        family,
        all,
        all,
        (key, value) -> {
          if (family != Family.TABLES || !isDerived(key)) {
            digest.update(Keys.number(key.length));
            digest.update(key);
            digest.update(Keys.number(value.length));
            digest.update(value);
          }
          return true;
        });
    return Digest.ofBytes(digest.digest());
  }

  private static boolean isDerived(byte[] key) {
    return DERIVED.stream().anyMatch(table -> Storage.startsWith(key, table));
  }

  /**
   * Keeps the state of a ledger that its writer has open and has not written to. What an earlier
   * upgrade kept is removed: after it the ledger was of this format.
   */
  static void keep(DurableFiles files, Path dir) throws IOException {
    if (!Databases.address(dir).equals(Databases.ROCKSDB)) {
      return;
    }
    remove(dir);
    Path before = dir.resolve(PREFIX + Format.version(dir));
    files.createDirectory(before);
    RocksFiles.copy(dir.resolve(Databases.DIRECTORY), before.resolve(Databases.DIRECTORY));
    sync(files, before);
    // Written last, as in a ledger: without it nothing is kept.
    files.write(before.resolve(FORMAT), Files.readAllBytes(dir.resolve(FORMAT)));
  }

  @Nondeterministic("all are synced, in whatever order")
  private static void sync(DurableFiles files, Path before) throws IOException {
    try (Stream<Path> all = Files.walk(before)) {
      for (Path each : all.toList()) {
        if (Files.isDirectory(each)) {
          files.syncDirectory(each);
        } else {
          try (FileChannel channel = FileChannel.open(each, StandardOpenOption.READ)) {
            files.sync(channel, each);
          }
        }
      }
    }
  }

  /** Removes what is kept, and what a crash left of it. */
  static void remove(Path dir) {
    for (Path left : places(dir)) {
      try {
        DurableFiles.deleteTree(left);
      } catch (IOException e) {
        throw Failures.of("removing " + left, e);
      }
    }
  }

  /** Where the state of before is; of several formats the latest. */
  private static Optional<Path> find(Path dir) {
    return places(dir).stream()
        .filter(place -> Files.exists(place.resolve(FORMAT)))
        .reduce((_, later) -> later);
  }

  private static List<Path> places(Path dir) {
    return IntStream.range(Format.FIRST, Format.VERSION)
        .mapToObj(format -> dir.resolve(PREFIX + format))
        .filter(Files::isDirectory)
        .toList();
  }

  @Nondeterministic("a sum has no order")
  private static long bytes(Path before) {
    try (Stream<Path> all = Files.walk(before)) {
      return all.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException e) {
      throw Failures.of("looking into " + before, e);
    }
  }
}
