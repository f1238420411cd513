package dev.writ.canonicalize.disk;

import dev.writ.canonicalize.Nondeterministic;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * How many files, sockets and pipes this process may have open at once (RLIMIT_NOFILE, the soft
 * limit, which the JVM raises to the hard one when it starts), and how many it has. Linux says so
 * in proc(5); elsewhere nothing is known.
 */
public final class Descriptors {
  private static final Path LIMITS = Path.of("/proc/self/limits");
  private static final Path OPEN = Path.of("/proc/self/fd");
  private static final String LINE = "Max open files";

  private Descriptors() {}

  /** The limit; {@link Long#MAX_VALUE} where there is none. */
  public static OptionalLong limit() {
    try {
      return Files.readAllLines(LIMITS).stream()
          .filter(line -> line.startsWith(LINE))
          .map(line -> line.substring(LINE.length()).strip().split("\\s+")[0])
          .mapToLong(soft -> soft.equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(soft))
          .findFirst();
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }

  /** How many are open now. */
  @Nondeterministic("they are only counted")
  public static OptionalLong open() {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(OPEN)) {
      long count = 0;
      for (Path _ : entries) {
        count++;
      }
      return OptionalLong.of(count);
    } catch (IOException e) {
      return OptionalLong.empty();
    }
  }
}
