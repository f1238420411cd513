package dev.writ.ledger;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Golden vectors: one file, one vector. */
final class Vectors {
  /** One vector; {@code input} and {@code expect} are read by the test that knows their form. */
  record Vector(String name, String about, String op, Fields input, Fields expect) {
    @Override
    public String toString() {
      return name + ": " + about;
    }
  }

  private Vectors() {}

  static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(at.resolve("golden-vectors"))) {
      at = at.getParent();
    }
    return at;
  }

  /** All vectors of a folder; a folder without any is a failure, not a silent pass. */
  static List<Vector> load(String folder) {
    try (Stream<Path> files = Files.list(root().resolve("golden-vectors").resolve(folder))) {
      List<Vector> vectors =
          files
              .filter(file -> file.toString().endsWith(".json"))
              .sorted()
              .map(Vectors::read)
              .toList();
      if (vectors.isEmpty()) {
        throw new AssertionError("no vectors in " + folder);
      }
      return vectors;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Vector read(Path file) {
    try {
      Fields fields = Fields.of(file.getFileName().toString(), Jcs.parse(Files.readAllBytes(file)));
      Vector vector =
          new Vector(
              file.getFileName().toString(),
              fields.string("about"),
              fields.string("op"),
              fields.fields("input"),
              fields.fields("expect"));
      fields.end();
      return vector;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
