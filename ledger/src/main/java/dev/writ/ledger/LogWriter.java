package dev.writ.ledger;

import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.ledger.StoreView.Durable;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.LogTime;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.merkle.Frontier;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
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

/**
 * Turns a group of batches into one write: gives events their positions, grows the Merkle tree,
 * signs checkpoints. Used by one thread at a time.
 */
final class LogWriter implements Appender.GroupWriter {
  /** Makes a write durable or throws; tests substitute one that fails. */
  @FunctionalInterface
  interface Disk {
    void write(Write write, long size, long newSize);
  }

  /** Bytes after which a process is taken for one that goes on writing. */
  private static final long MUCH_BYTES = 1 << 20;

  /** As the database orders rows. */
  private static final Comparator<Batch.Row> BY_KEY =
      Comparing.by(
          Comparing.by(Batch.Row::family), (a, b) -> Arrays.compareUnsigned(a.key(), b.key()));

  private final Storage store;
  private final Disk disk;
  private final String origin;
  private volatile SigningKey logKey;

  /** What was signed last for receipts: those of a batch have one root. */
  private volatile Optional<SignedRoot> receipts = Optional.empty();

  private final Blobs blobs;
  private final Uploads uploads;
  private final Runnable requireLock;
  private final Consumer<Durable> published;
  private Durable durable;

  /** Bytes that were written so far. */
  private long logged;

  LogWriter(
      Storage store,
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

  String logKid() {
    return logKey.kid();
  }

  private boolean isSigned(Checkpoint checkpoint) {
    try {
      checkpoint.verify(origin, logKey.verifyingKey());
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  /** Empty where another key signed the checkpoint than the one that signs now. */
  Optional<SignedRoot> signed(Checkpoint checkpoint) {
    SigningKey key = logKey;
    Optional<SignedRoot> known = receipts.filter(root -> root.isOf(checkpoint, key));
    if (known.isPresent() || !isSigned(checkpoint)) {
      return known;
    }
    receipts = Optional.of(SignedRoot.sign(checkpoint, origin, key));
    return receipts;
  }

  /** Checkpoints from the next group on are signed with this key. */
  void signWith(SigningKey key) {
    logKey = key;
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
    try (Write write = store.newWrite()) {
      Group next = new Group(write);
      for (Pending pending : group) {
        if (pending.batch.isPresent()) {
          next.add(pending.batch.get());
        } else {
          pending.sealed(next.checkpoint());
        }
      }
      commit(next);
    }
    for (Pending pending : group) {
      pending.batch.ifPresent(batch -> {
        batch.held().forEach(blobs::release);
        batch.keysInUse().forEach(blobs.keys()::release);
        batch.uploads().forEach(uploads::put);
      });
    }
  }

  private void commit(Group group) {
    group.gather();
    group.end();
    commit(group.write, group.frontier.size());
    durable =
        new Durable(
            group.frontier,
            group.time.latest(),
            group.time.floor(),
            group.incarnation,
            group.oneNodeFrom);
    published.accept(durable);
  }

  private void commit(Write write, long newSize) {
    requireLock.run();
    disk.write(write, durable.frontier().size(), newSize);
    requireLock.run(); // another writer may have opened the earlier state
    expectMuch(write.bytes());
  }

  /** Once in a process, and only in one that writes much: a command would only pay for it. */
  private void expectMuch(long written) {
    boolean isDue = logged < MUCH_BYTES && logged + written >= MUCH_BYTES;
    logged += written;
    if (isDue) {
      store.expectMuch();
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
    try (Write write = store.newWrite()) {
      Group next = new Group(write);
      next.add(deletion.statement());
      next.gather();
      deletion.remove(write);
      write.put(Family.DEFAULT, MetaRow.PURGE.key(), new byte[0]);
      commit(next);
      deletion.done();
    }
  }

  /**
   * Nothing is written while logs are cut off, so none is taken up again. The row is written again
   * before the tables are, so that they have something new and the log in use is left.
   */
  private void purge(Purge purge) {
    store.forgetUnused();
    try (Write write = store.newWrite()) {
      if (purge.isLast()) {
        write.delete(Family.DEFAULT, MetaRow.PURGE.key());
      } else {
        write.put(Family.DEFAULT, MetaRow.PURGE.key(), new byte[0]);
      }
      commit(write, durable.frontier().size());
    }
  }

  private void collect(StorageCollection collection) {
    try (Write write = store.newWrite()) {
      collection.decide(write);
      commit(write, durable.frontier().size());
      collection.done();
    }
  }

  /** One write in the making. */
  private final class Group {
    private final Write write;

    /** Documents and blobs, and where large ones are. */
    private final List<Batch.Row> contents = new ArrayList<>();

    private final List<Batch.Row> tables = new ArrayList<>();
    private final TreeMap<ByteBuffer, Long> heads = new TreeMap<>();
    private final Frontier frontier = durable.frontier().copy();
    private final LogTime time = durable.time();
    private long incarnation = durable.incarnation();
    private long oneNodeFrom = durable.oneNodeFrom();
    private Optional<Checkpoint> sealed = Optional.empty();

    Group(Write write) {
      this.write = write;
    }

    void add(Batch batch) {
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
        put(Family.DEFAULT, MetaRow.INCARNATION.key(), Keys.number(incarnation));
      }
    }

    private void event(Batch.Entry entry) {
      byte[] position = Keys.number(frontier.size());
      byte[] key = Keys.event(entry.runKey(), entry.event().seq());
      put(Family.EVENTS, key, concat(position, entry.row()));
      if (frontier.size() < oneNodeFrom) {
        // A ledger of an earlier format: from this event on its rows are of ours.
        oneNodeFrom = frontier.size();
        put(Family.DEFAULT, MetaRow.ONE_NODE_FROM.key(), position);
      }
      put(Family.LOG, position, LogRow.of(frontier.append(entry.leaf()), key));
      heads.put(ByteBuffer.wrap(entry.runKey()), entry.event().seq());
      time.take(entry.event().at());
    }

    private void restartTime(Instant at) {
      byte[] before =
          store.get(Family.DEFAULT, MetaRow.TIME_RESTARTS.key()).orElseGet(() -> new byte[0]);
      put(
          Family.DEFAULT,
          MetaRow.TIME_RESTARTS.key(),
          concat(before, Keys.number(frontier.size())));
      time.restart(at);
    }

    private void row(Batch.Row row) {
      (row.family() == Family.TABLES ? tables : contents).add(row);
    }

    /**
     * Takes the rows of the batches so far into the write, in the order of their keys: the database
     * finds the place of a key much faster from that of one nearby, and most keys are digests.
     */
    void gather() {
      // Content is written once: an existing document keeps its first envelope, with its
      // signatures. The sort keeps the order of equal keys.
      contents.sort(BY_KEY);
      for (int from = 0, to; from < contents.size(); from = to) {
        to = from + 1;
        while (to < contents.size() && contents.get(to).family() == contents.get(from).family()) {
          to++;
        }
        putNew(contents.get(from).family(), contents.subList(from, to));
      }
      tables.sort(BY_KEY);
      for (int i = 0; i < tables.size(); i++) {
        Batch.Row row = tables.get(i);
        boolean isLast = i + 1 == tables.size() || BY_KEY.compare(row, tables.get(i + 1)) != 0;
        if (isLast && row.value() == null) {
          write.delete(row.family(), row.key());
        } else if (isLast) {
          put(row.family(), row.key(), row.value());
        }
      }
      contents.clear();
      tables.clear();
    }

    /** Puts the first of the rows with each key, where there is none with that key so far. */
    private void putNew(Family family, List<Batch.Row> sorted) {
      byte[] last = null;
      for (Batch.Row row : sorted) {
        if (last != null && Arrays.equals(last, row.key())) {
          continue;
        }
        last = row.key();
        if (family == Family.FILES && isPlacedAnew(row.key(), row.value())) {
          put(family, row.key(), row.value());
        } else {
          write.putNew(family, row.key(), row.value());
        }
      }
    }

    /** A content that was not at its place any more was stored again, at another one. */
    private boolean isPlacedAnew(byte[] key, byte[] row) {
      return Blobs.place(row).length > 0
          && !store.get(Family.FILES, key).map(known -> Arrays.equals(known, row)).orElse(false);
    }

    /** Signs a checkpoint after the batches so far; once for each size. */
    Checkpoint checkpoint() {
      long size = frontier.size();
      Optional<Checkpoint> known = sealed.filter(c -> c.size() == size).or(() -> stored(size));
      if (known.isPresent()) {
        return known.get();
      }
      Checkpoint signed = Checkpoint.sign(origin, size, frontier.root(), logKey);
      put(Family.CHECKPOINTS, Keys.number(size), signed.toBytes());
      sealed = Optional.of(signed);
      return signed;
    }

    /** The existing checkpoint, unless it was signed by another key, before a rotation. */
    private Optional<Checkpoint> stored(long size) {
      return store
          .get(Family.CHECKPOINTS, Keys.number(size))
          .map(Checkpoint::parse)
          .filter(checkpoint -> isSigned(checkpoint) && checkpoint.root().equals(frontier.root()));
    }

    void end() {
      for (Map.Entry<ByteBuffer, Long> head : heads.entrySet()) {
        put(Family.RUNS, head.getKey().array(), Keys.number(head.getValue()));
      }
      if (!time.latest().equals(durable.highWater())) {
        put(Family.DEFAULT, MetaRow.HIGH_WATER.key(), Keys.number(time.latest().toEpochMilli()));
      }
    }

    private void put(Family family, byte[] key, byte[] value) {
      write.put(family, key, value);
    }
  }

  private static byte[] concat(byte[] first, byte[] second) {
    return ByteBuffer.allocate(first.length + second.length).put(first).put(second).array();
  }
}
