package dev.writ.postgres;

import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Who writes to which database from this process. Whatever else the process reads of that database
 * it reads where they write: a primary that was replaced, and runs again as if it were one, has not
 * the beginnings of their sessions. Thread safe.
 */
final class OpenWriters {
  private static final Set<Open> ALL = ConcurrentHashMap.newKeySet();

  /** How often any of them has begun to write over another session, perhaps to another server. */
  private static final AtomicLong MOVES = new AtomicLong();

  private OpenWriters() {}

  /** A schema of a database, with all its cells. */
  private record Place(List<InetSocketAddress> hosts, String database, String schema) {
    static Place of(PostgresSettings settings) {
      return new Place(settings.hosts(), settings.database(), settings.schema());
    }
  }

  private record Open(Place place, CellWriter writer) {}

  static void add(PostgresSettings settings, CellWriter writer) {
    ALL.add(new Open(Place.of(settings), writer));
  }

  static void remove(PostgresSettings settings, CellWriter writer) {
    ALL.remove(new Open(Place.of(settings), writer));
  }

  /** One of them writes over another session. */
  static void moved() {
    MOVES.incrementAndGet();
  }

  /** While this is the same, what was opened leads where it led. */
  static long moves() {
    return MOVES.get();
  }

  /**
   * Requires of a connection that its server has what the writers' sessions began with.
   *
   * @throws SQLException as {@link CellWriter#requireNotOlder}
   */
  static void requireNotOlder(PostgresSettings settings, Connection reading) throws SQLException {
    Place place = Place.of(settings);
    for (Open one : ALL) {
      if (one.place().equals(place)) {
        one.writer().requireNotOlder(reading);
      }
    }
  }
}
