package dev.writ.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.Await;
import dev.writ.fixture.Refused;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input and bad servers: refused at the start, with a code and without a secret. */
class ADatabaseThatCannotBeUsedIsRefusedTest {
  @TempDir Path dir;

  private final PostgresServer server = PostgresServer.shared();

  private Database at(String address) {
    return at(PostgresSettings.parse(address.replace("PORT", String.valueOf(server.port()))));
  }

  private Database at(PostgresSettings settings) {
    return new PostgresDatabase(settings.withCell(server.newCell()), "a test");
  }

  private Path passwordFile(String password, String permissions) throws IOException {
    Path file = dir.resolve("password");
    Files.writeString(file, password);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    return file;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "postgres://",
        "mysql://u@h/d",
        "postgres://h/d",
        "postgres://u@h",
        "postgres://u@h:0/d",
        "postgres://u@h:65536/d",
        "postgres://u@h:x/d",
        "postgres://u@h,/d",
        "postgres://u@h h/d",
        "postgres://u@h/d/e",
        "postgres://u@h/d?schema=Writ",
        "postgres://u@h/d?schema=a&schema=b",
        "postgres://u@h/d?connections=0",
        "postgres://u@h/d?cell=-1",
        "postgres://u@h/d?patience_s=many",
        "postgres://u@h/d?password=hidden",
        "postgres://u@h/d?socketFactory=a.b.C",
        "postgres://u@h/d?sslmode",
        "postgres://u@h/%zz",
        "postgres://u:hidden@h/d"
      })
  void anAddressOfAnotherFormIsRefusedWithoutRepeatingIt(String address) {
    assertThatThrownBy(() -> PostgresSettings.parse(address))
        .hasMessageStartingWith("PGS-001")
        .hasMessageNotContaining("hidden");
  }

  @Test
  void anAddressIsReadWithItsSettings() {
    PostgresSettings settings =
        PostgresSettings.parse(
            "postgresql://a%20b@one.example,[::1]:5433/d+e"
                + "?schema=writ_2&cell=7&sslrootcert=/ca.pem&passfile=/p&connections=3&patience_s=7");
    assertThat(settings.toString())
        .isEqualTo("cell 7 of postgresql://a b@one.example:5432,[::1]:5433/d+e");
    assertThat(settings.schema()).isEqualTo("writ_2");
    // Over a network nothing else is taken unless it is asked for.
    assertThat(settings.tls())
        .containsEntry("sslmode", "verify-full")
        .containsEntry("sslrootcert", "/ca.pem");
    assertThat(settings.passwordFile()).contains(Path.of("/p"));
    assertThat(settings.connections()).isEqualTo(3);
    assertThat(settings.patience()).isEqualTo(Duration.ofSeconds(7));
    PostgresSettings local = PostgresSettings.parse("postgres://u@localhost/d");
    assertThat(local.tls()).containsEntry("sslmode", "prefer");
    assertThat(local.schema()).isEqualTo("writ");
    assertThat(local.passwordFile()).isEmpty();
  }

  @Test
  void aServerThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> at("postgres://writ@127.0.0.1:1/writ").open())
        .hasMessageStartingWith("PGS-002")
        .hasMessageContaining("127.0.0.1:1");
  }

  @Test
  void aServerWithoutEncryptionIsRefusedWhereItIsAskedFor() {
    assertThat(
            Refused.code(() -> at("postgres://writ@127.0.0.1:PORT/writ?sslmode=require").create()))
        .isEqualTo("PGS-016");
  }

  @Test
  void aDatabaseThatIsNotThereIsRefused() {
    assertThat(Refused.code(() -> at("postgres://writ@127.0.0.1:PORT/nothing").create()))
        .isEqualTo("PGS-005");
  }

  @Test
  void aPasswordThatIsNotThereIsNotTakenForACertificate() {
    PostgresSettings settings =
        PostgresSettings.parse("postgres://guarded@127.0.0.1:" + server.port() + "/writ");
    assertThat(Refused.code(() -> at(settings).create())).isEqualTo("PGS-003");
  }

  @Test
  void aWrongPasswordIsRefusedAndInNoMessage() throws IOException {
    PostgresSettings settings =
        PostgresSettings.parse("postgres://guarded@127.0.0.1:" + server.port() + "/writ")
            .withPasswordFile(passwordFile("not the passw0rd", "rw-------"));
    assertThatThrownBy(() -> at(settings).create())
        .hasMessageStartingWith("PGS-003")
        .hasMessageNotContaining("passw0rd")
        .hasStackTraceContaining("guarded")
        .extracting(e -> String.valueOf(e.getCause()))
        .asString()
        .doesNotContain("passw0rd");
  }

  @Test
  void aPasswordsFileThatOthersReadIsRefused() throws IOException {
    PostgresSettings settings =
        PostgresSettings.parse("postgres://guarded@127.0.0.1:" + server.port() + "/writ")
            .withPasswordFile(passwordFile(PostgresServer.PASSWORD, "rw-r-----"));
    assertThat(Refused.code(() -> at(settings).create())).isEqualTo("PGS-004");
    passwordFile("two\nlines", "rw-------");
    assertThat(Refused.code(() -> at(settings).create())).isEqualTo("PGS-004");
    Files.delete(dir.resolve("password"));
    assertThat(Refused.code(() -> at(settings).create())).isEqualTo("PGS-004");
  }

  /** The right password, and a role that may not make a schema. */
  @Test
  void aUserWithoutRightsIsRefused() throws IOException {
    PostgresSettings settings =
        PostgresSettings.parse(
                "postgres://guarded@127.0.0.1:" + server.port() + "/writ?schema=forbidden")
            .withPasswordFile(passwordFile(PostgresServer.PASSWORD, "rw-------"));
    assertThat(Refused.code(() -> at(settings).create())).isEqualTo("PGS-006");
    server.newDatabase().create().close();
    PostgresSettings shared =
        PostgresSettings.parse("postgres://guarded@127.0.0.1:" + server.port() + "/writ")
            .withPasswordFile(dir.resolve("password"));
    assertThat(Refused.code(() -> at(shared).open())).isIn("PGS-006", "LED-002");
  }

  @Test
  void aLogThatIsNotThereIsRefused() {
    assertThat(Refused.code(() -> at("postgres://writ@127.0.0.1:PORT/writ?schema=none").open()))
        .isEqualTo("LED-002");
    assertThat(
            Refused.code(() -> at("postgres://writ@127.0.0.1:PORT/writ?schema=none").openReader()))
        .isEqualTo("LED-002");
    server.newDatabase().create().close();
    assertThat(Refused.code(server.newDatabase()::open)).isEqualTo("LED-002");
    assertThat(Refused.code(server.newDatabase()::openReader)).isEqualTo("LED-002");
  }

  @Test
  void aLogIsMadeOnce() {
    PostgresDatabase place = server.newDatabase();
    place.create().close();
    try (Storage storage = place.create(); // nothing was written to the first
        Write write = storage.newWrite()) {
      write.put(Family.TABLES, new byte[] {1}, new byte[] {1});
      storage.write(write, 0, 0);
      assertThat(Refused.code(place::create)).isEqualTo("LED-003");
    }
    assertThat(Refused.code(place::create)).isEqualTo("LED-001");
    place.open().close();
  }

  @Test
  void onlyWhatThisObjectMadeIsRemovedAgain() {
    PostgresSettings settings = server.settings().withCell(server.newCell());
    PostgresDatabase first = new PostgresDatabase(settings, "first");
    try (Storage storage = first.create();
        Write write = storage.newWrite()) {
      write.put(Family.TABLES, new byte[] {1}, new byte[] {1});
      storage.write(write, 0, 0);
    }
    new PostgresDatabase(settings, "second").undoCreation();
    first.openReader().close();
    first.undoCreation();
    assertThat(Refused.code(first::openReader)).isEqualTo("LED-002");
    try (Storage storage = first.create()) {
      assertThat(storage.has(Family.TABLES, new byte[] {1})).isFalse();
    }
    new PostgresDatabase(settings, "second").open().close();
    first.undoCreation(); // somebody has opened it since
    first.openReader().close();
  }

  @Test
  void aLaterFormatIsRefused() {
    int cell = server.newCell();
    PostgresDatabase place = new PostgresDatabase(server.settings().withCell(cell), "a test");
    place.create().close();
    server.execute("writ", "UPDATE writ.cell SET format = 2 WHERE cell = " + cell);
    assertThat(Refused.code(place::open)).isEqualTo("LED-007");
    assertThat(Refused.code(place::openReader)).isEqualTo("LED-007");
  }

  @Test
  void aSchemaOfALaterVersionIsRefused() {
    Database later = at("postgres://writ@127.0.0.1:PORT/writ?schema=later");
    later.create().close();
    server.execute(
        "writ",
        "INSERT INTO later.schema_history SELECT 99, '99', 'later', type, script, checksum,"
            + " installed_by, now(), 1, true FROM later.schema_history WHERE version = '1'");
    for (Refused.Attempt attempt :
        List.<Refused.Attempt>of(later::open, later::create, later::openReader)) {
      assertThat(Refused.code(attempt)).isEqualTo("PGS-009");
    }
  }

  @Test
  void aSchemaThatSomebodyElseMadeIsRefused() {
    server.execute("writ", "CREATE SCHEMA theirs AUTHORIZATION writ");
    server.execute("writ", "CREATE TABLE theirs.cell (a integer)");
    assertThat(Refused.code(() -> at("postgres://writ@127.0.0.1:PORT/writ?schema=theirs").create()))
        .isEqualTo("PGS-010");
  }

  @ParameterizedTest
  @CsvSource({"fsync,off", "full_page_writes,off", "synchronous_commit,local"})
  void aServerThatMayLoseCommitsIsRefused(String setting, String value) {
    server.newDatabase().create().close();
    server.execute("postgres", "ALTER SYSTEM SET " + setting + " = " + value);
    reload(setting, value);
    try {
      assertThatThrownBy(() -> server.newDatabase().create())
          .hasMessageStartingWith("PGS-008")
          .hasMessageContaining(setting + " is " + value + ", not on");
    } finally {
      server.execute("postgres", "ALTER SYSTEM RESET " + setting);
      reload(setting, "on");
    }
    server.newDatabase().create().close();
  }

  private void reload(String setting, String value) {
    server.execute("postgres", "SELECT pg_reload_conf()");
    Await.until(() -> server.query("SHOW " + setting).equals(List.of(value)));
  }

  @Test
  void aRoleWhoseCommitsAreNotDurableIsRefused() {
    server.execute("postgres", "CREATE ROLE hasty LOGIN IN ROLE writ");
    server.execute("postgres", "ALTER ROLE hasty SET synchronous_commit = off");
    assertThat(Refused.code(() -> at("postgres://hasty@127.0.0.1:PORT/writ").create()))
        .isEqualTo("PGS-008");
  }

  @Test
  void aDatabaseOfAnotherEncodingIsRefused() {
    server.execute(
        "postgres", "CREATE DATABASE latin OWNER writ ENCODING 'LATIN1' TEMPLATE template0");
    assertThatThrownBy(() -> at("postgres://writ@127.0.0.1:PORT/latin").create())
        .hasMessageStartingWith("PGS-008")
        .hasMessageContaining("server_encoding is LATIN1");
  }

  @Test
  void aKeyThatCannotBeIndexedIsRefusedBeforeAnythingIsSent() {
    try (Storage storage = server.newDatabase().create();
        Write write = storage.newWrite()) {
      write.put(Family.TABLES, new byte[2600], new byte[] {1});
      assertThat(Refused.code(() -> write.put(Family.TABLES, new byte[2601], new byte[] {1})))
          .isEqualTo("PGS-013");
      storage.write(write, 0, 0);
      assertThat(storage.has(Family.TABLES, new byte[2600])).isTrue();
    }
  }

  @Test
  void readersBeyondTheConnectionsAreToldSo() throws Exception {
    PostgresSettings one =
        PostgresSettings.parse("postgres://writ@127.0.0.1:" + server.port() + "/writ?connections=1")
            .withPatience(Duration.ofMillis(300));
    try (Storage storage = at(one).create();
        Write write = storage.newWrite();
        ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      write.put(Family.TABLES, new byte[] {1}, new byte[] {1});
      storage.write(write, 0, 0);
      storage.scan(
          Family.TABLES,
          new byte[0],
          new byte[0],
          (key, _) -> {
            // One that is not remembered.
            Future<Optional<byte[]>> get = other.submit(() -> storage.get(Family.EVENTS, key));
            assertThatThrownBy(get::get).hasMessageContaining("PGS-015");
            return true;
          });
      assertThat(storage.has(Family.TABLES, new byte[] {1})).isTrue();
    }
  }
}
