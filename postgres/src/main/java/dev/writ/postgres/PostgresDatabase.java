package dev.writ.postgres;

import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Storage;

/**
 * A cell of a PostgreSQL database: the place of one log.
 *
 * @param origin the log's name; a cell belongs to one log for ever
 * @param owner names this server to whoever is refused because of it
 */
public record PostgresDatabase(PostgresSettings settings, int cell, String origin, String owner)
    implements Database {

  @Override
  public Storage create() {
    return PostgresStorage.create(settings, cell, origin, owner);
  }

  @Override
  public Storage open() {
    return PostgresStorage.open(settings, cell, origin, owner);
  }

  @Override
  public Storage openReader() {
    return PostgresStorage.openReader(settings, cell, origin);
  }
}
