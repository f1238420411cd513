package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a user does with PostgreSQL below: everything as with RocksDB, and there and back. */
class AnInstallationKeepsItsLedgerInPostgresTest {
  private static final PostgresServer SERVER = PostgresServer.shared();

  @TempDir Path folder;
  private Path home;
  private int bundles;

  @BeforeEach
  void place() {
    home = folder.resolve("home");
  }

  private Run writ(String... args) {
    return new OneHome(home).writ(args);
  }

  private Run done(String... args) {
    return new OneHome(home).done(args);
  }

  private void works(String source, String result) {
    assertThat(done("run", "js", "--param", "source=" + source).out()).contains(result);
  }

  private void isVerified() {
    done("fsck", "--second-opinion");
    done("audit");
    String bundle = folder.resolve("run" + bundles++ + ".writ").toString();
    done("checkpoint");
    done("export", "main", "-o", bundle);
    done("verify", bundle, "--trust", home.resolve("trust.jwks").toString());
    assertThat(done("replay", bundle, "--trust", home.resolve("trust.jwks").toString()).out())
        .contains("COMPLETE");
  }

  @Test
  void fromItsFirstDay() throws IOException {
    URI address = SERVER.newAddress();
    done("init", "--database", address.toString());
    assertThat(home.resolve("ledger/db")).doesNotExist();
    assertThat(Files.readString(home.resolve("ledger/database"))).isEqualTo(address + "\n");
    works("6*7", "42");
    works("6*8", "48");
    isVerified();
    assertThat(
            SERVER.query(
                "SELECT tool, verdict, status FROM writ.effects JOIN writ.cells USING (cell)"
                    + " WHERE cell = "
                    + address.getQuery().replace("cell=", "")))
        .hasSize(2)
        .containsOnly("js|ALLOW|succeeded");
    Run second =
        Run.of(
            "--home", folder.resolve("other").toString(), "init", "--database", address.toString());
    assertThat(second.status()).isNotZero();
    assertThat(second.err()).contains("LED-001");
    assertThat(folder.resolve("other")).doesNotExist();
    works("6*9", "54");
    done("migrate", "rocksdb");
    works("7*9", "63");
    isVerified();
  }

  @Test
  void itMovesThereAndBack() {
    done("init");
    works("6*7", "42");
    assertThat(done("migrate", SERVER.newAddress().toString()).out())
        .startsWith("moved ")
        .contains("stays in them");
    works("6*8", "48");
    isVerified();
    done("migrate", "rocksdb");
    works("6*9", "54");
    isVerified();
    done("migrate", SERVER.newAddress().toString());
    assertThat(done("receipts").out().lines().filter(line -> line.contains("js"))).hasSize(3);
  }

  @Test
  void whatCannotBeMeantIsRefusedAndNoPasswordIsShown() {
    Run secret = writ("init", "--database", "postgresql://writ:hunter2@127.0.0.1/writ");
    assertThat(secret.status()).isNotZero();
    assertThat(secret.err()).contains("PGS-001").doesNotContain("hunter2");
    Run nobody = writ("init", "--database", "postgresql://writ@127.0.0.1:1/writ?patience_s=1");
    assertThat(nobody.status()).isNotZero();
    assertThat(nobody.err()).contains("PGS-0");
    Run unknown = writ("init", "--database", "oracle://db");
    assertThat(unknown.err()).contains("LED-075");
    assertThat(home).doesNotExist();
    assertThat(folder.resolve("home.partial")).doesNotExist();
    done("init");
    assertThat(writ("migrate", "oracle://db").err()).contains("LED-075");
    assertThat(writ("migrate", "rocksdb").err()).contains("LED-001");
    works("6*7", "42");
  }
}
