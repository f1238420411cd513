package dev.writ.storage;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.MemoryStorage;
import dev.writ.ledger.storage.Storage;

/** The contract on rows in memory. */
class RowsInMemoryTest extends StorageContract {
  @Override
  protected Database database() {
    return new Database() {
      private MemoryStorage last = new MemoryStorage();

      @Override
      public Storage create() {
        return last;
      }

      @Override
      public Storage open() {
        if (isOpen()) {
          throw new WritException(LedgerError.LOCKED, "");
        }
        last = last.snapshot();
        return last;
      }

      private boolean isOpen() {
        try {
          last.has(Family.DEFAULT, new byte[0]);
          return true;
        } catch (WritException e) {
          return false;
        }
      }

      @Override
      public Storage openReader() {
        return last.snapshot();
      }
    };
  }
}
