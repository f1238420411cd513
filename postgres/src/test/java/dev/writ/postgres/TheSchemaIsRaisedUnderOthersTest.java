package dev.writ.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.Refused;
import dev.writ.ledger.storage.LeaseWatch;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A release brings the schema up to date while others have it open: gateways, or a dump. */
class TheSchemaIsRaisedUnderOthersTest {
  private static final String NEWER =
      "INSERT INTO writ.schema_history SELECT 99, '99', 'later', type, script, checksum,"
          + " installed_by, now(), 1, true FROM writ.schema_history WHERE version = '1'";

  @Test
  void whoDoesNotLeaveATableIsNamedAndKeepsNobodyElseFromIt() throws SQLException {
    try (PostgresServer server = new PostgresServer()) {
      PostgresSettings there = server.settings().withCell(1).withPatience(Duration.ofMillis(300));
      EarlierSchema.make(server, there, 6);
      PostgresDatabase database = new PostgresDatabase(there, "a test");
      try (Connection dump = new PostgresConnections(there).open(Duration.ZERO);
          Statement statement = dump.createStatement()) {
        dump.setAutoCommit(false);
        statement.execute("SELECT count(*) FROM blob");
        assertThat(Refused.code(database::open)).isEqualTo("PGS-020");
        assertThatThrownBy(database::open).hasMessageContaining("session ");
        assertThat(server.query("SELECT count(*) FROM writ.blob")).containsExactly("0");
      }
      database.open().close();
      assertThat(server.query("SELECT max(version::integer) FROM writ.schema_history"))
          .containsExactly(String.valueOf(DatabaseSchema.VERSION));
    }
  }

  @Test
  void whoRunsSeesWhoOwnsTheCellsUnderALaterSchemaAndWhoStartsIsRefused() {
    try (PostgresServer server = new PostgresServer()) {
      PostgresDatabase database =
          new PostgresDatabase(server.settings().withCell(1), "an earlier release");
      database.create().close();
      try (LeaseWatch watch = database.watch();
          LeaseWatch started = database.watch()) {
        watch.ask();
        server.execute("writ", NEWER);
        server.execute(
            "writ",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ="
                + " 'writ' AND pid <> pg_backend_pid()");
        Refused.code(watch::ask); // its connection was lost
        assertThat(watch.ask().cell()).isEqualTo(1);
        assertThat(Refused.code(started::ask)).isEqualTo("PGS-009");
        assertThat(Refused.code(started::ask)).isEqualTo("PGS-009");
        assertThat(Refused.code(database::open)).isEqualTo("PGS-009");
      }
    }
  }
}
