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
 * Hands out host user ids, each to one sandbox of one process. A claim is a lock on one byte of a
 * file that all processes share: the kernel gives it back when a process dies, however it does.
 * There is one channel for the whole JVM, since closing any channel of a file drops all locks of
 * the process on it.
 */
final class Slots {
  private static final Path FILE = Path.of("/run/writ-uids.lock");
  private static final TreeMap<Long, FileLock> CLAIMED = new TreeMap<>();
  private static FileChannel channel;

  private Slots() {}

  /**
   * Claims a pair of user ids: the first is what programs run as, the second what the root of their
   * user namespace is, where an engine needs one.
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

  /** Keeps a user id from everyone as long as this process lives: something still runs as it. */
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
      // Whoever may open it could lock it, and nobody would get a user id.
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
      return false; // another class loader of this JVM has it
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
