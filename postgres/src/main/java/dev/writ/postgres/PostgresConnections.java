package dev.writ.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.PrintWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** Opens connections to one database. */
final class PostgresConnections {
  private static final Duration KEPT_IDLE = Duration.ofMinutes(1);

  /**
   * Every read has its order by the primary key. Where the planner has no statistics yet, or takes
   * most of a table to be asked for, it would sort the table instead. For the same reason one plan
   * serves all keys; making one for each read took longer than the read.
   */
  private static final String READING =
      "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; SET jit = off;"
          + " SET plan_cache_mode = force_generic_plan;"
          + " SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0";

  private final PostgresSettings settings;

  PostgresConnections(PostgresSettings settings) {
    this.settings = settings;
  }

  /**
   * A connection of its own.
   *
   * @param silence how long an answer may take before the connection is given up; zero for ever
   */
  Connection open(Duration silence) throws SQLException {
    List<String> servers = new ArrayList<>();
    settings.hosts().forEach(host -> servers.add(host.getHostString() + ":" + host.getPort()));
    Properties properties = new Properties();
    properties.putAll(settings.tls());
    properties.setProperty("user", settings.user());
    settings.password().ifPresent(password -> properties.setProperty("password", password));
    properties.setProperty("ApplicationName", "writ");
    properties.setProperty("targetServerType", servers.size() > 1 ? "primary" : "any");
    properties.setProperty("tcpKeepAlive", "true");
    properties.setProperty(
        "connectTimeout", seconds(silence.isZero() ? settings.patience() : silence));
    properties.setProperty("socketTimeout", seconds(silence));
    // Details of errors quote rows.
    properties.setProperty("logServerErrorDetail", "false");
    Connection connection =
        DriverManager.getConnection(
            "jdbc:postgresql://"
                + String.join(",", servers)
                + "/"
                + URLEncoder.encode(settings.database(), StandardCharsets.UTF_8),
            properties);
    try {
      connection.setSchema(settings.schema());
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
    return connection;
  }

  /**
   * A connection that says and asks who owns a cell. What an administrator has set for the user's
   * sessions, such as that they only read, does not end a lease.
   *
   * @param silence as in {@link #open}
   */
  Connection openForLeases(Duration silence) throws SQLException {
    Connection connection = open(silence);
    try {
      ServerSettings.fixShort(connection);
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
    return connection;
  }

  /** Rounded up, since zero is for ever. */
  private static String seconds(Duration time) {
    return String.valueOf((time.toMillis() + 999) / 1000);
  }

  /** What a connection has to be before anything is read over it. */
  @FunctionalInterface
  interface Requirement {
    /**
     * @throws SQLException where it is not that; it is closed then
     */
    void of(Connection connection) throws SQLException;
  }

  /** Connections for reading, which are opened when they are needed. */
  HikariDataSource pool(Requirement required) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(new Source(settings.patience(), required));
    config.setPoolName("writ-postgres");
    config.setMaximumPoolSize(settings.connections());
    config.setMinimumIdle(0);
    config.setIdleTimeout(KEPT_IDLE.toMillis());
    config.setInitializationFailTimeout(-1);
    config.setConnectionTimeout(Math.max(settings.patience().toMillis(), 250)); // its least
    config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
    config.setReadOnly(true);
    config.setConnectionInitSql(READING);
    return new HikariDataSource(config);
  }

  /** As {@link #open}, for a library. */
  DataSource source(Duration silence) {
    return new Source(silence, _ -> {});
  }

  private final class Source implements DataSource {
    private final Duration silence;
    private final Requirement required;

    Source(Duration silence, Requirement required) {
      this.silence = silence;
      this.required = required;
    }

    @Override
    public Connection getConnection() throws SQLException {
      Connection connection = open(silence);
      try {
        required.of(connection);
      } catch (SQLException e) {
        connection.close();
        throw e;
      }
      return connection;
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public PrintWriter getLogWriter() {
      return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) {}

    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
      return (int) TimeUnit.MILLISECONDS.toSeconds(settings.patience().toMillis());
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
      throw new SQLFeatureNotSupportedException();
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
      return false;
    }
  }
}
