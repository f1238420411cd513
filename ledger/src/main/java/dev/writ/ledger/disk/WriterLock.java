package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The locks that make a process the only writer: flock(2) on the data directory's own inode, and on
 * a file beside the anchor. The first does not depend on a file in the directory, so deleting files
 * does not release it, and it is the same lock by every path, link or mount of the directory. The
 * second prevents a copy of the directory from being opened with this anchor. RocksDB's own lock,
 * by the name of a file, is taken as well.
 *
 * <p>Replacing the directory cannot be prevented by a lock, but is detected: before and after each
 * write {@link #requireHeld} checks that every name still leads to the inode that was locked.
 */
public final class WriterLock implements AutoCloseable {
  /** A lock that lasts until it is closed, or the process ends. */
  public interface Held extends AutoCloseable {
    @Override
    void close();
  }

  /** The locks of the host: {@link Flock#take}, except in the simulation. */
  @FunctionalInterface
  public interface Host {
    /** Locks the inode at a path; empty if another process has the lock. */
    Optional<? extends Held> take(Path path);
  }

  private final Host host;
  private final List<Held> locks = new ArrayList<>();
  private final List<WatchedName> names = new ArrayList<>();

  private WriterLock(Host host) {
    this.host = host;
  }

  /**
   * @throws WritException {@code LED-003} where another writer has one of them, {@code LED-010}
   *     where there is not even a directory for the anchor, {@code LED-072} where the file system
   *     cannot lock, {@code LED-004}, {@code LED-008} or {@code LED-073} where it cannot be opened
   */
  public static WriterLock take(Host host, Path dir, Path anchor) {
    DirectoryOwner.require(dir);
    WriterLock lock = new WriterLock(host);
    try {
      lock.lock(dir);
      lock.lock(besides(anchor));
      return lock;
    } catch (WritException e) {
      lock.close();
      throw e;
    }
  }

  /** The file beside an anchor whose lock keeps a second writer from using that anchor. */
  public static Path lockOf(Path anchor) {
    return anchor.resolveSibling(anchor.getFileName() + ".lock");
  }

  /**
   * The lock file for an anchor, made where it is missing; the anchor itself is replaced at each
   * write, so it cannot be locked.
   */
  static Path besides(Path anchor) {
    Path file = lockOf(anchor);
    try {
      if (!Files.isDirectory(anchor.getParent())) {
        throw new WritException(LedgerError.ANCHOR_MISSING, anchor.toString());
      }
      if (!Files.exists(file)) {
        DurableFiles.REAL.createFile(file).close();
      }
      return file;
    } catch (IOException e) {
      throw Failures.of("making " + file, e);
    }
  }

  private void lock(Path path) {
    locks.add(
        host.take(path).orElseThrow(() -> new WritException(LedgerError.LOCKED, path.toString())));
    watch(path);
  }

  /** From now on this name must lead to the inode to which it leads now. */
  public void watch(Path path) {
    names.add(WatchedName.of(path));
  }

  /**
   * @throws WritException {@code LED-071} where a name leads to something else now
   */
  public synchronized void requireHeld() {
    names.forEach(WatchedName::requireSame);
  }

  @Override
  public void close() {
    locks.reversed().forEach(Held::close);
    locks.clear();
  }
}
