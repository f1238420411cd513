package dev.writ.sandbox.cgroup;

import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * Stops all processes of a cgroup, and lets them continue.
 *
 * @param file the control file; {@code freezer.state} of version 1 reads as FREEZING at first
 */
record Freezer(Path file, String frozen, String thawed) {

  /** Waits a moment until all are stopped; a process that waits in the kernel cannot be. */
  void freeze() {
    ControlFiles.write(file, frozen);
    for (int i = 0;
        i < 100 && !ControlFiles.read(file).orElse(frozen).strip().equals(frozen);
        i++) {
      LockSupport.parkNanos(500_000);
      if (i % 10 == 9) {
        ControlFiles.write(file, frozen); // including processes that were forked meanwhile
      }
    }
  }

  void thaw() {
    ControlFiles.write(file, thawed);
  }
}
