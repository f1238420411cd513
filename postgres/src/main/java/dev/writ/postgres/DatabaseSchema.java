package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.postgres.error.PostgresError;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/** Our tables and views, which Flyway makes and brings up to date. */
final class DatabaseSchema {
  /** The number of the last script. */
  static final int VERSION = 7;

  private static final String HISTORY = "schema_history";

  private DatabaseSchema() {}

  /**
   * Makes the schema or brings it up to date. Servers that do so at the same time wait for one
   * another.
   *
   * @param connection shows whether there is anything to do
   * @param mayMake whether it is made where there is none; else that is {@code LED-002}
   * @throws WritException {@code PGS-009}, {@code PGS-010}, or what the database refuses
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
    try {
      Flyway.configure(DatabaseSchema.class.getClassLoader())
          .dataSource(connections.source(Duration.ZERO))
          .schemas(settings.schema())
          .table(HISTORY)
          .resourceProvider(new SchemaScripts())
          .load()
          .migrate();
    } catch (FlywayException e) {
      throw failure(e);
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

  private static WritException failure(FlywayException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return SqlFailures.of("making the schema", sql);
      }
    }
    return new WritException(PostgresError.SCHEMA_CHANGED, e.getClass().getSimpleName(), e);
  }
}
