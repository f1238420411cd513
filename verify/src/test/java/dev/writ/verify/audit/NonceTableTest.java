package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class NonceTableTest {
  private static final Instant START = Instant.parse("2026-11-27T00:00:00Z");

  private static Digest request(int number) {
    return Digest.sha256(("request " + number).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void itSaysWhatAMapSaysForAsLongAsAUseIsFresh() {
    long seed = Long.getLong("writ.seed", 7);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    NonceTable table = new NonceTable();
    TreeMap<String, NonceTable.Use> map = new TreeMap<>();
    Instant now = START;
    for (int i = 0; i < 60_000; i++) {
      now = now.plusMillis(random.nextInt(200));
      String nonce = "nonce-" + random.nextInt(20_000);
      Instant until = now.plusSeconds(300);
      table.put(nonce, request(i), now, until);
      map.put(nonce, new NonceTable.Use(request(i), until));
      if (i == 30_000) {
        table.shorten(at -> at + 100_000);
        map.replaceAll((_, use) -> new NonceTable.Use(use.owner(), use.until().minusSeconds(200)));
      }
      table.forget(now.minusSeconds(60));
      String asked = "nonce-" + random.nextInt(20_000);
      Instant time = now;
      assertThat(table.find(asked).filter(use -> !use.until().isBefore(time)))
          .as("step " + i)
          .isEqualTo(
              Optional.ofNullable(map.get(asked)).filter(use -> !use.until().isBefore(time)));
    }
    assertThat(map.size()).as("nonces in use").isGreaterThan(10_000);
  }
}
