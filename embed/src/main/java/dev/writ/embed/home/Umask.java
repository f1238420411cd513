package dev.writ.embed.home;

import dev.writ.canonicalize.disk.CLibrary;
import java.lang.foreign.Arena;

/**
 * umask(2), for the whole process: RocksDB and other libraries choose the modes of their files, and
 * a home must be readable by its owner alone. Sandboxes set their own umask.
 */
final class Umask {
  private static final int OWNERS_ALONE = 077;

  private static final CLibrary.Plain UMASK = CLibrary.plain("umask");

  private Umask() {}

  /** From now on nothing that this process makes is readable or writable by anybody else. */
  static void ownersAlone() {
    try (Arena arena = Arena.ofConfined()) {
      int _ = UMASK.call(CLibrary.capture(arena), OWNERS_ALONE, 0);
    }
  }
}
