package dev.writ.canonicalize.golden;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The generator still gives the vectors that are there, and there are no others. To write them anew
 * run this test with {@code -Dwrit.golden.write=true} and review the difference.
 */
class GoldenVectorsAreCurrentTest {
  @Test
  void theGeneratorGivesTheFilesThatAreThere() throws IOException {
    var generated = GoldenVectors.generate();
    if (Boolean.getBoolean("writ.golden.write")) {
      for (Map.Entry<String, Vector> vector : generated.entrySet()) {
        Path file = GoldenVectorsTest.ROOT.resolve(vector.getKey());
        Files.createDirectories(file.getParent());
        Files.writeString(file, text(vector.getValue()));
      }
    }
    int found = 0;
    for (String kind : GoldenVectorsTest.KINDS) {
      for (Path file : GoldenVectorsTest.files(kind)) {
        String name = kind + "/" + file.getFileName();
        assertThat(generated).containsKey(name);
        assertThat(Files.readString(file)).as(name).isEqualTo(text(generated.get(name)));
        found++;
      }
    }
    assertThat(found).isEqualTo(generated.size()).isGreaterThan(50);
  }

  private static String text(Vector vector) {
    return new String(Jcs.write(vector.toJson()), StandardCharsets.UTF_8) + "\n";
  }
}
