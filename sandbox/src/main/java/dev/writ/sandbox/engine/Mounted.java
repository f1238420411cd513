package dev.writ.sandbox.engine;

import java.nio.file.Path;

/** One mount in the file system of a sandbox, for any engine. */
sealed interface Mounted {
  String target();

  /** A file or directory of the host, read-only. */
  record ReadOnly(Path source, String target) implements Mounted {}

  /**
   * A directory of the host that programs may write to.
   *
   * @param exec whether programs may run from it
   */
  record Writable(Path source, String target, boolean exec) implements Mounted {}

  /** A fresh tmpfs. */
  record Memory(String target, long bytes, String mode) implements Mounted {}

  record Link(String target, String to) implements Mounted {}

  /** A file of /proc that reads as empty. */
  record Hidden(String target) implements Mounted {}
}
