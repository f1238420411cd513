package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bundles of golden vectors that verify: what neither verifier verified, both name in the same
 * lines, with the same numbers.
 */
class BothVerifiersSayTheSameOfVectorsTest {
  private static final Path VECTORS =
      Path.of(System.getProperty("basedir", "."), "..", "golden-vectors", "bundle");
  private static final String LATE = " documents: reached the log after a revocation or change ";

  private static JsonValue.Obj vector(Path file) {
    try {
      return (JsonValue.Obj) Jcs.parse(Files.readAllBytes(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean verifies(JsonValue.Obj vector) {
    return ((JsonValue.Obj) vector.get("expect")).members().containsKey("pinned");
  }

  private static byte[] bundle(JsonValue.Obj vector) {
    JsonValue.Obj input = (JsonValue.Obj) vector.get("input");
    return StrictBase64.decode("bundle_b64", ((JsonValue.Str) input.get("bundle_b64")).value());
  }

  private static byte[] bundle(String name) {
    return bundle(vector(VECTORS.resolve(name + ".json")));
  }

  private static List<byte[]> bundles() throws IOException {
    try (Stream<Path> files = Files.list(VECTORS)) {
      return files
          .filter(file -> file.toString().endsWith(".json"))
          .sorted()
          .map(BothVerifiersSayTheSameOfVectorsTest::vector)
          .filter(vector -> verifies(vector))
          .filter(
              vector -> ((JsonValue.Obj) vector.get("input")).members().containsKey("bundle_b64"))
          .map(BothVerifiersSayTheSameOfVectorsTest::bundle)
          .toList();
    }
  }

  @Test
  void the_lines_are_the_same(@TempDir Path dir) throws IOException {
    SecondOpinion opinion = new SecondOpinion();
    List<byte[]> bundles = bundles();
    assertThat(bundles).hasSizeGreaterThan(100);
    bundles.forEach(bundle -> opinion.verify(bundle, BundleVerifier.Options.UNPINNED));
    opinion.compare(dir);
  }

  /** Each document is counted once, whatever ended before it. */
  @Test
  void what_was_in_flight_is_counted() {
    for (String one :
        List.of(
            "intent-dispatched-as-its-key-is-revoked",
            "governed-tool-prohibited-a-minute-before",
            "governed-tool-staged-out-a-minute-before",
            "judged-delisted-a-minute-before")) {
      assertThat(
              BundleVerifier.verify(bundle(one), BundleVerifier.Options.UNPINNED, _ -> {})
                  .notVerified())
          .as(one)
          .anyMatch(line -> line.startsWith("1" + LATE));
    }
  }
}
