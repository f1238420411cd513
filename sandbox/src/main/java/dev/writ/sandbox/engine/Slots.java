package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.TreeMap;

/**
 * Assigns host user ids, each to one sandbox of one process. A claim is a lock on one byte of a
 * file that all processes share, so the kernel releases it when a process dies in any way. The JVM
 * uses a single channel, since closing any channel of a file drops all the process's locks on it.
 */
final class Slots {
  private static final Path FILE = Path.of("/run/writ-uids.lock");
  private static final TreeMap<Long, FileLock> CLAIMED = new TreeMap<>();
  private static FileChannel channel;

  private Slots() {}

  /**
   * Claims a pair of user ids: programs run as the first; the second is the root of their user
   * namespace, if an engine needs one.
   *
   * @param preferred the first of a pair that is taken if it is free; or negative
   * @throws WritException {@code SBX-008}
   */
  static synchronized long claim(long first, int pairs, long preferred) {
    try {
      open();
      boolean fits =
          preferred >= first && preferred < first + 2L * pairs && (preferred - first) % 2 == 0;
      if (fits && take(preferred)) {
        return preferred;
      }
      for (int i = 0; i < pairs; i++) {
        if (take(first + 2L * i)) {
          return first + 2L * i;
        }
      }
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot lock " + FILE, e);
    }
    throw new WritException(SandboxError.NO_SLOT, pairs + " of them");
  }

  /** Keeps a user id claimed as long as this process lives: a process still runs as it. */
  static synchronized void keep(long uid) {
    try {
      open();
      take(uid);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot lock " + FILE, e);
    }
  }

  private static void open() throws IOException {
    if (channel == null) {
      // A private file: any user who could open it could lock it, and nobody would get a user id.
      Modes.ensurePrivateFile(FILE);
      channel = FileChannel.open(FILE, StandardOpenOption.WRITE);
    }
  }

  private static boolean take(long uid) throws IOException {
    if (CLAIMED.containsKey(uid)) {
      return false;
    }
    try {
      FileLock lock = channel.tryLock(uid, 1, false);
      if (lock != null) {
        CLAIMED.put(uid, lock);
      }
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false; // claimed by another class loader of this JVM
    }
  }

  static synchronized void release(long uid) {
    FileLock lock = CLAIMED.remove(uid);
    if (lock != null) {
      try {
        lock.release();
      } catch (IOException e) {
        throw new WritException(SandboxError.HOST, "cannot unlock " + FILE, e);
      }
    }
  }
}
