package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.postgres.error.PostgresError;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** Work on whole tables, over a connection that may take its time. */
final class Maintenance implements AutoCloseable {
  /** What may still see a row that was deleted before now, each by a name. */
  private static final String OLDER =
      """
      SELECT 'session ' || pid FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND (datid IS NULL OR datid = 0
          OR datid = (SELECT oid FROM pg_database WHERE datname = current_database()))
        AND greatest(age(backend_xmin), age(backend_xid)) > age('NOW'::xid)
      UNION ALL SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts
        WHERE database = current_database() AND age(transaction) > age('NOW'::xid)
      UNION ALL SELECT 'replication slot ' || slot_name FROM pg_replication_slots
        WHERE age(xmin) > age('NOW'::xid)
      """;

  private static final String USERS =
      """
      SELECT coalesce('session ' || pid, 'a prepared transaction') FROM pg_locks
        WHERE granted AND relation = 'TABLE'::regclass
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND pid IS DISTINCT FROM pg_backend_pid()
      """;

  /** How long everybody else is kept waiting for somebody who does not leave a table. */
  private static final Duration FREE_WITHIN = Duration.ofSeconds(1);

  private final PostgresSettings settings;
  private final Connection connection;

  Maintenance(PostgresSettings settings, PostgresConnections connections) {
    this.settings = settings;
    try {
      connection = connections.open(Duration.ZERO);
      execute("SET statement_timeout = 0");
    } catch (SQLException e) {
      throw SqlFailures.of("connecting", e);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private List<String> texts(String sql) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    }
    return texts;
  }

  /**
   * Returns once no transaction is under way that began before now: a rewritten table keeps what
   * one of them may still read.
   *
   * @throws WritException {@code PGS-014} where that takes too long
   */
  void awaitNobodySeesDeleted() {
    Deadline deadline = Deadline.in(settings.patience());
    try {
      String now = texts("SELECT pg_current_xact_id()::xid").getFirst();
      for (List<String> older = texts(OLDER.replace("NOW", now));
          !older.isEmpty();
          older = texts(OLDER.replace("NOW", now))) {
        if (deadline.isOver()) {
          throw new WritException(PostgresError.STILL_SEEN, String.join(", ", older));
        }
        deadline.pause();
      }
    } catch (SQLException e) {
      throw SqlFailures.of("waiting for other transactions", e);
    }
  }

  /**
   * Writes a table into new files, so that what was deleted is in none. Who waits for the table
   * keeps everybody else from it, in all cells, so it waits for others only shortly, and tries
   * again.
   *
   * @param alone runs an attempt while this process does not use the table
   * @throws WritException {@code PGS-014} where others do not leave the table
   */
  void rewrite(FamilyTable table, Consumer<Runnable> alone) {
    Deadline deadline = Deadline.in(settings.patience());
    AtomicBoolean isRewritten = new AtomicBoolean();
    while (true) {
      alone.accept(() -> isRewritten.set(rewriteIfFree(table)));
      if (isRewritten.get()) {
        return;
      }
      if (deadline.isOver()) {
        throw new WritException(PostgresError.STILL_SEEN, String.join(", ", users(table)));
      }
      deadline.pause();
    }
  }

  private boolean rewriteIfFree(FamilyTable table) {
    try {
      execute("SET lock_timeout = " + FREE_WITHIN.toMillis());
      execute("VACUUM (FULL) " + table.table());
      return true;
    } catch (SQLException e) {
      if (SqlFailures.isLockNotAvailable(e)) {
        return false;
      }
      throw SqlFailures.of("rewriting " + table.table(), e);
    }
  }

  /** Who has the table open, each by a name. */
  private List<String> users(FamilyTable table) {
    try {
      return texts(USERS.replace("TABLE", table.table()));
    } catch (SQLException e) {
      throw SqlFailures.of("looking who uses " + table.table(), e);
    }
  }

  /**
   * Reads all there is, and has amcheck compare tables with their indexes where it is installed.
   *
   * @throws WritException {@code LED-006}
   */
  void verify() {
    try {
      execute("SET enable_indexscan = off; SET enable_indexonlyscan = off");
      for (FamilyTable table : FamilyTable.values()) {
        String read =
            String.join(
                ", ",
                table.columns().stream()
                    .filter(column -> column.type().equals("bytea"))
                    .map(column -> "count(sha256(" + column.name() + "))")
                    .toList());
        texts("SELECT " + read + " FROM " + table.table());
      }
      String check = "bt_index_check(i.indexrelid, true)";
      for (String schema :
          texts(
              "SELECT quote_ident(n.nspname) FROM pg_extension e"
                  + " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'amcheck'"
                  + " AND has_function_privilege(format('%I.bt_index_check(regclass, boolean)',"
                  + " n.nspname), 'execute')")) {
        texts(
            "SELECT "
                + schema
                + "."
                + check
                + "::text FROM pg_index i JOIN pg_class c"
                + " ON c.oid = i.indrelid WHERE c.relnamespace = current_schema()::regnamespace");
      }
    } catch (SQLException e) {
      throw SqlFailures.of("verifying", e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      // It was all read.
    }
  }
}
