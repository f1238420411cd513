package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseWatch;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads who owns a cell, over a connection that it keeps. */
final class PostgresWatch implements LeaseWatch {
  private static final Duration SILENCE = Duration.ofSeconds(2);

  private static final String OWNERSHIP =
      "SELECT c.cell, c.epoch, c.owner, coalesce(l.address, ''), greatest(0,"
          + " coalesce(extract(epoch FROM l.until - clock_timestamp()) * 1000, 0))::bigint,"
          + " coalesce(l.observed, 0), c.size FROM cell c LEFT JOIN lease l ON l.cell = c.cell AND"
          + " l.epoch = c.epoch WHERE c.cell >= ? AND c.cell < ? ORDER BY c.cell";

  private static final String PRESENT =
      "INSERT INTO gateway (address, until, region) VALUES (?, clock_timestamp() + ? * interval '1"
          + " millisecond', ?) ON CONFLICT (address) DO UPDATE SET until = EXCLUDED.until, region ="
          + " EXCLUDED.region";

  private static final String LIVING =
      "SELECT address, region FROM gateway WHERE until > clock_timestamp() ORDER BY address";

  private final PostgresSettings settings;
  private final PostgresConnections connections;
  private Optional<Connection> connection = Optional.empty();

  /** {@link OpenWriters#moves()} when it was opened. */
  private long moves;

  /**
   * Whether the schema was once one that this program knows. A gateway of a later release may raise
   * it then, under which this one goes on with what it owns until it ends (spec/cells.md,
   * "Upgrading"), also over another connection.
   */
  private boolean isKnown;

  PostgresWatch(PostgresSettings settings) {
    this.settings = settings;
    this.connections = new PostgresConnections(settings);
  }

  @Override
  public Ownership ask() {
    List<Ownership> found = askAll(1);
    if (found.isEmpty()) {
      throw new WritException(LedgerError.MISSING, "no cell " + settings.cell());
    }
    return found.getFirst();
  }

  @Override
  public List<Ownership> askAll(int cells) {
    return using(open -> select(open, cells));
  }

  private List<Ownership> select(Connection open, int cells) throws SQLException {
    List<Ownership> found = new ArrayList<>();
    try (PreparedStatement select = open.prepareStatement(OWNERSHIP)) {
      select.setInt(1, settings.cell());
      select.setInt(2, settings.cell() + cells);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          long left = row.getLong(5);
          found.add(
              new Ownership(
                  row.getInt(1),
                  row.getLong(2),
                  row.getString(3),
                  row.getString(4),
                  left > 0,
                  Duration.ofMillis(left),
                  row.getLong(6),
                  row.getLong(7)));
        }
      }
    }
    return found;
  }

  @Override
  public List<LivingGateway> present(LivingGateway self, Duration length) {
    return using(open -> {
      try (PreparedStatement insert = open.prepareStatement(PRESENT)) {
        insert.setString(1, self.address());
        insert.setLong(2, length.toMillis());
        insert.setString(3, self.region().orElse(""));
        insert.executeUpdate();
      }
      return living(open);
    });
  }

  @Override
  public List<LivingGateway> living() {
    return using(PostgresWatch::living);
  }

  private static List<LivingGateway> living(Connection open) throws SQLException {
    List<LivingGateway> live = new ArrayList<>();
    try (PreparedStatement select = open.prepareStatement(LIVING);
        ResultSet row = select.executeQuery()) {
      while (row.next()) {
        live.add(
            new LivingGateway(
                row.getString(1), Optional.of(row.getString(2)).filter(r -> !r.isEmpty())));
      }
    }
    return live;
  }

  @Override
  public void leaves(String address) {
    using(open -> {
      try (PreparedStatement delete =
          open.prepareStatement(
              "DELETE FROM gateway WHERE address = ? OR until < clock_timestamp() - interval '1"
                  + " day'")) {
        delete.setString(1, address);
        return delete.executeUpdate();
      }
    });
  }

  @Override
  public void observed(int cell, long epoch, long statements) {
    using(open -> {
      try (PreparedStatement update =
          open.prepareStatement("UPDATE lease SET observed = ? WHERE cell = ? AND epoch = ?")) {
        update.setLong(1, statements);
        update.setInt(2, cell);
        update.setLong(3, epoch);
        return update.executeUpdate();
      }
    });
  }

  /** What is asked over the connection. */
  @FunctionalInterface
  private interface Question<T> {
    T ask(Connection open) throws SQLException;
  }

  private synchronized <T> T using(Question<T> question) {
    try {
      long now = OpenWriters.moves();
      if (now != moves) {
        close();
        moves = now;
      }
      if (connection.isEmpty()) {
        Connection opened = connections.openForLeases(SILENCE);
        connection = Optional.of(opened);
        OpenWriters.requireNotOlder(settings, opened);
        if (!isKnown) {
          DatabaseSchema.migrate(settings, connections, opened, false);
          isKnown = true;
        }
      }
      return question.ask(connection.get());
    } catch (SQLException e) {
      close();
      throw SqlFailures.of("asking who owns " + settings, e);
    } catch (WritException e) {
      close(); // else the next question would pass over what was refused
      throw e;
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
