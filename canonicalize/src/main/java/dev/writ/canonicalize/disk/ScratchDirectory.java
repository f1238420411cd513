package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Temporary directories, in memory if the host has room there. */
public final class ScratchDirectory {
  /** A file system in memory, where Linux has one; containers often give it 64 MiB. */
  private static final Path MEMORY = Path.of("/dev/shm");

  private static final long MEMORY_BYTES_MIN = 1L << 30;

  private ScratchDirectory() {}

  /** Makes a new one that only its owner can read; the caller removes it. */
  public static Path create(String prefix) throws IOException {
    boolean roomy =
        Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() > MEMORY_BYTES_MIN;
    return roomy ? Files.createTempDirectory(MEMORY, prefix) : Files.createTempDirectory(prefix);
  }
}
