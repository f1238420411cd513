package dev.writ.postgres;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.Refused;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What was deleted is in no file of a table; that the write-ahead log may have it is stated. */
class DeletedContentIsGoneFromTheTablesTest {
  private final PostgresServer server = PostgresServer.shared();
  private final PostgresDatabase database = server.newDatabase();

  /** Text that does not compress to something else. */
  private static byte[] content(int length) {
    byte[] random = new byte[length];
    new Random(length).nextBytes(random);
    return Base64.getEncoder().encode(random);
  }

  private boolean isInAFile(byte[] content) throws IOException {
    server.execute("postgres", "CHECKPOINT");
    String needle = new String(content, 0, 60, ISO_8859_1);
    try (Stream<Path> files = Files.walk(server.data().resolve("base"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (Files.exists(file)
            && new String(Files.readAllBytes(file), ISO_8859_1).contains(needle)) {
          return true;
        }
      }
    }
    return false;
  }

  private static void write(Storage storage, byte[] key, byte[] content) {
    try (Write write = storage.newWrite()) {
      if (content == null) {
        write.delete(Family.BLOBS, key);
      } else {
        write.put(Family.BLOBS, key, content);
      }
      storage.write(write, 0, 0);
    }
  }

  @Test
  void deletedContentsAreInNoFileAfterwards() throws IOException {
    byte[] small = content(600);
    byte[] large = content(40_000); // beyond its row, in pieces
    byte[] kept = content(900);
    try (Storage storage = database.create()) {
      write(storage, new byte[] {1}, small);
      write(storage, new byte[] {2}, large);
      write(storage, new byte[] {3}, kept);
      assertThat(isInAFile(small)).isTrue();
      assertThat(isInAFile(large)).isTrue();
      write(storage, new byte[] {1}, null);
      write(storage, new byte[] {2}, null);
      // Perhaps it is still there: the server removes what is deleted when it likes.
      storage.forgetDeleted();
      assertThat(isInAFile(small)).isFalse();
      assertThat(isInAFile(large)).isFalse();
      assertThat(isInAFile(kept)).isTrue();
      assertThat(storage.get(Family.BLOBS, new byte[] {3})).contains(kept);
    }
  }

  /** What the planner has of the content of rows: most of all of one that many effects give. */
  private static boolean isSampled(PostgresServer server, byte[] content) {
    server.execute("writ", "ANALYZE writ.blob");
    return server.query("SELECT most_common_vals FROM pg_stats WHERE tablename = 'blob'").stream()
        .anyMatch(values -> values.contains(HexFormat.of().formatHex(content)));
  }

  @Test
  void noneIsSampledForThePlansOfQueries() throws IOException {
    byte[] content = content(500);
    try (Storage storage = database.create()) {
      for (byte i = 1; i < 100; i++) {
        write(storage, new byte[] {i}, content);
      }
      assertThat(isSampled(server, content)).isFalse();
      for (byte i = 1; i < 100; i++) {
        write(storage, new byte[] {i}, null);
      }
      storage.forgetDeleted();
      assertThat(isInAFile(content)).isFalse();
    }
  }

  @Test
  void anUpgradeDropsTheSamplesOfAReleaseBefore() {
    byte[] content = content(400);
    try (PostgresServer old = new PostgresServer()) {
      PostgresSettings there = old.settings().withCell(1);
      EarlierSchema.make(old, there, 6);
      old.execute(
          "writ",
          "INSERT INTO writ.blob SELECT 1, int4send(n), decode('%s', 'hex') FROM generate_series(1, 99) n"
              .formatted(HexFormat.of().formatHex(content)));
      assertThat(isSampled(old, content)).isTrue();
      assertThat(Refused.code(() -> new PostgresDatabase(there, "a test").openReader()))
          .isEqualTo("PGS-017");
      List<String> file = old.query("SELECT pg_relation_filenode('writ.blob')");
      try (Storage storage = new PostgresDatabase(there, "a test").open()) {
        assertThat(storage.get(Family.BLOBS, new byte[] {0, 0, 0, 1})).contains(content);
        assertThat(isSampled(old, content)).isFalse();
      }
      assertThat(old.query("SELECT pg_relation_filenode('writ.blob')")).isEqualTo(file);
    }
  }

  @Test
  void whoeverMayStillSeeThemIsNamedAndItIsTriedAgain() throws IOException, SQLException {
    byte[] content = content(700);
    PostgresDatabase impatient =
        new PostgresDatabase(
            server.settings().withCell(server.newCell()).withPatience(Duration.ofMillis(300)),
            "impatient");
    try (Storage storage = impatient.create()) {
      write(storage, new byte[] {1}, content);
      try (Connection other = new PostgresConnections(server.settings()).open(Duration.ZERO);
          Statement statement = other.createStatement()) {
        statement.execute("BEGIN ISOLATION LEVEL REPEATABLE READ");
        statement.execute("SELECT count(*) FROM blob");
        write(storage, new byte[] {1}, null);
        assertThatThrownBy(storage::forgetDeleted)
            .hasMessageStartingWith("PGS-014")
            .hasMessageContaining("session ");
      }
      storage.forgetDeleted();
      assertThat(isInAFile(content)).isFalse();
    }
  }

  /** It would wait for it for ever, and everybody else, in all cells, behind it. */
  @Test
  void whoDoesNotLeaveTheTableIsNamedAndKeepsNobodyElseWaiting() throws Exception {
    byte[] content = content(750);
    Duration patience = Duration.ofSeconds(5);
    PostgresSettings settings = server.settings().withPatience(patience);
    PostgresDatabase deleting =
        new PostgresDatabase(
            settings.withCell(server.newCell()).withPatience(Duration.ofMillis(300)), "deleting");
    PostgresDatabase elsewhere =
        new PostgresDatabase(settings.withCell(server.newCell()), "another cell");
    try (Storage storage = deleting.create();
        Storage other = elsewhere.create()) {
      write(storage, new byte[] {1}, content);
      write(storage, new byte[] {1}, null);
      try (Connection idle = new PostgresConnections(server.settings()).open(Duration.ZERO);
          Statement statement = idle.createStatement()) {
        statement.execute("BEGIN");
        // As after a SELECT in psql, which keeps this lock, and no snapshot.
        statement.execute("LOCK TABLE blob IN ACCESS SHARE MODE");
        CompletableFuture<Void> removal = CompletableFuture.runAsync(storage::forgetDeleted);
        for (byte i = 0; !removal.isDone(); i++) {
          write(other, new byte[] {i}, content);
        }
        assertThatThrownBy(removal::join)
            .hasMessageContaining("PGS-014")
            .hasMessageContaining("session ");
        write(storage, new byte[] {2}, content(400));
      }
      storage.forgetDeleted();
      assertThat(storage.get(Family.BLOBS, new byte[] {1})).isEmpty();
      assertThat(other.get(Family.BLOBS, new byte[] {0})).contains(content);
    }
  }
}
