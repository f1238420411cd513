package dev.writ.ledger.rocks;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Storage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** RocksDB in a directory of the ledger's. */
public record RocksDatabase(DurableFiles files, Path dir) implements Database {

  @Override
  public Storage create() {
    try {
      files.createDirectory(dir);
    } catch (IOException e) {
      throw Failures.of("making " + dir, e);
    }
    return RocksStorage.create(dir);
  }

  @Override
  public void undoCreation() {
    try {
      if (Files.exists(dir)) {
        DurableFiles.deleteTree(dir);
      }
    } catch (IOException e) {
      throw Failures.of("removing " + dir, e);
    }
  }

  @Override
  public Storage open() {
    return RocksStorage.open(dir);
  }

  @Override
  public Storage openReader() {
    return RocksStorage.openReader(dir);
  }

  /** Where logs stay, everything in them is as its writer left it. */
  @Override
  public boolean isChangedByOpening() {
    ClosedLogs.requireWhole(dir);
    return !ClosedLogs.mayStay(dir);
  }

  @Override
  public List<Path> locks() {
    return List.of(dir, dir.resolve("LOCK"));
  }
}
