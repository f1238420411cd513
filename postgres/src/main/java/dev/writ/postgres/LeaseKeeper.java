package dev.writ.postgres;

import dev.writ.ledger.storage.Lease;
import dev.writ.ledger.storage.LeaseTerms;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Renews a lease as long as its owner has the cell open, over a connection of its own: a write that
 * takes long does not hold it up. Tells once when the lease is over.
 */
final class LeaseKeeper implements AutoCloseable {
  /** Renewals within one lease, so that one or two may fail. */
  private static final int RENEWALS = 4;

  private final PostgresSettings settings;
  private final PostgresConnections connections;
  private final LeaseTerms terms;
  private final Lease lease;
  private final Runnable over;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition closes = lock.newCondition();
  private final Thread thread;
  private Optional<Connection> connection = Optional.empty();
  private boolean closing;

  /**
   * @param over called before the one of the terms
   */
  LeaseKeeper(
      PostgresSettings settings,
      PostgresConnections connections,
      LeaseTerms terms,
      Lease lease,
      Runnable over) {
    this.settings = settings;
    this.connections = connections;
    this.terms = terms;
    this.lease = lease;
    this.over = over;
    this.thread = Thread.ofPlatform().daemon().name("writ-lease").start(this::run);
  }

  private void run() {
    while (pause() && !lease.isOver()) {
      renew();
    }
    drop();
    if (lease.isOver()) {
      over.run();
      terms.over().run();
    }
  }

  private void renew() {
    // Before anything is sent: the database may count from any moment after this one.
    long sentAt = terms.elapsed().getAsLong();
    try {
      if (connection.isEmpty()) {
        Connection opened = connections.openForLeases(every());
        connection = Optional.of(opened);
        OpenWriters.requireNotOlder(settings, opened);
      }
      if (!CellLease.renew(connection.get(), settings.cell(), lease.epoch(), terms.length())) {
        lease.end();
      } else {
        lease.renewed(sentAt);
      }
    } catch (SQLException | RuntimeException e) {
      // Also where its password cannot be read just now: whoever owns the lease has to be told of
      // its end in any case.
      drop(); // and again, until the lease is over
    }
  }

  /** Waits until the next renewal is due, or the lease is over; false where this closes. */
  private boolean pause() {
    lock.lock();
    try {
      long nanos = Math.min(every().toNanos(), Math.max(0, lease.left().toNanos()));
      while (nanos > 0 && !closing) {
        nanos = closes.awaitNanos(nanos);
      }
      return !closing;
    } catch (InterruptedException e) {
      return false; // nobody interrupts it on purpose
    } finally {
      lock.unlock();
    }
  }

  private Duration every() {
    return terms.length().dividedBy(RENEWALS);
  }

  private void drop() {
    connection.ifPresent(open -> {
      try {
        open.close();
      } catch (SQLException e) {
        // It is given up anyway.
      }
    });
    connection = Optional.empty();
  }

  /** Renews no more; the lease is over then for whoever looks at it. */
  @Override
  public void close() {
    lock.lock();
    try {
      closing = true;
      closes.signal();
    } finally {
      lock.unlock();
    }
    if (Thread.currentThread() != thread) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    lease.end();
  }
}
