package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A reader beside a writer in another process, or without one. It sees what was durable when it was
 * opened or last refreshed, writes nothing into the ledger, and takes no lock of it.
 */
final class ReadOnlyLedger extends StoreView {
  private final Path scratch;
  private volatile Durable durable;

  private ReadOnlyLedger(Store store, Blobs blobs, Path scratch) {
    super(store, blobs);
    this.scratch = scratch;
    this.durable = Durable.load(store);
  }

  static ReadOnlyLedger open(Path dir) {
    Format.require(dir);
    Path scratch;
    try {
      scratch = Files.createTempDirectory("writ-reader");
    } catch (IOException e) {
      throw Failures.of("making a scratch directory", e);
    }
    Store store = null;
    try {
      store = Store.openSecondary(dir.resolve("db"), scratch);
      return new ReadOnlyLedger(store, new Blobs(store, dir.resolve("blobs")), scratch);
    } catch (WritException e) {
      if (store != null) {
        store.close();
      }
      delete(scratch);
      throw e;
    }
  }

  private static void delete(Path scratch) {
    try {
      DurableFiles.deleteTree(scratch);
    } catch (IOException e) {
      throw Failures.of("removing " + scratch, e);
    }
  }

  @Override
  Durable durable() {
    return durable;
  }

  @Override
  public synchronized void refresh() {
    store.catchUp();
    durable = Durable.load(store);
  }

  @Override
  public synchronized void close() {
    store.close();
    if (Files.exists(scratch)) {
      delete(scratch);
    }
  }
}
