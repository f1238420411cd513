package dev.writ.bench;

import dev.writ.postgres.PostgresDatabase;
import dev.writ.postgres.PostgresSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * A schema of its own in somebody's PostgreSQL database, removed when this is closed, and the
 * transaction that effects there are held against.
 */
final class BenchDatabase implements AutoCloseable {
  private static final String SCHEMA = "writ_bench";

  /** In which /proc counts processor time: USER_HZ is 100 on every Linux that Java runs on. */
  private static final double TICK_NS = 1e7;

  /** Long enough for ticks of 10 ms. */
  private static final long PROCESSOR_SLICE_NS = 1_000_000_000;

  // Places in /proc/PID/stat behind the name of the program (proc(5)).
  private static final int PARENT = 1;
  private static final int TIMES_FROM = 11;

  private final URI address;
  private final Connection connection;
  private final OptionalInt server;
  private PreparedStatement insert;

  private BenchDatabase(URI address, Connection connection) throws SQLException {
    this.address = address;
    this.connection = connection;
    this.server = serverOnThisMachine();
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT to_regnamespace('" + SCHEMA + "') IS NOT NULL")) {
      row.next();
      if (row.getBoolean(1)) {
        throw new IllegalStateException("the database has a schema " + SCHEMA + " already");
      }
    }
  }

  /**
   * @throws IllegalStateException where the schema is there already, or the database does not
   *     answer
   */
  static BenchDatabase of(URI database) {
    String query = Optional.ofNullable(database.getRawQuery()).map(q -> q + "&").orElse("");
    String text = database.toString().replaceFirst("[?].*", "") + "?" + query + "schema=" + SCHEMA;
    PostgresSettings settings = PostgresSettings.parse(text);
    try {
      Connection connection = PostgresDatabase.connect(settings);
      try {
        return new BenchDatabase(URI.create(text), connection);
      } catch (SQLException | IllegalStateException e) {
        connection.close();
        throw e;
      }
    } catch (SQLException e) {
      throw new IllegalStateException("the database: " + e.getMessage(), e);
    }
  }

  /** For an installation of its own. */
  URI address() {
    return address;
  }

  /** Makes the table of the bare transaction, beside those of an installation, which come first. */
  void makeTable() {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE " + SCHEMA + ".bare (bytes bytea)");
      insert = connection.prepareStatement("INSERT INTO " + SCHEMA + ".bare VALUES (?)");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One durable transaction of one row. */
  int insert(byte[] row) {
    try {
      insert.setBytes(1, row);
      return insert.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  boolean isOnThisMachine() {
    return server.isPresent();
  }

  /**
   * The processor time of all of the server's processes for an effect, in place of elapsed time.
   * Whatever else it does at that time counts, too.
   */
  Cost processorOf(EffectCrowd crowd) {
    double before = serverTicks();
    double wall = 0;
    double effects = 0;
    do {
      EffectCrowd.Slice slice = crowd.slice();
      wall += slice.cost().wallNs() * slice.effects();
      effects += slice.effects();
    } while (wall < PROCESSOR_SLICE_NS);
    return new Cost((serverTicks() - before) * TICK_NS / effects, 0);
  }

  /** The first process of the server, where it is one that can be seen from here. */
  private OptionalInt serverOnThisMachine() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT pg_backend_pid(), coalesce(host(inet_server_addr()), '127.0.0.1')")) {
      row.next();
      Path process = Path.of("/proc", String.valueOf(row.getInt(1)));
      boolean isHere =
          row.getString(2).equals("127.0.0.1")
              && Files.exists(process)
              && Files.readString(process.resolve("comm")).startsWith("postgres");
      return isHere ? OptionalInt.of((int) stat(process)[PARENT]) : OptionalInt.empty();
    } catch (IOException e) {
      return OptionalInt.empty(); // it is another machine's number, and nothing is there now
    }
  }

  private static long[] stat(Path process) throws IOException {
    String text = Files.readString(process.resolve("stat"));
    String[] words = text.substring(text.lastIndexOf(')') + 2).split(" ");
    long[] numbers = new long[TIMES_FROM + 4];
    for (int i = 1; i < numbers.length; i++) {
      numbers[i] = Long.parseLong(words[i]);
    }
    return numbers;
  }

  /** Of the server's processes that run, and of those that have ended. */
  private double serverTicks() {
    int first = server.orElseThrow();
    double ticks = 0;
    try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
      for (Path process :
          processes.filter(p -> p.getFileName().toString().matches("[0-9]+")).toList()) {
        try {
          long[] stat = stat(process);
          if (process.endsWith(String.valueOf(first))) {
            ticks += stat[TIMES_FROM + 2] + stat[TIMES_FROM + 3]; // of children that have ended
          }
          if (process.endsWith(String.valueOf(first)) || stat[PARENT] == first) {
            ticks += stat[TIMES_FROM] + stat[TIMES_FROM + 1];
          }
        } catch (IOException e) {
          // It has ended since it was listed; its parent counts it.
        }
      }
      return ticks;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try (connection) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("DROP SCHEMA IF EXISTS " + SCHEMA + " CASCADE");
      }
    } catch (SQLException e) {
      throw new IllegalStateException("removing the schema " + SCHEMA, e);
    }
  }
}
