package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.StoreView.Durable;
import dev.writ.ledger.merkle.Frontier;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/**
 * Turns a group of batches into one write: gives events their positions, grows the Merkle tree,
 * signs checkpoints. Used by one thread at a time.
 */
final class LogWriter implements Appender.GroupWriter {
  /** Makes a write durable or throws; tests substitute one that fails. */
  @FunctionalInterface
  interface Disk {
    void write(WriteBatch batch);
  }

  /** Bytes after which a process is taken for one that goes on writing. */
  private static final long LENGTHENED_AFTER = 1 << 20;

  /** As the database orders rows. */
  private static final Comparator<Batch.Row> BY_KEY =
      Comparator.comparing(Batch.Row::family)
          .thenComparing(Batch.Row::key, Arrays::compareUnsigned);

  private final Store store;
  private final Disk disk;
  private final String origin;
  private final SigningKey logKey;
  private final Blobs blobs;
  private final Uploads uploads;
  private final Runnable requireLock;
  private final Consumer<Durable> published;
  private Durable durable;

  /** Bytes that were written so far. */
  private long logged;

  LogWriter(
      Store store,
      Disk disk,
      String origin,
      SigningKey logKey,
      Durable durable,
      Blobs blobs,
      Uploads uploads,
      Runnable requireLock,
      Consumer<Durable> published) {
    this.store = store;
    this.disk = disk;
    this.origin = origin;
    this.logKey = logKey;
    this.durable = durable;
    this.blobs = blobs;
    this.uploads = uploads;
    this.requireLock = requireLock;
    this.published = published;
  }

  @Override
  public void write(List<Pending> group) {
    Optional<StorageStep> step = group.getFirst().step;
    if (step.isPresent()) {
      uploads.exclusively(() -> take(step.get()));
      return;
    }
    for (Pending pending : group) {
      pending.batch.ifPresent(batch -> batch.payloads().forEach(uploads::written));
    }
    try (WriteBatch write = new WriteBatch()) {
      Group next = new Group(write);
      for (Pending pending : group) {
        if (pending.batch.isPresent()) {
          next.add(pending.batch.get());
        } else {
          pending.sealed(next.checkpoint());
        }
      }
      commit(next);
    } catch (RocksDBException e) {
      throw Failures.of("gathering a write", e);
    }
    for (Pending pending : group) {
      pending.batch.ifPresent(batch -> {
        batch.held().forEach(blobs::release);
        batch.uploads().forEach(uploads::put);
      });
    }
  }

  private void commit(Group group) throws RocksDBException {
    group.gather();
    group.end();
    commit(group.write);
    durable =
        new Durable(group.frontier, group.time.latest(), group.time.floor(), group.incarnation);
    published.accept(durable);
  }

  private void commit(WriteBatch write) {
    requireLock.run();
    disk.write(write);
    requireLock.run(); // another writer may have opened the earlier state
    lengthenLogs(write.getDataSize());
  }

  /** Once in a process, and only in one that writes much: a command would only pay for it. */
  private void lengthenLogs(long written) {
    boolean isDue = logged < LENGTHENED_AFTER && logged + written >= LENGTHENED_AFTER;
    logged += written;
    if (isDue) {
      store.lengthenLogs();
    }
  }

  private void take(StorageStep step) {
    switch (step) {
      case StorageCollection collection -> collect(collection);
      case ContentDeletion deletion -> delete(deletion);
      case Purge purge -> purge(purge);
    }
  }

  /** The statement and the removal are one write: there is never one without the other. */
  private void delete(ContentDeletion deletion) {
    if (!deletion.decide()) {
      return;
    }
    try (WriteBatch write = new WriteBatch()) {
      Group next = new Group(write);
      next.add(deletion.statement());
      next.gather();
      deletion.remove(write);
      store.put(write, Store.Family.DEFAULT, StoreView.META_PURGE, new byte[0]);
      commit(next);
      deletion.done();
    } catch (RocksDBException e) {
      throw Failures.of("gathering a deletion", e);
    }
  }

  /**
   * Nothing is written while logs are cut off, so none is taken up again. The row is written again
   * before the tables are, so that they have something new and the log in use is left.
   */
  private void purge(Purge purge) {
    store.truncateObsoleteLogs();
    try (WriteBatch write = new WriteBatch()) {
      if (purge.isLast()) {
        store.delete(write, Store.Family.DEFAULT, StoreView.META_PURGE);
      } else {
        store.put(write, Store.Family.DEFAULT, StoreView.META_PURGE, new byte[0]);
      }
      commit(write);
    } catch (RocksDBException e) {
      throw Failures.of("gathering the end of a purge", e);
    }
  }

  private void collect(StorageCollection collection) {
    try (WriteBatch write = new WriteBatch()) {
      collection.decide(write);
      commit(write);
      collection.done();
    } catch (RocksDBException e) {
      throw Failures.of("gathering a collection", e);
    }
  }

  /** One write in the making. */
  private final class Group {
    private final WriteBatch write;

    /** Documents and blobs, and where large ones are. */
    private final List<Batch.Row> contents = new ArrayList<>();

    private final List<Batch.Row> tables = new ArrayList<>();
    private final TreeMap<ByteBuffer, Long> heads = new TreeMap<>();
    private final Frontier frontier = durable.frontier().copy();
    private final LogTime time = durable.time();
    private long incarnation = durable.incarnation();
    private Optional<Checkpoint> sealed = Optional.empty();

    Group(WriteBatch write) {
      this.write = write;
    }

    void add(Batch batch) throws RocksDBException {
      if (batch.restartsTime()) {
        restartTime(batch.entries().getFirst().event().at());
      }
      for (Batch.Entry entry : batch.entries()) {
        event(entry);
      }
      for (Batch.Row row : batch.rows()) {
        row(row);
      }
      if (batch.incarnation().isPresent()) {
        incarnation = batch.incarnation().getAsLong();
        put(Store.Family.DEFAULT, StoreView.META_INCARNATION, Keys.number(incarnation));
      }
    }

    private void event(Batch.Entry entry) throws RocksDBException {
      byte[] position = Keys.number(frontier.size());
      byte[] key = Keys.event(entry.runKey(), entry.event().seq());
      put(Store.Family.EVENTS, key, concat(position, entry.row()));
      put(Store.Family.LOG, position, logRow(frontier.append(entry.leaf()), key));
      heads.put(ByteBuffer.wrap(entry.runKey()), entry.event().seq());
      time.take(entry.event().at());
    }

    private void restartTime(Instant at) throws RocksDBException {
      byte[] before =
          store
              .get(Store.Family.DEFAULT, StoreView.META_TIME_RESTARTS)
              .orElseGet(() -> new byte[0]);
      put(
          Store.Family.DEFAULT,
          StoreView.META_TIME_RESTARTS,
          concat(before, Keys.number(frontier.size())));
      time.restart(at);
    }

    private void row(Batch.Row row) {
      (row.family() == Store.Family.TABLES ? tables : contents).add(row);
    }

    /**
     * Takes the rows of the batches so far into the write, in the order of their keys: the database
     * finds the place of a key much faster from that of one nearby, and most keys are digests.
     */
    void gather() throws RocksDBException {
      // Content is written once: an existing document keeps its first envelope, with its
      // signatures. The sort keeps the order of equal keys.
      contents.sort(BY_KEY);
      for (int i = 0; i < contents.size(); i++) {
        Batch.Row row = contents.get(i);
        boolean isFirst = i == 0 || BY_KEY.compare(contents.get(i - 1), row) != 0;
        if (isFirst && !store.has(row.family(), row.key())) {
          put(row.family(), row.key(), row.value());
        }
      }
      tables.sort(BY_KEY);
      for (int i = 0; i < tables.size(); i++) {
        Batch.Row row = tables.get(i);
        boolean isLast = i + 1 == tables.size() || BY_KEY.compare(row, tables.get(i + 1)) != 0;
        if (isLast && row.value() == null) {
          store.delete(write, row.family(), row.key());
        } else if (isLast) {
          put(row.family(), row.key(), row.value());
        }
      }
      contents.clear();
      tables.clear();
    }

    /** Signs a checkpoint after the batches so far; once for each size. */
    Checkpoint checkpoint() throws RocksDBException {
      long size = frontier.size();
      Optional<Checkpoint> known = sealed.filter(c -> c.size() == size).or(() -> stored(size));
      if (known.isPresent()) {
        return known.get();
      }
      Checkpoint signed = Checkpoint.sign(origin, size, frontier.root(), logKey);
      put(Store.Family.CHECKPOINTS, Keys.number(size), signed.toBytes());
      sealed = Optional.of(signed);
      return signed;
    }

    /** The existing checkpoint, unless it was signed by another key, before a rotation. */
    private Optional<Checkpoint> stored(long size) {
      return store
          .get(Store.Family.CHECKPOINTS, Keys.number(size))
          .map(Checkpoint::parse)
          .filter(checkpoint -> {
            try {
              checkpoint.verify(origin, logKey.verifyingKey());
              return checkpoint.root().equals(frontier.root());
            } catch (WritException e) {
              return false;
            }
          });
    }

    void end() throws RocksDBException {
      for (Map.Entry<ByteBuffer, Long> head : heads.entrySet()) {
        put(Store.Family.RUNS, head.getKey().array(), Keys.number(head.getValue()));
      }
      if (!time.latest().equals(durable.highWater())) {
        put(
            Store.Family.DEFAULT,
            StoreView.META_HIGH_WATER,
            Keys.number(time.latest().toEpochMilli()));
      }
    }

    private void put(Store.Family family, byte[] key, byte[] value) throws RocksDBException {
      store.put(write, family, key, value);
    }
  }

  private static byte[] logRow(List<Digest> nodes, byte[] eventKey) {
    ByteBuffer row = ByteBuffer.allocate(nodes.size() * Digest.LENGTH + eventKey.length);
    nodes.forEach(node -> row.put(node.bytes()));
    return row.put(eventKey).array();
  }

  private static byte[] concat(byte[] first, byte[] second) {
    return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
  }
}
