package dev.writ.executor.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Founds each kind of installation once and copies it, since founding takes many synced writes. */
final class Templates {
  private static final TreeMap<String, Path> MADE = new TreeMap<>();

  private Templates() {}

  static synchronized void copy(String kind, Path to, Consumer<Path> maker) {
    Path template =
        MADE.computeIfAbsent(
            kind,
            _ -> {
              Path made = temporary();
              maker.accept(made);
              return made;
            });
    try (Stream<Path> files = Files.walk(template)) {
      for (Path file : files.sorted().toList()) {
        Path copy = to.resolve(template.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(copy);
        } else {
          Files.copy(file, copy);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path temporary() {
    try {
      Path dir = Files.createTempDirectory("writ-template");
      Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(dir)));
      return dir;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void delete(Path dir) {
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
