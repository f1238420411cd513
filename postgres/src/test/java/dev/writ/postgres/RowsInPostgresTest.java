package dev.writ.postgres;

import dev.writ.ledger.storage.Database;
import dev.writ.storage.StorageContract;

/** The contract on a real server; each case has a cell of its own in the same tables. */
class RowsInPostgresTest extends StorageContract {
  @Override
  protected Database database() {
    return PostgresServer.shared().newDatabase();
  }
}
