package dev.writ.postgres;

import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.LeaseWatch;
import dev.writ.ledger.storage.Storage;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The place of one log in a PostgreSQL database, which may hold others beside it: each has a
 * number, its cell (spec/storage-postgres.md).
 */
public final class PostgresDatabase implements Database {
  private final PostgresSettings settings;
  private final String owner;

  /** Of the log that this object made. */
  private Optional<Long> created = Optional.empty();

  /**
   * @param owner names this server to whoever is refused because of it
   */
  public PostgresDatabase(PostgresSettings settings, String owner) {
    this.settings = settings;
    this.owner = owner;
  }

  /**
   * Makes an empty log, and the schema where there is none.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-001} where the cell was written to,
   *     {@code LED-003} while the session of another writer lives; {@code PGS-0xx} for a database
   *     that cannot be used
   */
  @Override
  public synchronized Storage create() {
    PostgresStorage storage = PostgresStorage.writing(settings, owner, true);
    created = storage.epoch();
    return storage;
  }

  @Override
  public synchronized void undoCreation() {
    created.ifPresent(
        epoch -> CellWriter.remove(settings, new PostgresConnections(settings), epoch));
    created = Optional.empty();
  }

  @Override
  public void undoCreation(long epoch) {
    CellWriter.remove(settings, new PostgresConnections(settings), epoch);
  }

  /**
   * A connection such as those that logs are read and written over; the caller closes it. For
   * measurements beside a log.
   */
  public static Connection connect(PostgresSettings settings) throws SQLException {
    return new PostgresConnections(settings).open(settings.patience());
  }

  /**
   * Takes the log over as its one writer. A writer before this one is refused from then on.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-002} without such a log, {@code LED-003}
   *     while the session of another writer lives, {@code LED-007} for a later format; {@code
   *     PGS-0xx} for a database that cannot be used
   */
  @Override
  public Storage open() {
    return PostgresStorage.writing(settings, owner, false);
  }

  /**
   * Takes the log over for a time. The session of an owner whose lease is over is ended.
   *
   * @throws dev.writ.canonicalize.WritException also {@code LED-077} while another has a lease
   */
  @Override
  public Storage open(LeaseTerms terms) {
    return PostgresStorage.owning(settings, terms);
  }

  @Override
  public LeaseWatch watch() {
    return new PostgresWatch(settings);
  }

  /**
   * Opens the log for reading, beside its writer or without one.
   *
   * @throws dev.writ.canonicalize.WritException {@code LED-002} or {@code LED-007}; {@code PGS-0xx}
   */
  @Override
  public Storage openReader() {
    return PostgresStorage.reading(settings);
  }
}
