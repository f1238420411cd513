package dev.writ.postgres;

import dev.writ.ledger.storage.Storage;
import dev.writ.storage.StorageContract;

/** The contract on a real server; each case has a cell of its own in the same tables. */
class RowsInPostgresTest extends StorageContract {
  private static final String ORIGIN = "writ.example/contract";

  @Override
  protected Place place() {
    PostgresServer server = PostgresServer.shared();
    int cell = server.newCell();
    return new Place() {
      @Override
      public Storage create() {
        return PostgresStorage.create(server.settings(), cell, ORIGIN, "first");
      }

      @Override
      public Storage open() {
        return PostgresStorage.open(server.settings(), cell, ORIGIN, "another");
      }

      @Override
      public void close() {}
    };
  }
}
