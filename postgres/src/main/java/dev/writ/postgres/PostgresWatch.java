package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseWatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Reads who owns a cell, over a connection that it keeps. */
final class PostgresWatch implements LeaseWatch {
  private static final Duration SILENCE = Duration.ofSeconds(2);

  private final PostgresSettings settings;
  private final PostgresConnections connections;
  private Optional<Connection> connection = Optional.empty();

  PostgresWatch(PostgresSettings settings) {
    this.settings = settings;
    this.connections = new PostgresConnections(settings);
  }

  @Override
  public synchronized Ownership ask() {
    try {
      if (connection.isEmpty()) {
        Connection opened = connections.open(SILENCE);
        connection = Optional.of(opened);
        DatabaseSchema.migrate(settings, connections, opened, false);
      }
      return ask(connection.get());
    } catch (SQLException e) {
      close();
      throw SqlFailures.of("asking who owns " + settings, e);
    }
  }

  private Ownership ask(Connection open) throws SQLException {
    try (PreparedStatement select =
        open.prepareStatement(
            "SELECT c.epoch, c.owner, coalesce(l.address, ''), greatest(0, coalesce(extract(epoch"
                + " FROM l.until - clock_timestamp()) * 1000, 0))::bigint FROM cell c LEFT JOIN"
                + " lease l ON l.cell = c.cell AND l.epoch = c.epoch WHERE c.cell = ?")) {
      select.setInt(1, settings.cell());
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new WritException(LedgerError.MISSING, "no cell " + settings.cell());
        }
        long left = row.getLong(4);
        return new Ownership(
            settings.cell(),
            row.getLong(1),
            row.getString(2),
            row.getString(3),
            left > 0,
            Duration.ofMillis(left));
      }
    }
  }

  @Override
  public synchronized void close() {
    connection.ifPresent(open -> {
      try {
        open.close();
      } catch (SQLException e) {
        // It only read.
      }
    });
    connection = Optional.empty();
  }
}
