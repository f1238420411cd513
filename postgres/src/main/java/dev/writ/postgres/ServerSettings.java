package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.postgres.error.PostgresError;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;

/** What a server has to be set to, so that what it acknowledges stays. */
final class ServerSettings {
  private static final int VERSION_MIN = 140_000;
  private static final Set<String> DURABLE = Set.of("on", "remote_apply");

  /**
   * Commits are never cut off, and a client that is gone is noticed, so that the lock does not
   * outlive it for long.
   */
  private static final String WRITER =
      """
      SET statement_timeout = 0; SET lock_timeout = 0;
      SET idle_in_transaction_session_timeout = 0; SET idle_session_timeout = 0;
      SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off;
      SET client_connection_check_interval = '2s';
      SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
      SET tcp_user_timeout = '11s';
      """;

  /** For statements of their own, each of which ends by the connection's silence. */
  private static final String SHORT =
      "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_session_timeout = 0;"
          + " SET default_transaction_read_only = off";

  private ServerSettings() {}

  /**
   * @throws WritException {@code PGS-007} or {@code PGS-008}
   */
  static void require(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                """
                SELECT current_setting('server_version_num')::integer,
                  current_setting('server_encoding'), current_setting('fsync'),
                  current_setting('full_page_writes'), current_setting('synchronous_commit'),
                  pg_is_in_recovery()
                """)) {
      row.next();
      if (row.getInt(1) < VERSION_MIN) {
        throw new WritException(PostgresError.SERVER_VERSION, "version " + row.getInt(1) / 10_000);
      }
      require("server_encoding", row.getString(2), Set.of("UTF8"));
      require("fsync", row.getString(3), Set.of("on"));
      require("full_page_writes", row.getString(4), Set.of("on"));
      require("synchronous_commit", row.getString(5), DURABLE);
      if (row.getBoolean(6)) {
        // The state of a transaction that may not write: another server may be the primary.
        throw new SQLException("the server is a standby", "25006");
      }
    }
  }

  private static void require(String setting, String found, Set<String> allowed) {
    if (!allowed.contains(found)) {
      throw new WritException(
          PostgresError.UNSAFE_SETTING,
          setting
              + " is "
              + found
              + ", not "
              + String.join(" or ", allowed.stream().sorted().toList()));
    }
  }

  /** Fixes for a writer's session what was required, and leaves it without autocommit. */
  static void fix(Connection session) throws SQLException {
    try (Statement statement = session.createStatement()) {
      // Also against a change of the server's configuration while the session lives.
      statement.execute(
          "SELECT set_config('synchronous_commit', current_setting('synchronous_commit'), false)");
      statement.execute(WRITER);
      // It is not there before version 17.
      statement.execute(
          "SELECT set_config(name, '0', false) FROM pg_settings WHERE name ="
              + " 'transaction_timeout'");
    }
    session.setAutoCommit(false);
  }

  /** For a session that renews leases, or asks for them, and leaves it with autocommit. */
  static void fixShort(Connection session) throws SQLException {
    try (Statement statement = session.createStatement()) {
      statement.execute(SHORT);
    }
  }
}
