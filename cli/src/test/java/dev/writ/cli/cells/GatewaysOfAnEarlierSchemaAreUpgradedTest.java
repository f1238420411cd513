package dev.writ.cli.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gateways of two releases over one database, whose schema the later one has raised. */
class GatewaysOfAnEarlierSchemaAreUpgradedTest {
  private static final PostgresServer SERVER = PostgresServer.shared();
  private static final int CELLS = 4;

  @TempDir Path dir;
  private CountingServer outside;
  private Gateways gateways;

  @BeforeEach
  void make() throws IOException {
    outside = new CountingServer(dir.resolve("ca.pem"));
    int port = SERVER.newAddress().getPort();
    gateways = new Gateways(SERVER, dir, outside, CELLS, new Gateways.Ports(port, port));
  }

  @AfterEach
  void close() throws Exception {
    gateways.close();
    outside.close();
  }

  private String history() {
    return gateways.schema() + ".schema_history";
  }

  private String version() {
    return SERVER.query("SELECT max(version::integer) FROM " + history()).getFirst();
  }

  @Test
  void aStartBringsTheSchemaUpToDateBeforeItReads() throws IOException {
    String version = version();
    // The last script may be run once more.
    SERVER.query("DELETE FROM " + history() + " WHERE version = '" + version + "' RETURNING 1");
    gateways.start(0);
    gateways.awaitShares(0);
    assertThat(version()).isEqualTo(version);
  }

  @Test
  void anEarlierGatewayServesWhatItOwnsAndTakesNothingMore() throws IOException {
    gateways.start(0);
    gateways.start(1);
    gateways.awaitShares(0, 1);
    SERVER.query(
        "INSERT INTO "
            + history()
            + " SELECT 99, '99', 'later', type, script, checksum, installed_by, now(), 1, true FROM"
            + " "
            + history()
            + " WHERE version = '1' RETURNING 1");
    gateways.stop(1);
    gateways.await("it is refused", () -> gateways.said(0).contains("PGS-009"));
    assertThat(gateways.owners().stream().filter(owner -> owner == 0)).hasSize(CELLS / 2);
    gateways.await("it goes on", () -> gateways.get(0, "/health") == 200);
    assertThat(gateways.writ(1, "serve").err()).contains("PGS-009");
  }
}
