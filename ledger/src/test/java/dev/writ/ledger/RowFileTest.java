package dev.writ.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.form.RowFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows in a temporary file are those of a map, whatever was put again or removed meanwhile. */
class RowFileTest {
  private static final int STEPS = 6_000;

  private static byte[] value(Random random) {
    // Some are longer than a buffer, some than what a lookup reads at first, some empty.
    int length =
        switch (random.nextInt(8)) {
          case 0 -> 0;
          case 1 -> 500 + random.nextInt(2_000);
          default -> random.nextInt(200);
        };
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 64, 1024, 1 << 20})
  void rowsAreThoseOfAMap(int bufferBytes) {
    Random random = new Random(bufferBytes);
    TreeMap<String, byte[]> expected = new TreeMap<>();
    List<String> keys = new ArrayList<>();
    try (RowFile rows = new RowFile(bufferBytes)) {
      for (int i = 0; i < STEPS; i++) {
        boolean again = !keys.isEmpty() && random.nextInt(4) == 0;
        String key = again ? keys.get(random.nextInt(keys.size())) : "request\0" + i;
        if (random.nextInt(10) == 0) {
          rows.remove(key.getBytes(StandardCharsets.UTF_8));
          expected.remove(key);
        } else {
          byte[] value = value(random);
          rows.put(key.getBytes(StandardCharsets.UTF_8), value);
          expected.put(key, value);
        }
        keys.add(key);
        String asked = keys.get(random.nextInt(keys.size()));
        assertRow(rows, asked, expected);
      }
      keys.forEach(key -> assertRow(rows, key, expected));
      assertThat(rows.get("never".getBytes(StandardCharsets.UTF_8))).isEmpty();
    }
  }

  private static void assertRow(RowFile rows, String key, TreeMap<String, byte[]> expected) {
    Optional<byte[]> found = rows.get(key.getBytes(StandardCharsets.UTF_8));
    if (expected.containsKey(key)) {
      assertThat(found).as(key).hasValueSatisfying(v -> assertThat(v).isEqualTo(expected.get(key)));
    } else {
      assertThat(found).as(key).isEmpty();
    }
  }
}
