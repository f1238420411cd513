package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A disk whose first failed sync stops the ledger; no concurrent or later sync succeeds. A failing
 * sync may drop pages of another file before its failure is known, and the sync of that other file
 * would then succeed. So a sync returns only when every other sync that had begun by then has
 * ended, and only if the ledger has not stopped.
 */
public final class FailStopDisk implements Disk {
  private final Disk disk;
  private final FailStop failStop;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition ended = lock.newCondition();

  /** Numbers of the syncs at work, in the order in which they began. */
  private final TreeSet<Long> working = new TreeSet<>();

  private long begun;

  public FailStopDisk(Disk disk, FailStop failStop) {
    this.disk = disk;
    this.failStop = failStop;
  }

  @FunctionalInterface
  private interface Sync {
    void run() throws IOException;
  }

  @Override
  public FileChannel open(
      Path file, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return disk.open(file, options, attributes);
  }

  @Override
  public void write(FileChannel channel, ByteBuffer content, Path file) throws IOException {
    disk.write(channel, content, file);
  }

  /**
   * @throws WritException {@code LED-022} where the ledger has stopped meanwhile: what was synced
   *     may be lost
   */
  @Override
  public void sync(FileChannel channel, Path file) throws IOException {
    trusted(() -> disk.sync(channel, file));
  }

  /**
   * @throws WritException {@code LED-022}, as {@link #sync}
   */
  @Override
  public void syncDirectory(Path directory) throws IOException {
    trusted(() -> disk.syncDirectory(directory));
  }

  @Override
  public void rename(Path from, Path to) throws IOException {
    disk.rename(from, to);
  }

  private void trusted(Sync sync) throws IOException {
    long number = begin();
    try {
      sync.run();
    } catch (SyncFailed e) {
      failStop.stop(new WritException(LedgerError.SYNC, e.getMessage(), e)); // before others go on
      throw e;
    } finally {
      end(number);
    }
    awaitThoseBegun();
    failStop.require();
  }

  private long begin() {
    lock.lock();
    try {
      working.add(++begun);
      return begun;
    } finally {
      lock.unlock();
    }
  }

  private void end(long number) {
    lock.lock();
    try {
      working.remove(number);
      ended.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for the syncs that are at work now, not for later ones. */
  private void awaitThoseBegun() {
    lock.lock();
    try {
      long last = begun;
      while (!working.isEmpty() && working.first() <= last) {
        ended.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }
}
