package dev.writ.ledger;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Storage;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A reader beside a writer in another process, or without one. It sees what was durable when it was
 * opened or last refreshed, writes nothing into the ledger, and takes no lock of it.
 */
final class ReadOnlyLedger extends StoreView {
  private final ReentrantLock refreshing = new ReentrantLock();
  private volatile Durable durable;

  private ReadOnlyLedger(Storage store, Blobs blobs) {
    super(store, blobs);
    this.durable = Durable.load(store);
  }

  static ReadOnlyLedger open(Database database, Path dir) {
    Format.require(dir);
    Storage store = database.openReader();
    try {
      return new ReadOnlyLedger(store, Blobs.reading(store, dir));
    } catch (WritException e) {
      store.close();
      throw e;
    }
  }

  @Override
  Durable durable() {
    return durable;
  }

  @Override
  public void refresh() {
    refreshing.lock();
    try {
      store.catchUp();
      durable = Durable.load(store);
    } finally {
      refreshing.unlock();
    }
  }

  @Override
  public void close() {
    blobs.close();
    store.close();
  }
}
