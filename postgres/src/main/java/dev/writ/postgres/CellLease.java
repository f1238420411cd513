package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.LeaseTerms;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;

/** The statements by which a cell is leased (spec/cells.md). */
final class CellLease {
  /** A transaction's own time would be that of its begin, before it waited for locks. */
  private static final String NOW = "clock_timestamp()";

  private CellLease() {}

  /** How long a takeover may take where no lease says so. */
  private static final Duration TAKEOVER_MAX = Duration.ofSeconds(10);

  /**
   * Begins the transaction of a takeover. It waits for others no longer than a lease, and is ended
   * by the server where whoever began it stands still: it holds the lease's row meanwhile.
   */
  static void begin(Connection session, Optional<LeaseTerms> terms) throws SQLException {
    long millis = terms.map(LeaseTerms::length).orElse(TAKEOVER_MAX).toMillis();
    try (Statement statement = session.createStatement()) {
      statement.execute("SET LOCAL idle_in_transaction_session_timeout = " + millis);
      statement.execute("SET LOCAL lock_timeout = " + millis);
    }
  }

  /**
   * Requires that nobody has a lease that runs, and locks its row until the transaction ends: it is
   * not renewed meanwhile.
   *
   * @throws WritException {@code LED-077}
   */
  static void requireFree(Connection session, int cell) throws SQLException {
    try (PreparedStatement select =
        session.prepareStatement(
            "SELECT owner, address, until > " + NOW + " FROM lease WHERE cell = ? FOR UPDATE")) {
      select.setInt(1, cell);
      try (ResultSet row = select.executeQuery()) {
        if (row.next() && row.getBoolean(3)) {
          String found = row.getString(1) + " at " + row.getString(2);
          session.rollback();
          throw new WritException(LedgerError.LEASE_HELD, found);
        }
      }
    } catch (SQLException e) {
      if (SqlFailures.isLockNotAvailable(e)) {
        session.rollback();
        throw new WritException(LedgerError.LEASE_HELD, "another gateway takes it over", e);
      }
      throw e;
    }
  }

  /**
   * Ends the session of an owner whose lease is over: it may be paused and still connected. Where
   * it is in the middle of a commit, that is done first. Only whoever holds the lease's row may do
   * so: the cell's lock is then the former owner's, and of nobody who is taking the cell over.
   *
   * @return how many sessions were told to end
   */
  static int endFormer(Connection session, int cell) throws SQLException {
    try (PreparedStatement select =
        session.prepareStatement(
            "SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l JOIN lease ON lease.cell = ?"
                + " JOIN cell ON cell.cell = lease.cell AND cell.epoch = lease.epoch"
                + " WHERE lease.until <= "
                + NOW
                + " AND l.locktype = 'advisory' AND l.granted"
                + " AND l.database = (SELECT oid FROM pg_database WHERE datname ="
                + " current_database())"
                + " AND l.classid = 'cell'::regclass::oid AND l.objid = ?::oid AND l.objsubid = 2"
                + " AND l.pid <> pg_backend_pid()")) {
      select.setInt(1, cell);
      select.setInt(2, cell);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  /** Within the transaction that takes the cell over. */
  static void take(Connection session, int cell, long epoch, LeaseTerms terms) throws SQLException {
    try (PreparedStatement insert =
        session.prepareStatement(
            "INSERT INTO lease (cell, epoch, owner, address, until) VALUES (?, ?, ?, ?, "
                + NOW
                + " + ? * interval '1 millisecond') ON CONFLICT (cell) DO UPDATE SET epoch ="
                + " EXCLUDED.epoch, owner = EXCLUDED.owner, address = EXCLUDED.address, until ="
                + " EXCLUDED.until, observed = 0")) {
      insert.setInt(1, cell);
      insert.setLong(2, epoch);
      insert.setString(3, terms.owner());
      insert.setString(4, terms.address());
      insert.setLong(5, terms.length().toMillis());
      insert.executeUpdate();
    }
  }

  /** Renews it; false where it is another owner's by now. */
  static boolean renew(Connection connection, int cell, long epoch, Duration length)
      throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE lease SET until = "
                + NOW
                + " + ? * interval '1 millisecond' WHERE cell = ? AND epoch = ?")) {
      update.setLong(1, length.toMillis());
      update.setInt(2, cell);
      update.setLong(3, epoch);
      return update.executeUpdate() == 1;
    }
  }

  /** Gives it back, so that nobody has to wait for its end. */
  static void release(Connection session, int cell, long epoch) throws SQLException {
    try (PreparedStatement update =
        session.prepareStatement(
            "UPDATE lease SET until = " + NOW + " WHERE cell = ? AND epoch = ?")) {
      update.setInt(1, cell);
      update.setLong(2, epoch);
      update.executeUpdate();
    }
  }
}
