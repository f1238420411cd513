package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Temporary files that have names. Whoever makes one removes it; the rest is removed when the
 * process ends, be it by a signal such as that of Ctrl-C.
 */
public final class TemporaryFiles {
  private static TemporaryDirectory directory;

  private TemporaryFiles() {}

  /** Makes an empty one, which only its owner can read. */
  public static Path create(String prefix, String suffix) throws IOException {
    return Files.createTempFile(directory().path(), prefix, suffix);
  }

  private static synchronized TemporaryDirectory directory() throws IOException {
    // Hosts clear their temporary directories of what nobody has used for days.
    if (directory == null || !Files.isDirectory(directory.path())) {
      directory = TemporaryDirectory.create("writ-files");
    }
    return directory;
  }
}
