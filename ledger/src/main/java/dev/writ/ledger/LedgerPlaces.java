package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LeaseWatch;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Where the parts of a ledger are, as its directory says. */
public final class LedgerPlaces {
  private LedgerPlaces() {}

  /**
   * Looks whether large contents can be kept where the ledger in this directory has them, and do
   * not lie in one home.
   *
   * @throws WritException {@code LED-082}, and what the store refuses
   */
  public static void requireSharedContents(Path dir, String origin) {
    try (LargeContents contents = contentsOf(dir)) {
      requireShared(contents, origin);
    }
  }

  /**
   * Looks whether large contents can be kept where the ledger in this directory has them.
   *
   * @return where that is; empty for the directory itself
   * @throws WritException what the store refuses
   */
  public static Optional<String> probeContents(Path dir, String origin) {
    try (LargeContents contents = contentsOf(dir)) {
      if (!contents.isShared()) {
        return Optional.empty();
      }
      requireShared(contents, origin);
      return Optional.of(contents.location());
    }
  }

  private static LargeContents contentsOf(Path dir) {
    return ContentPlaces.of(DurableFiles.REAL, new FailStop(), dir.toAbsolutePath().normalize());
  }

  /** The files of this directory that say where the ledger is that it is about. */
  public static List<Path> addressFiles(Path dir) {
    return Stream.of(Databases.file(dir), ContentPlaces.file(dir)).filter(Files::exists).toList();
  }

  /** The address of the large contents of the ledger in this directory, if they are elsewhere. */
  public static Optional<URI> contents(Path dir) {
    return ContentPlaces.address(dir);
  }

  /** Where the database of the ledger in this directory is. */
  public static URI database(Path dir) {
    return Databases.address(dir);
  }

  static void requireShared(LargeContents contents, String origin) {
    if (!contents.isShared()) {
      throw new WritException(LedgerError.CONTENTS_NOT_SHARED, "they are in this home");
    }
    contents.requireClaimed(ContentPlaces.marker(origin));
    contents.probe();
  }

  /**
   * Shows who owns the ledger that the directory names.
   *
   * @throws WritException {@code LED-078} where its database knows no leases
   */
  public static LeaseWatch watch(Path dir) {
    return Databases.of(DurableFiles.REAL, dir.toAbsolutePath().normalize()).watch();
  }

  /**
   * The files of the database of the ledger in this directory, if they are on this machine.
   *
   * @throws WritException {@code LED-006} where it names its database in a form that is none
   */
  public static Optional<Path> databaseDirectory(Path dir) {
    return Optional.of(dir.resolve(Databases.DIRECTORY))
        .filter(_ -> Databases.address(dir).equals(Databases.ROCKSDB));
  }
}
