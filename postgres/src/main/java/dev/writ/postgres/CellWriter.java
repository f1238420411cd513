package dev.writ.postgres;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Lease;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.postgres.error.PostgresError;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;

/**
 * The one writer of a cell. One session holds the cell's advisory lock and does all writes: whoever
 * has the lock knows that every transaction of an earlier session has ended. That nobody else has
 * written is seen by the epoch and by the number of writes, which each write compares.
 */
final class CellWriter implements AutoCloseable {
  /** The layout of rows that this version writes. */
  private static final int FORMAT = 1;

  /** A server that was just stopped may take a moment to give up its lock. */
  private static final Duration LOCK_WAIT_MAX = Duration.ofSeconds(2);

  private final PostgresSettings settings;
  private final PostgresConnections connections;
  private final int cell;
  private final String owner;
  private final long epoch;
  private final Optional<Lease> lease;

  /** Which session of this epoch writes: each one that is lost makes it greater. */
  private volatile long sessions = 1;

  private volatile Runnable reconnected = () -> {};

  /** How many writes are durable; with the epoch, it fixes what the cell holds. */
  private long writes;

  /** Whether a commit was sent whose outcome is not known yet. */
  private boolean unanswered;

  /** Empty after it was lost, until the next write. */
  private Optional<Connection> session;

  private Optional<WritException> stopped = Optional.empty();
  private volatile boolean closing;

  /** False for good once anything made it doubtful that nobody else writes. */
  private volatile boolean owns = true;

  private final KnownRows known = new KnownRows();

  private record Taken(long epoch, long writes) {}

  private CellWriter(
      PostgresSettings settings,
      PostgresConnections connections,
      String owner,
      Optional<LeaseTerms> terms,
      Connection first)
      throws SQLException {
    this.settings = settings;
    this.connections = connections;
    this.cell = settings.cell();
    this.owner = owner;
    this.session = Optional.of(first);
    // Before it is asked for: the database may count from any moment after this one.
    Optional<Long> sentAt = terms.map(t -> t.elapsed().getAsLong());
    Taken taken = takeOver(first, terms);
    this.epoch = taken.epoch();
    this.lease = terms.map(t -> new Lease(epoch, t, sentAt.get()));
    this.writes = taken.writes();
  }

  /** Makes the cell's row, unless it is there. */
  private static void insert(Connection session, int cell, String owner) throws SQLException {
    try (PreparedStatement insert =
        session.prepareStatement(
            "INSERT INTO cell VALUES (?, ?, 0, ?, 0, 0, 0) ON CONFLICT DO NOTHING")) {
      insert.setInt(1, cell);
      insert.setInt(2, FORMAT);
      insert.setString(3, owner);
      insert.executeUpdate();
    }
  }

  /**
   * Requires that the cell is there, in a format that is known.
   *
   * @return how many writes it has
   * @throws WritException {@code LED-002} or {@code LED-007}
   */
  static long require(Connection connection, int cell) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT format, writes FROM cell WHERE cell = ?")) {
      select.setInt(1, cell);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next()) {
          throw new WritException(LedgerError.MISSING, "no cell " + cell);
        }
        if (row.getInt(1) > FORMAT) {
          throw new WritException(LedgerError.FORMAT_FUTURE, "format " + row.getInt(1));
        }
        return row.getLong(2);
      }
    }
  }

  /**
   * Takes the cell over: the writer before is refused from then on.
   *
   * @param isNew whether it is to be made, with the schema where there is none
   * @param terms of a lease, where it is taken for a time: then the session of an owner whose lease
   *     is over is ended
   * @throws WritException {@code LED-001} where one that is to be made has been written to, {@code
   *     LED-003} while the session of another server has the lock, {@code LED-077} while a gateway
   *     has a lease
   */
  static CellWriter open(
      PostgresSettings settings,
      PostgresConnections connections,
      String owner,
      boolean isNew,
      Optional<LeaseTerms> terms) {
    int cell = settings.cell();
    try {
      Connection session = connections.open(settings.patience());
      try {
        ServerSettings.require(session);
        DatabaseSchema.migrate(settings, connections, session, isNew);
        if (isNew) {
          insert(session, cell, owner);
        }
        require(session, cell);
        ServerSettings.fix(session);
        // From here to the commit of the takeover in one transaction, which holds the lease's row:
        // of several that try, none ends the session of another that has just succeeded.
        CellLease.begin(session, terms);
        CellLease.requireFree(session, cell);
        if (terms.isPresent()) {
          CellLease.endFormer(session, cell);
        }
        if (!lock(session, cell, LOCK_WAIT_MAX.toMillis())) {
          throw new WritException(LedgerError.LOCKED, settings + " by " + owner(session, cell));
        }
        // A row without a write may be left of an attempt that was cut off.
        if (isNew && require(session, cell) > 0) {
          throw new WritException(LedgerError.EXISTS, settings.toString());
        }
        return new CellWriter(settings, connections, owner, terms, session);
      } catch (SQLException | WritException e) {
        drop(session);
        throw e;
      }
    } catch (SQLException e) {
      throw SqlFailures.of("opening " + settings, e);
    }
  }

  /** Removes a cell with all its rows, if nobody has taken it over since this epoch. */
  static void remove(PostgresSettings settings, PostgresConnections connections, long epoch) {
    try (Connection session = connections.open(settings.patience());
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      String condition = " WHERE cell = " + settings.cell();
      if (statement.executeUpdate("DELETE FROM cell" + condition + " AND epoch = " + epoch) == 1) {
        for (FamilyTable table : FamilyTable.values()) {
          statement.executeUpdate("DELETE FROM " + table.table() + condition);
        }
      }
      session.commit();
    } catch (SQLException e) {
      throw SqlFailures.of("removing " + settings, e);
    }
  }

  private static String owner(Connection session, int cell) throws SQLException {
    try (PreparedStatement select =
        session.prepareStatement("SELECT owner FROM cell WHERE cell = ?")) {
      select.setInt(1, cell);
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? row.getString(1) : "nobody";
      }
    }
  }

  /** Waits for the lock of the cell; its first number stands for the database's schema. */
  private static boolean lock(Connection session, int cell, long millis) throws SQLException {
    try (Statement statement = session.createStatement()) {
      statement.execute("SET lock_timeout = " + Math.max(1, millis));
      statement.execute("SELECT pg_advisory_lock('cell'::regclass::oid::integer, " + cell + ")");
      statement.execute("SET lock_timeout = 0");
      return true;
    } catch (SQLException e) {
      if (SqlFailures.isLockNotAvailable(e)) {
        session.rollback();
        return false;
      }
      throw e;
    }
  }

  private Taken takeOver(Connection session, Optional<LeaseTerms> terms) throws SQLException {
    try (PreparedStatement update =
        session.prepareStatement(
            "UPDATE cell SET epoch = epoch + 1, owner = ?, sessions = 1 WHERE cell = ? RETURNING"
                + " epoch, writes")) {
      update.setString(1, owner);
      update.setInt(2, cell);
      Taken taken;
      try (ResultSet row = update.executeQuery()) {
        row.next();
        taken = new Taken(row.getLong(1), row.getLong(2));
      }
      if (terms.isPresent()) {
        CellLease.take(session, cell, taken.epoch(), terms.get());
      }
      commit(session);
      return taken;
    }
  }

  long epoch() {
    return epoch;
  }

  Optional<Lease> lease() {
    return lease;
  }

  /** What it knows of the rows, as long as it is the owner for all that it knows. */
  Optional<KnownRows> known() {
    boolean isOwner = owns && !closing && lease.filter(Lease::isOver).isEmpty();
    return isOwner ? Optional.of(known) : Optional.empty();
  }

  /**
   * Writes once or refuses. A transaction that failed before its commit was sent is sent again. One
   * whose commit had no answer is looked up by a new session: the number of writes shows whether it
   * was written.
   */
  synchronized void write(PostgresWrite write, long size, long newSize) {
    stopped.ifPresent(why -> {
      throw new WritException(LedgerError.FAILED, why.code().code() + " " + why.found(), why);
    });
    known.leaveOutUnchanged(write);
    known.writing(write);
    try {
      writeOnce(new WriteStatement(cell, epoch, writes, size, newSize, write), size);
      known.written(write);
    } catch (RuntimeException | Error e) {
      known.refused();
      if (unanswered && stopped.isEmpty()) {
        stop(
            new WritException(PostgresError.NO_ANSWER, "after " + e.getClass().getSimpleName(), e));
      }
      throw e;
    }
  }

  private void writeOnce(WriteStatement statement, long size) {
    Deadline deadline = Deadline.in(settings.patience());
    Optional<SQLException> refusal = Optional.empty();
    while (true) {
      Connection connection;
      try {
        boolean isNew = session.isEmpty();
        connection = isNew ? reconnect(deadline) : session.get();
        if (isNew && isWritten(connection)) {
          return;
        }
        if (refusal.isPresent()) {
          throw WriteStatement.isNotWriter(refusal.get())
              ? refused(connection, size)
              : SqlFailures.of("writing", refusal.get());
        }
      } catch (SQLException e) {
        if (SqlFailures.isLoginRefused(e)) {
          if (deadline.isOver() || closing) {
            throw e.getCause() instanceof WritException file ? file : SqlFailures.of("writing", e);
          }
          deadline.pauseForLogin(); // the password may be on its way to its file
          continue;
        }
        if (SqlFailures.isSessionLost(e)) {
          loseSession();
        } else {
          rollback();
          if (!SqlFailures.isSerialization(e)) {
            throw SqlFailures.of("writing", e);
          }
        }
        pauseOrStop(deadline, e);
        continue;
      }
      try {
        unanswered = true;
        requireNoWarning(statement.execute(connection));
        settled(true);
        return;
      } catch (SQLException e) {
        boolean isRepeated = SqlFailures.isSessionLost(e) || SqlFailures.isSerialization(e);
        if (isBeforeCommit(connection)) {
          settled(false);
          rollback();
          if (WriteStatement.isNotWriter(e)) {
            refusal = Optional.of(e);
            continue;
          }
          if (!isRepeated) {
            throw SqlFailures.of("writing", e);
          }
        } else {
          // Whatever it says, a new session tells for certain.
          loseSession();
          refusal = isRepeated ? Optional.empty() : Optional.of(e);
        }
        pauseOrStop(deadline, e);
      }
    }
  }

  /** Whether a statement failed, so that the server passed over the commit behind it. */
  private static boolean isBeforeCommit(Connection connection) {
    try {
      return !connection.isClosed()
          && connection.unwrap(BaseConnection.class).getTransactionState()
              == TransactionState.FAILED;
    } catch (SQLException e) {
      return false;
    }
  }

  /**
   * A session with the lock, after it was lost. Its own small write is committed before what it
   * reads is believed: where commits wait for standbys, those have it all then.
   */
  private Connection reconnect(Deadline deadline) throws SQLException {
    Connection fresh = connect(Duration.ofMillis(Math.max(1, deadline.millisLeft())));
    try {
      requireEpoch(fresh);
      ServerSettings.require(fresh);
      ServerSettings.fix(fresh);
      // In parts, so that a takeover meanwhile is noticed.
      if (!lock(fresh, cell, Math.min(LOCK_WAIT_MAX.toMillis(), deadline.millisLeft()))) {
        throw new SQLException("the lock is held by another session", "08006");
      }
      long counted;
      try (PreparedStatement update =
          fresh.prepareStatement(
              "UPDATE cell SET sessions = sessions + 1 WHERE cell = ? AND epoch = ? RETURNING"
                  + " sessions")) {
        update.setInt(1, cell);
        update.setLong(2, epoch);
        try (ResultSet row = update.executeQuery()) {
          if (!row.next()) {
            throw takenOver(fresh);
          }
          counted = row.getLong(1);
        }
      }
      commit(fresh);
      sessions = counted;
      fresh.setNetworkTimeout(Runnable::run, Math.toIntExact(settings.patience().toMillis()));
    } catch (SQLException | WritException e) {
      drop(fresh);
      throw e;
    }
    session = Optional.of(fresh);
    reconnected.run();
    return fresh;
  }

  /** A password's file that cannot be read just now is one that does not have the password yet. */
  private Connection connect(Duration silence) throws SQLException {
    try {
      return connections.open(silence);
    } catch (WritException e) {
      throw new SQLException(e.getMessage(), "28000", e);
    }
  }

  /** Calls this whenever it writes over another session, perhaps to another server. */
  void whenReconnected(Runnable then) {
    reconnected = then;
  }

  /**
   * Requires that what is read over a connection has all that this writer's session began with. A
   * primary that was replaced, and runs again as if it were one, has not.
   *
   * @throws SQLException as of a connection that is lost
   */
  void requireNotOlder(Connection reading) throws SQLException {
    long least = sessions; // before it is asked: it only grows
    try (PreparedStatement select =
        reading.prepareStatement("SELECT epoch, sessions FROM cell WHERE cell = ?")) {
      select.setInt(1, cell);
      try (ResultSet row = select.executeQuery()) {
        boolean isNotOlder =
            row.next()
                && (row.getLong(1) > epoch || row.getLong(1) == epoch && row.getLong(2) >= least);
        if (!isNotOlder) {
          throw new SQLException("this server is not the one that is written to", "08006");
        }
      }
    }
  }

  private void requireEpoch(Connection connection) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT epoch FROM cell WHERE cell = ?")) {
      select.setInt(1, cell);
      try (ResultSet row = select.executeQuery()) {
        if (!row.next() || row.getLong(1) != epoch) {
          throw takenOver(connection);
        }
      }
    }
  }

  /** Whether the write that had no answer is there. */
  private boolean isWritten(Connection connection) throws SQLException {
    long found = count(connection);
    if (found < writes) {
      throw stop(
          new WritException(PostgresError.WRITES_LOST, "it has " + found + " writes of " + writes));
    }
    if (found > writes + (unanswered ? 1 : 0)) {
      throw stop(new WritException(LedgerError.TAKEN_OVER, found + " writes, not " + writes));
    }
    boolean isWritten = found == writes + 1;
    settled(isWritten);
    return isWritten;
  }

  private void settled(boolean isWritten) {
    unanswered = false;
    writes += isWritten ? 1 : 0;
  }

  private long count(Connection connection) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT writes FROM cell WHERE cell = ?")) {
      select.setInt(1, cell);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        long count = row.getLong(1);
        connection.rollback();
        return count;
      }
    }
  }

  /** Why a write found the cell other than it was to be. */
  private WritException refused(Connection connection, long size) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT epoch, size FROM cell WHERE cell = ?")) {
      select.setInt(1, cell);
      long found;
      try (ResultSet row = select.executeQuery()) {
        if (!row.next() || row.getLong(1) != epoch) {
          return takenOver(connection);
        }
        found = row.getLong(2);
      }
      connection.rollback();
      return new WritException(LedgerError.TAKEN_OVER, "the log has " + found + ", not " + size);
    }
  }

  private WritException takenOver(Connection connection) throws SQLException {
    return stop(new WritException(LedgerError.TAKEN_OVER, "by " + owner(connection, cell)));
  }

  /**
   * @throws WritException {@code LED-070} where the wait for a standby was cancelled: the
   *     transaction is visible then, and may still be lost
   */
  private void commit(Connection connection) throws SQLException {
    connection.clearWarnings();
    connection.commit();
    requireNoWarning(Optional.ofNullable(connection.getWarnings()));
  }

  private void requireNoWarning(Optional<SQLWarning> warning) {
    if (warning.isPresent()) {
      throw stop(
          new WritException(
              LedgerError.SYNC,
              "the commit came with a warning, " + warning.get().getSQLState(),
              warning.get()));
    }
  }

  private void pauseOrStop(Deadline deadline, SQLException last) {
    if (deadline.isOver() || closing) {
      throw stop(
          new WritException(
              PostgresError.NO_ANSWER,
              settings + ", SQLSTATE " + last.getSQLState(),
              SqlFailures.of("writing", last)));
    }
    deadline.pause();
  }

  private WritException stop(WritException why) {
    owns = false;
    stopped = Optional.of(why);
    return why;
  }

  private void rollback() {
    try {
      if (session.isPresent()) {
        session.get().rollback();
      }
    } catch (SQLException e) {
      loseSession();
    }
  }

  private void loseSession() {
    session.ifPresent(CellWriter::drop);
    session = Optional.empty();
  }

  private static void drop(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      // It is given up anyway.
    }
  }

  /** Keeps writes waiting here, where they have all the time, while tables are rewritten. */
  synchronized void exclusively(Runnable work) {
    work.run();
  }

  /** Makes a write that waits for the database give up. */
  void giveUp() {
    closing = true;
  }

  @Override
  public synchronized void close() {
    stopped = stopped.or(() -> Optional.of(new WritException(LedgerError.CLOSED, "")));
    session.ifPresent(connection -> {
      try (Statement statement = connection.createStatement()) {
        connection.rollback(); // of a write that failed
        if (lease.isPresent()) {
          CellLease.release(connection, cell, epoch);
        }
        // The end of the session would release it, too, but a moment later.
        statement.execute("SELECT pg_advisory_unlock_all()");
        connection.commit();
      } catch (SQLException e) {
        // Then it ends with the session.
      }
    });
    loseSession();
  }
}
