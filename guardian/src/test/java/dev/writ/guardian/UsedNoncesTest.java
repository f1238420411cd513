package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class UsedNoncesTest {
  private static final long LIFE_MS = 1_000;

  private static Digest request(int number) {
    return Digest.sha256(("request " + number).getBytes(StandardCharsets.UTF_8));
  }

  private static UsedNonces.Key nonce(int number) {
    return UsedNonces.Key.of("nonce " + number);
  }

  /** Any history of uses, second uses, removals and expiries, beside an ordered map. */
  @Test
  void it_answers_as_an_ordered_map_does() {
    long seed = Long.getLong("writ.seed", 20261124L);
    System.out.println("writ.seed=" + seed);
    for (int round = 0; round < 6; round++) {
      Random random = new Random(seed + round);
      UsedNonces nonces = new UsedNonces();
      TreeMap<Integer, UsedNonces.Use> model = new TreeMap<>();
      int numbers = 20 + random.nextInt(3_000);
      long nowMs = 0;
      for (int i = 0; i < 4_000; i++) {
        nowMs += random.nextInt(3);
        String when = "seed " + (seed + round) + ", step " + i;
        int number = random.nextInt(numbers);
        switch (random.nextInt(6)) {
          case 0 -> {
            int whose = random.nextBoolean() ? number : random.nextInt(numbers);
            nonces.remove(nonce(number), request(whose));
            if (model.containsKey(number) && model.get(number).request().equals(request(whose))) {
              model.remove(number);
            }
          }
          case 1 -> {
            long untilMs = nowMs - LIFE_MS;
            nonces.expire(atMs -> atMs <= untilMs);
            model.values().removeIf(use -> use.atMs() <= untilMs);
          }
          default -> {
            long step = random.nextInt(10) == 0 ? random.nextInt(i + 1) : i;
            UsedNonces.Use use = new UsedNonces.Use(request(number), nowMs, step);
            nonces.add(nonce(number), use);
            model.merge(number, use, (a, b) -> a.step() > b.step() ? a : b);
          }
        }
        int asked = random.nextInt(numbers);
        assertThat(nonces.find(nonce(asked)))
            .as(when)
            .isEqualTo(Optional.ofNullable(model.get(asked)));
        assertThat(nonces.size()).as(when).isEqualTo(model.size());
      }
    }
  }

  @Test
  void a_million_requests_take_at_most_100_bytes_each_and_give_them_back() {
    UsedNonces nonces = new UsedNonces();
    Random random = new Random(7);
    Digest request = request(1);
    UsedNonces.Key early = nonce(1);
    UsedNonces.Key late = nonce(2);
    for (int i = 0; i < 1_000_000; i++) {
      UsedNonces.Key key = new UsedNonces.Key(random.nextLong(), random.nextLong());
      key = i == 998_999 ? early : i == 999_500 ? late : key;
      nonces.add(key, new UsedNonces.Use(request, i, i));
      if (i % 100_000 == 99_999) {
        assertThat(nonces.bytes() / (i + 1)).isLessThanOrEqualTo(80);
      }
    }
    nonces.expire(atMs -> atMs < 999_000);
    assertThat(nonces.size()).isEqualTo(1_000);
    assertThat(nonces.bytes()).isLessThan(200_000);
    assertThat(nonces.find(late)).isPresent();
    assertThat(nonces.find(early)).isEmpty();
  }
}
