package dev.writ.ledger;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.rocks.RocksDatabase;
import dev.writ.ledger.storage.Database;
import dev.writ.storage.StorageContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract on RocksDB. */
class RowsInRocksDbTest extends StorageContract {
  @TempDir Path dir;

  @Override
  protected Database database() {
    return new RocksDatabase(DurableFiles.REAL, dir.resolve("db"));
  }
}
