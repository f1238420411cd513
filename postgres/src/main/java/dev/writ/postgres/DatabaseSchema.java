package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.postgres.error.PostgresError;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/** Our tables and views, which Flyway makes and brings up to date. */
final class DatabaseSchema {
  /** The number of the last script. */
  static final int VERSION = 7;

  private static final String HISTORY = "schema_history";

  /** For as long everybody else is kept waiting; and free of what is set for the user. */
  private static final String SHORTLY =
      "SET lock_timeout = 1000; SET statement_timeout = 0; SET default_transaction_read_only = off";

  private static final String USERS =
      """
      SELECT DISTINCT coalesce('session ' || l.pid, 'a prepared transaction')
        FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
        LEFT JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.granted AND c.relnamespace = current_schema()::regnamespace
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.pid IS DISTINCT FROM pg_backend_pid()
        AND coalesce(a.xact_start < clock_timestamp() - interval '1 second', true)
      """;

  private DatabaseSchema() {}

  /**
   * Makes the schema or brings it up to date. Servers that do so at the same time wait for one
   * another. Who waits for a table keeps everybody else from it, so it waits for others, such as a
   * dump, only shortly, and tries again.
   *
   * @param connection shows whether there is anything to do
   * @param mayMake whether it is made where there is none; else that is {@code LED-002}
   * @throws WritException {@code PGS-009}, {@code PGS-010}, {@code PGS-020} where others do not
   *     leave a table, or what the database refuses
   */
  static void migrate(
      PostgresSettings settings,
      PostgresConnections connections,
      Connection connection,
      boolean mayMake)
      throws SQLException {
    int version = version(connection);
    if (version == VERSION) {
      return;
    }
    if (version == 0 && !mayMake) {
      throw new WritException(LedgerError.MISSING, "no schema " + settings.schema());
    }
    Deadline deadline = Deadline.in(settings.patience());
    while (!isMade(settings, connections)) {
      if (deadline.isOver()) {
        throw new WritException(PostgresError.SCHEMA_IN_USE, String.join(", ", users(connection)));
      }
      deadline.pause();
    }
    int made = version(connection);
    if (made != VERSION) {
      throw new WritException(PostgresError.SCHEMA_CHANGED, "version " + made + " was made of it");
    }
  }

  /**
   * For a reader, which changes nothing.
   *
   * @throws WritException {@code LED-002} where there is none, {@code PGS-017} where a writer has
   *     to bring it up to date first, {@code PGS-009}
   */
  static void require(PostgresSettings settings, Connection connection) throws SQLException {
    int version = version(connection);
    if (version == 0) {
      throw new WritException(LedgerError.MISSING, "no schema " + settings.schema());
    }
    if (version != VERSION) {
      throw new WritException(
          PostgresError.SCHEMA_OLDER,
          "schema " + settings.schema() + " has version " + version + ", not " + VERSION);
    }
  }

  /** False where somebody else has a table open. */
  private static boolean isMade(PostgresSettings settings, PostgresConnections connections) {
    try {
      Flyway.configure(DatabaseSchema.class.getClassLoader())
          .dataSource(connections.source(Duration.ZERO))
          .initSql(SHORTLY)
          .schemas(settings.schema())
          .table(HISTORY)
          .resourceProvider(new SchemaScripts())
          .load()
          .migrate();
      return true;
    } catch (FlywayException e) {
      Optional<SQLException> why = refusal(e);
      if (why.filter(SqlFailures::isLockNotAvailable).isPresent()) {
        return false;
      }
      throw why.map(sql -> SqlFailures.of("making the schema", sql))
          .orElseGet(() ->
              new WritException(PostgresError.SCHEMA_CHANGED, e.getClass().getSimpleName(), e));
    }
  }

  /** Who has had a table of the schema open for some time, each by a name. */
  private static List<String> users(Connection connection) throws SQLException {
    List<String> users = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(USERS)) {
      while (rows.next()) {
        users.add(rows.getString(1));
      }
    }
    return users;
  }

  /** Zero where there is none. */
  private static int version(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery("SELECT to_regclass('" + HISTORY + "')")) {
        row.next();
        if (row.getString(1) == null) {
          return 0;
        }
      }
      try (ResultSet row =
          statement.executeQuery(
              "SELECT coalesce(max(version::integer), 0) FROM " + HISTORY + " WHERE success")) {
        row.next();
        if (row.getInt(1) > VERSION) {
          throw new WritException(PostgresError.SCHEMA_NEWER, "it has version " + row.getInt(1));
        }
        return row.getInt(1);
      }
    }
  }

  private static Optional<SQLException> refusal(FlywayException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return Optional.of(sql);
      }
    }
    return Optional.empty();
  }
}
