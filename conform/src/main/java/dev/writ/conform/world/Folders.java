package dev.writ.conform.world;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Copying and removing whole folders. */
final class Folders {
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long MEMORY_BYTES_MIN = 1L << 30;

  private Folders() {}

  /**
   * In memory where there is room: a scenario's crash is a copy of files, not a loss of power, so a
   * disk would only make it slow.
   */
  static Path temporary() {
    try {
      boolean roomy =
          Files.isWritable(MEMORY)
              && Files.getFileStore(MEMORY).getUsableSpace() > MEMORY_BYTES_MIN;
      return roomy
          ? Files.createTempDirectory(MEMORY, "writ-conform-")
          : Files.createTempDirectory("writ-conform-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void copy(Path from, Path to) {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.sorted().toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static void delete(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> all = Files.walk(folder)) {
      List<Path> files = all.sorted(Comparator.reverseOrder()).toList();
      for (Path file : files) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
