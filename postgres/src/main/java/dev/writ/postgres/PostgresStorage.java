package dev.writ.postgres;

import com.zaxxer.hikari.HikariDataSource;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Lease;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import dev.writ.postgres.error.PostgresError;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The rows of one ledger in PostgreSQL. */
final class PostgresStorage implements Storage {
  private final PostgresSettings settings;
  private final PostgresConnections connections;

  /** Empty for a reader. */
  private final Optional<CellWriter> writer;

  /** Empty for a reader, and for a writer without a lease. */
  private final Optional<LeaseKeeper> keeper;

  private final HikariDataSource reads;

  private final SharedReads ahead = new SharedReads(this::readAhead);

  /** Held shared by every call, and exclusively by closing. */
  private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock();

  /** Held exclusively while the table of small contents is rewritten: the database locks it. */
  private final ReentrantReadWriteLock contents = new ReentrantReadWriteLock();

  /**
   * The connection of a scan in this thread. What its visitor reads goes over the same one: if each
   * took another, scans in many threads could wait for each other's connections for ever.
   */
  private final ThreadLocal<Connection> scanning = new ThreadLocal<>();

  /** {@link OpenWriters#moves()} when its connections were opened. */
  private volatile long moves = OpenWriters.moves();

  private boolean closed;

  private PostgresStorage(
      PostgresSettings settings,
      PostgresConnections connections,
      Optional<CellWriter> writer,
      Optional<LeaseKeeper> keeper) {
    this.keeper = keeper;
    this.settings = settings;
    this.connections = connections;
    this.writer = writer;
    this.reads = connections.pool(connection -> OpenWriters.requireNotOlder(settings, connection));
    writer.ifPresent(own -> OpenWriters.add(settings, own));
    writer.ifPresent(own -> own.whenReconnected(OpenWriters::moved));
  }

  /** Makes an empty log, or opens one as its writer. */
  static PostgresStorage writing(PostgresSettings settings, String owner, boolean isNew) {
    PostgresConnections connections = new PostgresConnections(settings);
    CellWriter writer = CellWriter.open(settings, connections, owner, isNew, Optional.empty());
    return new PostgresStorage(settings, connections, Optional.of(writer), Optional.empty());
  }

  /** Opens a log as its writer for a time, which is renewed until this is closed. */
  static PostgresStorage owning(PostgresSettings settings, LeaseTerms terms) {
    PostgresConnections connections = new PostgresConnections(settings);
    CellWriter writer =
        CellWriter.open(settings, connections, terms.owner(), false, Optional.of(terms));
    // A write that waits for the database would go on waiting after the lease.
    LeaseKeeper keeper =
        new LeaseKeeper(settings, connections, terms, writer.lease().orElseThrow(), writer::giveUp);
    return new PostgresStorage(settings, connections, Optional.of(writer), Optional.of(keeper));
  }

  /** Opens a log for reading, beside its writer or without one. */
  static PostgresStorage reading(PostgresSettings settings) {
    PostgresConnections connections = new PostgresConnections(settings);
    try (Connection connection = connections.open(settings.patience())) {
      DatabaseSchema.require(settings, connection);
      CellWriter.require(connection, settings.cell());
    } catch (SQLException e) {
      throw SqlFailures.of("opening " + settings, e);
    }
    return new PostgresStorage(settings, connections, Optional.empty(), Optional.empty());
  }

  @Override
  public Optional<Long> epoch() {
    return writer.map(CellWriter::epoch);
  }

  @Override
  public Optional<Lease> lease() {
    return writer.flatMap(CellWriter::lease);
  }

  private void requireOpen() {
    if (closed) {
      throw new WritException(LedgerError.CLOSED, "");
    }
  }

  /** A use of a connection. */
  @FunctionalInterface
  private interface Use<T> {
    T apply(Connection connection) throws SQLException;
  }

  private <T> T using(Family family, Use<T> use) {
    gate.readLock().lock();
    try {
      requireOpen();
      boolean isContent = family == Family.BLOBS;
      if (isContent) {
        contents.readLock().lock();
      }
      try {
        return repeating(use);
      } finally {
        if (isContent) {
          contents.readLock().unlock();
        }
      }
    } finally {
      gate.readLock().unlock();
    }
  }

  /** What was opened before may lead to a server that is the primary no more. */
  private Connection connection() throws SQLException {
    long now = OpenWriters.moves();
    if (now != moves) {
      reads.getHikariPoolMXBean().softEvictConnections();
      moves = now;
    }
    return reads.getConnection();
  }

  /** Reads again over another connection where one was lost. */
  private <T> T repeating(Use<T> use) {
    Deadline deadline = Deadline.in(settings.patience());
    while (true) {
      try {
        Connection outer = scanning.get();
        if (outer != null) {
          return use.apply(outer);
        }
        try (Connection connection = connection()) {
          return use.apply(connection);
        }
      } catch (SQLException e) {
        boolean isRepeated = SqlFailures.isSessionLost(e) && scanning.get() == null;
        if (!isRepeated || deadline.isOver()) {
          throw failure(e);
        }
        deadline.pause();
      }
    }
  }

  /** The pool gives an exception of its own when it has waited in vain, or was interrupted. */
  private static WritException failure(SQLException e) {
    if (e.getSQLState() != null) {
      return SqlFailures.of("reading", e);
    }
    if (Thread.currentThread().isInterrupted() || e.getCause() instanceof InterruptedException) {
      return new WritException(LedgerError.INTERRUPTED, "reading", e);
    }
    return e.getCause() instanceof WritException refused
        ? refused
        : new WritException(PostgresError.CONNECTIONS, "", e);
  }

  private PreparedStatement query(
      Connection connection, FamilyTable table, String selected, String condition, byte[]... keys)
      throws SQLException {
    PreparedStatement query =
        connection.prepareStatement(
            "SELECT " + selected + " FROM " + table.table() + " WHERE cell = ? " + condition);
    query.setInt(1, settings.cell());
    for (int i = 0; i < keys.length; i++) {
      query.setBytes(i + 2, keys[i]);
    }
    return query;
  }

  /** What need not be asked for: nothing in a scan, whose visitor reads what was at its moment. */
  private Optional<KnownRows> known() {
    return scanning.get() == null ? writer.flatMap(CellWriter::known) : Optional.empty();
  }

  @Override
  public Optional<byte[]> get(Family family, byte[] key) {
    Optional<KnownRows> known = known();
    return known
        .flatMap(rows -> rows.get(family, key))
        .orElseGet(() -> {
          Optional<KnownRows.Reading> reading = known.map(rows -> rows.reading(family, key));
          Optional<byte[]> row = read(family, key);
          reading.ifPresent(under -> under.found(row));
          return row;
        });
  }

  private Optional<byte[]> read(Family family, byte[] key) {
    FamilyTable table = FamilyTable.of(family);
    return using(
        family,
        connection -> {
          try (PreparedStatement query =
                  query(connection, table, table.read(), "AND key = ?", key);
              ResultSet row = query.executeQuery()) {
            return row.next() ? Optional.of(table.join(row, 1)) : Optional.empty();
          }
        });
  }

  @Override
  public boolean has(Family family, byte[] key) {
    Optional<KnownRows> known = known();
    return known
        .flatMap(rows -> rows.get(family, key))
        .map(Optional::isPresent)
        .orElseGet(() -> {
          Optional<KnownRows.Reading> reading = known.map(rows -> rows.reading(family, key));
          boolean isThere = has(family, List.of(key)).getFirst();
          if (!isThere) {
            reading.ifPresent(under -> under.found(Optional.empty()));
          }
          return isThere;
        });
  }

  @Override
  public void expect(Supplier<List<Name>> rows) {
    known()
        .map(known -> known.unknown(rows.get()))
        .filter(unknown -> !unknown.isEmpty())
        .ifPresent(ahead::await);
  }

  /** Remembers these rows, and those that are absent. */
  private void readAhead(List<Name> names) {
    Optional<KnownRows> known = known();
    if (known.isEmpty()) {
      return;
    }
    Map<Family, TreeMap<byte[], KnownRows.Reading>> wanted = new EnumMap<>(Family.class);
    for (Name name : names) {
      wanted
          .computeIfAbsent(name.family(), _ -> new TreeMap<>(Arrays::compareUnsigned))
          .computeIfAbsent(name.key(), key -> known.get().reading(name.family(), key));
    }
    using(
        Family.TABLES,
        connection -> {
          readAhead(connection, wanted);
          return null;
        });
  }

  private void readAhead(
      Connection connection, Map<Family, TreeMap<byte[], KnownRows.Reading>> wanted)
      throws SQLException {
    Map<Family, Set<ByteBuffer>> there = new EnumMap<>(Family.class);
    try (PreparedStatement query = connection.prepareStatement(readAheadSql(wanted.keySet()))) {
      int parameter = 1;
      for (TreeMap<byte[], KnownRows.Reading> keys : wanted.values()) {
        KeyedRows.set(query, parameter, keys.keySet().toArray(byte[][]::new), settings.cell());
        parameter += 2;
      }
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          Family family = Family.values()[rows.getInt(1)];
          byte[] key = rows.getBytes(2);
          byte[] value = rows.getBytes(3);
          there.computeIfAbsent(family, _ -> new HashSet<>()).add(ByteBuffer.wrap(key));
          if (value != null) { // else it is a document in its parts
            wanted.get(family).get(key).found(Optional.of(value));
          }
        }
      }
    }
    wanted.forEach((family, keys) ->
        keys.forEach((key, reading) -> {
          if (!there.getOrDefault(family, Set.of()).contains(ByteBuffer.wrap(key))) {
            reading.found(Optional.empty());
          }
        }));
  }

  static String readAheadSql(Set<Family> families) {
    return families.stream()
        .map(family ->
            "SELECT "
                + family.ordinal()
                + ", found.key, found.value"
                + KeyedRows.from(FamilyTable.of(family), "key, value"))
        .collect(Collectors.joining(" UNION ALL "));
  }

  static String hasSql(Family family) {
    return "SELECT found.key" + KeyedRows.from(FamilyTable.of(family), "key");
  }

  @Override
  public List<Boolean> has(Family family, List<byte[]> keys) {
    return using(
        family,
        connection -> {
          Set<ByteBuffer> found = new HashSet<>();
          try (PreparedStatement query = connection.prepareStatement(hasSql(family))) {
            KeyedRows.set(query, 1, keys.toArray(byte[][]::new), settings.cell());
            try (ResultSet rows = query.executeQuery()) {
              while (rows.next()) {
                found.add(ByteBuffer.wrap(rows.getBytes(1)));
              }
            }
          }
          List<Boolean> answers = new ArrayList<>(keys.size());
          keys.forEach(key -> answers.add(found.contains(ByteBuffer.wrap(key))));
          return answers;
        });
  }

  @Override
  public void scan(Family family, byte[] prefix, byte[] from, Visitor visitor) {
    boolean[] visited = {false};
    Visitor noting =
        (key, value) -> {
          visited[0] = true;
          return visitor.row(key, value);
        };
    using(
        family,
        connection -> {
          try {
            scan(connection, family, prefix, from, noting);
          } catch (SQLException e) {
            if (visited[0]) { // it cannot be repeated
              throw new WritException(
                  PostgresError.UNREACHABLE, "in the middle of a scan", failure(e));
            }
            throw e;
          }
          return null;
        });
  }

  private void scan(
      Connection connection, Family family, byte[] prefix, byte[] from, Visitor visitor)
      throws SQLException {
    if (scanning.get() != null) {
      visit(connection, family, prefix, from, visitor);
      return;
    }
    // A cursor lives in a transaction; it is REPEATABLE READ and READ ONLY for all of the pool.
    connection.setAutoCommit(false);
    scanning.set(connection);
    try {
      visit(connection, family, prefix, from, visitor);
    } finally {
      scanning.remove();
      end(connection);
    }
  }

  private static void end(Connection connection) {
    try {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      // What was read is right all the same, and the pool discards the connection.
    }
  }

  private void visit(
      Connection connection, Family family, byte[] prefix, byte[] from, Visitor visitor)
      throws SQLException {
    FamilyTable table = FamilyTable.of(family);
    byte[] first = Arrays.compareUnsigned(prefix, from) > 0 ? prefix : from;
    Optional<byte[]> end = after(prefix);
    String selected = "key, " + table.read();
    String range = end.isEmpty() ? "AND key >= ?" : "AND key >= ? AND key < ?";
    byte[][] keys = end.isEmpty() ? new byte[][] {first} : new byte[][] {first, end.get()};
    try (PreparedStatement query =
        query(connection, table, selected, range + " ORDER BY key", keys)) {
      query.setFetchSize(table.fetched());
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next() && visitor.row(rows.getBytes(1), table.join(rows, 2))) {
          // The visitor has it.
        }
      }
    }
  }

  /** The least key after all that begin so; empty where there is none. */
  private static Optional<byte[]> after(byte[] prefix) {
    for (int i = prefix.length - 1; i >= 0; i--) {
      if (prefix[i] != (byte) 0xff) {
        byte[] end = Arrays.copyOf(prefix, i + 1);
        end[i]++;
        return Optional.of(end);
      }
    }
    return Optional.empty();
  }

  @Override
  public Optional<Row> last(Family family) {
    return row(family, "ORDER BY key DESC LIMIT 1");
  }

  @Override
  public Optional<Row> atLeast(Family family, byte[] key) {
    return row(family, "AND key >= ? ORDER BY key LIMIT 1", key);
  }

  private Optional<Row> row(Family family, String condition, byte[]... keys) {
    FamilyTable table = FamilyTable.of(family);
    return using(
        family,
        connection -> {
          try (PreparedStatement query =
                  query(connection, table, "key, " + table.read(), condition, keys);
              ResultSet row = query.executeQuery()) {
            return row.next()
                ? Optional.of(new Row(row.getBytes(1), table.join(row, 2)))
                : Optional.empty();
          }
        });
  }

  @Override
  public Write newWrite() {
    return new PostgresWrite();
  }

  /** The JDK closes a socket under a virtual thread that is interrupted. */
  @Override
  public boolean isInterruptible() {
    return true;
  }

  @Override
  public void write(Write write, long size, long newSize) {
    gate.readLock().lock();
    try {
      requireOpen();
      requireWriter().write((PostgresWrite) write, size, newSize);
    } finally {
      gate.readLock().unlock();
    }
  }

  private CellWriter requireWriter() {
    return writer.orElseThrow(() -> new IllegalStateException("it was opened for reading"));
  }

  @Override
  public void forgetDeleted() {
    gate.readLock().lock();
    try (Maintenance maintenance = maintenance()) {
      maintenance.awaitNobodySeesDeleted();
      maintenance.rewrite(
          FamilyTable.BLOB,
          attempt ->
              requireWriter()
                  .exclusively(() -> {
                    contents.writeLock().lock();
                    try {
                      attempt.run();
                    } finally {
                      contents.writeLock().unlock();
                    }
                  }));
    } finally {
      gate.readLock().unlock();
    }
  }

  private Maintenance maintenance() {
    requireOpen();
    return new Maintenance(settings, connections);
  }

  @Override
  public void verifyChecksums() {
    gate.readLock().lock();
    try (Maintenance maintenance = maintenance()) {
      maintenance.verify();
    } finally {
      gate.readLock().unlock();
    }
  }

  @Override
  public void close() {
    keeper.ifPresent(LeaseKeeper::close);
    writer.ifPresent(CellWriter::giveUp);
    gate.writeLock().lock();
    try {
      if (!closed) {
        closed = true;
        writer.ifPresent(own -> OpenWriters.remove(settings, own));
        writer.ifPresent(CellWriter::close);
        reads.close();
      }
    } finally {
      gate.writeLock().unlock();
    }
  }
}
