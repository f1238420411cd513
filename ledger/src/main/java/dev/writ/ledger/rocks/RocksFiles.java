package dev.writ.ledger.rocks;

import dev.writ.canonicalize.Nondeterministic;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The files of a RocksDB database, copied while its writer goes on.
 *
 * <p>A file is deleted, and a write-ahead log used again, only after the manifest says that it is
 * not needed. So the files are those of one moment where the manifest is the same before and after
 * copying. A write-ahead log may end in half a record then, as after a crash; what was acknowledged
 * before stands ahead of it, since logs are copied in the order in which they were written.
 */
public final class RocksFiles {
  private static final Pattern TABLE = Pattern.compile("[0-9]{6,18}\\.sst");
  private static final Pattern LOG = Pattern.compile("[0-9]{6,18}\\.log");
  private static final String CURRENT = "CURRENT";
  private static final String IDENTITY = "IDENTITY";
  private static final int ATTEMPTS = 20;

  private RocksFiles() {}

  /**
   * Copies a database into a directory that does not exist.
   *
   * @throws WritException {@code LED-006} where it has no manifest, {@code LED-008} where the
   *     writer moved its files on every attempt
   */
  public static void copy(Path from, Path to) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      String before = ManifestFile.state(from);
      DurableFiles.REAL.createDirectory(to);
      try {
        if (copyOnce(from, to) && ManifestFile.state(from).equals(before)) {
          return;
        }
      } catch (NoSuchFileException e) {
        if (ManifestFile.state(from).equals(before)) {
          throw e;
        }
      }
      DurableFiles.deleteTree(to);
    }
    throw new WritException(
        LedgerError.STORAGE, from + ": the writer moved its files on " + ATTEMPTS + " attempts");
  }

  /**
   * @return whether there were the same write-ahead logs before and after, and each file that was
   *     listed; the writer deletes one later than its manifest says that it needs it no more
   */
  private static boolean copyOnce(Path from, Path to) throws IOException {
    Files.copy(from.resolve(CURRENT), to.resolve(CURRENT));
    Path manifest = ManifestFile.path(from);
    Files.copy(manifest, to.resolve(manifest.getFileName()));
    Files.copy(from.resolve(IDENTITY), to.resolve(IDENTITY));
    TreeSet<String> names = names(from);
    List<String> logs = logs(names);
    try {
      for (String name : names) {
        if (TABLE.matcher(name).matches()) {
          link(from.resolve(name), to.resolve(name));
        }
      }
      for (String name : logs) {
        // Copied, not linked: the writer goes on in it, and writes it over later.
        Files.copy(from.resolve(name), to.resolve(name));
      }
    } catch (NoSuchFileException e) {
      return false;
    }
    return logs.equals(logs(names(from)));
  }

  private static List<String> logs(TreeSet<String> names) {
    return names.stream().filter(name -> LOG.matcher(name).matches()).toList();
  }

  /** Numbers have as many digits as the others or more, so longer names are later ones. */
  @Nondeterministic("the names are sorted")
  private static TreeSet<String> names(Path dir) throws IOException {
    TreeSet<String> names =
        new TreeSet<>(
            (a, b) -> a.length() == b.length() ? a.compareTo(b) : a.length() - b.length());
    try (DirectoryStream<Path> files = Files.newDirectoryStream(dir)) {
      files.forEach(file -> names.add(file.getFileName().toString()));
    }
    return names;
  }

  /** Gives a file a second name, or copies it where the file system has no such names. */
  public static void link(Path from, Path to) throws IOException {
    try {
      Files.createLink(to, from);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (FileSystemException | UnsupportedOperationException e) {
      Files.copy(from, to);
    }
  }

  /**
   * Has all rows of a copy in tables, and removes what is no table and no manifest: write-ahead
   * logs also hold rows that were deleted since.
   */
  public static void settle(Path dir) throws IOException {
    TreeSet<String> kept = new TreeSet<>(RocksStorage.settle(dir));
    kept.add(CURRENT);
    kept.add(IDENTITY);
    kept.add(ManifestFile.path(dir).getFileName().toString());
    for (String name : names(dir)) {
      if (!kept.contains(name)) {
        Files.delete(dir.resolve(name));
      }
    }
  }
}
