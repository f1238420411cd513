package dev.writ.ledger;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.storage.Database;
import java.nio.file.Path;

/** Where a ledger's database is. */
final class Databases {
  private Databases() {}

  /** For reading and writing; a reader of RocksDB writes nothing into the directory. */
  static Database of(DurableFiles files, Path dir) {
    return new RocksDatabase(files, dir.resolve("db"));
  }
}
