package dev.writ.cli.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.campaign.ErasureHome.Keeping;
import dev.writ.postgres.PostgresServer;
import dev.writ.s3.S3Server;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers and commands that erase contents are killed at any call that concerns their files. What
 * was acknowledged is carried out by the next process: then no key and no content of it is in any
 * file, row or object, and all else is as it was.
 *
 * <p>{@code -Dwrit.campaign.rounds=N} makes it longer, {@code -Dwrit.seed=N} another one.
 */
class AKilledErasureIsCarriedOutTest {
  private static final int ROUNDS = Integer.getInteger("writ.campaign.rounds", 3);
  private static final long SEED = Long.getLong("writ.seed", 1);

  private static final List<Keeping> KEEPINGS =
      List.of(Keeping.BY_SUBJECT, Keeping.BY_RUN, Keeping.CLEAR);

  @TempDir Path dir;

  private ErasureLife life(List<String> where, Map<String, String> more, ErasureLife.Stores stores)
      throws IOException, InterruptedException {
    Path data = Files.createDirectory(dir.resolve("data"));
    Path sandboxes = Files.createDirectory(data.resolve("sandboxes"));
    Map<String, String> environment = new TreeMap<>(more);
    environment.put("WRIT_SANDBOX_DIR", sandboxes.toString());
    ErasureHome home = new ErasureHome(data.resolve("home"), data, where, environment);
    return new ErasureLife(home, data, Faults.compile(dir, data), SEED, stores);
  }

  private static void live(ErasureLife life, int rounds) throws Exception {
    for (int round = 0; round < rounds && life.findings().isEmpty(); round++) {
      if (round % 3 == 2) {
        life.commands();
      } else {
        life.server(KEEPINGS.get((round - round / 3) % KEEPINGS.size()));
      }
    }
    life.requireBundles();
    System.out.println("AKilledErasureIsCarriedOutTest: -Dwrit.seed=" + SEED + "  " + life.tally());
    assertThat(life.findings()).isEmpty();
  }

  @Test
  void in_a_home() throws Exception {
    live(life(List.of(), Map.of(), _ -> {}), ROUNDS);
  }

  @Test
  void with_rows_in_postgresql_and_large_contents_in_a_bucket() throws Exception {
    PostgresServer rows = PostgresServer.shared();
    S3Server objects = S3Server.shared();
    URI bucket = objects.newAddress();
    live(
        life(
            List.of("--database", rows.newAddress().toString(), "--contents", bucket.toString()),
            Map.of("AWS_ACCESS_KEY_ID", S3Server.KEY_ID, "AWS_SECRET_ACCESS_KEY", S3Server.SECRET),
            search -> {
              search.below(rows.tables());
              for (String name : objects.names(bucket)) {
                search.in(bucket + " " + name, objects.get(bucket, name));
              }
            }),
        ROUNDS / 2);
  }
}
