package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.LogTime;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.merkle.Frontier;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.merkle.NodeSource;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The reading side, shared by the writer and by readers in other processes. */
abstract sealed class StoreView implements LedgerView permits Ledger, ReadOnlyLedger {
  private static final String ORIGIN = "origin";

  private static final byte[] ALL = {};

  /**
   * The durable state, published as one object.
   *
   * @param floor time of the last restart of time; {@link Instant#MIN} where there was none
   * @param oneNodeFrom the position from which on rows of the log have one node ({@link LogRow})
   */
  record Durable(
      Frontier frontier, Instant highWater, Instant floor, long incarnation, long oneNodeFrom) {

    static Durable load(Storage store) {
      long size = store.last(Family.LOG).map(row -> Keys.number(row.key()) + 1).orElse(0L);
      // Read after the size: whoever sees a row of one node sees this one, too.
      long oneNodeFrom = LogRow.oneNodeFrom(store);
      return new Durable(
          Frontier.load(size, LogRow.nodes(store, oneNodeFrom)),
          Instant.ofEpochMilli(Keys.number(MetaRow.HIGH_WATER.read(store))),
          MetaRow.timeRestarts(store).reduce((_, last) -> last).stream()
              .mapToObj(index -> event(store, eventKey(store, index, oneNodeFrom)).at())
              .findFirst()
              .orElse(Instant.MIN),
          Keys.number(MetaRow.INCARNATION.read(store)),
          oneNodeFrom);
    }

    private static byte[] eventKey(Storage store, long index, long oneNodeFrom) {
      return LogRow.eventKey(index, oneNodeFrom, LogRow.read(store, index, oneNodeFrom));
    }

    LogTime time() {
      return LogTime.of(highWater, floor);
    }
  }

  final Storage store;
  final Blobs blobs;
  private final String origin;

  StoreView(Storage store, Blobs blobs) {
    this.store = store;
    this.blobs = blobs;
    // One read for both rows.
    Map<String, String> found = new TreeMap<>();
    store.scan(
        Family.DEFAULT,
        ALL,
        ALL,
        (key, value) -> {
          found.put(
              new String(key, StandardCharsets.UTF_8), new String(value, StandardCharsets.UTF_8));
          return true;
        });
    this.origin =
        Optional.ofNullable(found.get(ORIGIN)).orElseThrow(() -> MetaRow.ORIGIN.missing());
    ContentPlaces.requireSame(
        Optional.ofNullable(found.get(ContentPlaces.CONTENTS)), blobs.contents());
  }

  abstract Durable durable();

  private static Event parseEvent(byte[] key, byte[] eventRow) {
    try {
      return StoredForm.parseEvent(key, eventRow);
    } catch (WritException e) {
      throw new WritException(LedgerError.CORRUPT, "a stored event: " + e.getMessage(), e);
    }
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return store.get(Family.DOCUMENTS, id.bytes()).map(bytes -> StoredForm.document(id, bytes));
  }

  @Override
  public boolean hasDocument(Digest id) {
    return store.has(Family.DOCUMENTS, id.bytes());
  }

  @Override
  public void expect(Supplier<ExpectedRows> rows) {
    store.expect(() -> rows.get().names());
  }

  @Override
  public Optional<Event> head(RunId run) {
    byte[] key = Keys.run(run);
    return store.get(Family.RUNS, key).map(seq -> event(store, Keys.event(key, Keys.number(seq))));
  }

  private static Event event(Storage store, byte[] key) {
    return parseEvent(key, eventRow(store, key));
  }

  private static byte[] eventRow(Storage store, byte[] key) {
    return store
        .get(Family.EVENTS, key)
        .orElseThrow(() -> new WritException(LedgerError.CORRUPT, "an event's row is missing"));
  }

  @Override
  public Optional<Event> event(RunId run, long seq) {
    byte[] key = Keys.event(Keys.run(run), seq);
    return store.get(Family.EVENTS, key).map(row -> parseEvent(key, row));
  }

  @Override
  public void events(RunId run, long fromSeq, Consumer<Event> consumer) {
    byte[] key = Keys.run(run);
    store.scan(
        Family.EVENTS,
        key,
        Keys.event(key, Math.max(0, fromSeq)),
        (rowKey, row) -> {
          consumer.accept(parseEvent(rowKey, row));
          return true;
        });
  }

  @Override
  public void eventsByIndex(long fromIndex, long toIndex, EventVisitor visitor) {
    if (fromIndex < 0 || fromIndex > toIndex || toIndex > treeSize()) {
      throw new WritException(
          LedgerError.INDEX_RANGE, fromIndex + " to " + toIndex + " of " + treeSize());
    }
    long oneNodeFrom = durable().oneNodeFrom();
    store.scan(
        Family.LOG,
        ALL,
        Keys.number(fromIndex),
        (key, row) -> {
          long index = Keys.number(key);
          if (index >= toIndex) {
            return false;
          }
          visitor.event(index, event(store, LogRow.eventKey(index, oneNodeFrom, row)));
          return true;
        });
  }

  @Override
  public OptionalLong indexOf(RunId run, long seq) {
    return store
        .get(Family.EVENTS, Keys.event(Keys.run(run), seq))
        .map(row -> OptionalLong.of(Keys.number(row)))
        .orElse(OptionalLong.empty());
  }

  @Override
  public void runs(Consumer<RunId> consumer) {
    store.scan(
        Family.RUNS,
        ALL,
        ALL,
        (key, seq) -> {
          consumer.accept(Keys.run(key));
          return true;
        });
  }

  @Override
  public Optional<byte[]> get(String table, String key) {
    return store.get(Family.TABLES, Keys.table(table, key)).map(StoredForm::fromValue);
  }

  @Override
  public void scan(String table, String keyPrefix, RowVisitor visitor) {
    scan(table, keyPrefix, keyPrefix, visitor);
  }

  @Override
  public void scan(String table, String keyPrefix, String fromKey, RowVisitor visitor) {
    int keyAt = Keys.table(table, "").length;
    store.scan(
        Family.TABLES,
        Keys.table(table, keyPrefix),
        Keys.table(table, fromKey),
        (key, value) ->
            visitor.row(
                new String(key, keyAt, key.length - keyAt, StandardCharsets.UTF_8),
                StoredForm.fromValue(value)));
  }

  @Override
  public boolean hasBlob(Digest digest) {
    return blobs.has(digest);
  }

  @Override
  public long blobSize(Digest digest) {
    return blobs.size(digest);
  }

  @Override
  public byte[] blob(Digest digest, long bytesMax) {
    return blobs.read(digest, bytesMax);
  }

  @Override
  public InputStream openBlob(Digest digest) {
    return blobs.open(digest);
  }

  @Override
  public void requireKey(Digest digest) {
    blobs.requireKey(digest);
  }

  @Override
  public long treeSize() {
    return durable().frontier().size();
  }

  @Override
  public Digest root() {
    return durable().frontier().root();
  }

  @Override
  public Digest root(long size) {
    requireSize(size);
    return Merkle.root(nodes(), size);
  }

  @Override
  public MerkleProof inclusionProof(long index, long size) {
    requireSize(size);
    return Merkle.inclusionProof(nodes(), index, size);
  }

  @Override
  public MerkleProof consistencyProof(long size1, long size2) {
    requireSize(size2);
    return Merkle.consistencyProof(nodes(), size1, size2);
  }

  private NodeSource nodes() {
    return LogRow.nodes(store, durable().oneNodeFrom());
  }

  private void requireSize(long size) {
    if (size < 0 || size > treeSize()) {
      throw new WritException(LedgerError.INDEX_RANGE, "size " + size + " of " + treeSize());
    }
  }

  @Override
  public Optional<Checkpoint> latestCheckpoint() {
    return store.last(Family.CHECKPOINTS).map(row -> Checkpoint.parse(row.value()));
  }

  @Override
  public Optional<Checkpoint> checkpoint(long size) {
    return store.get(Family.CHECKPOINTS, Keys.number(size)).map(Checkpoint::parse);
  }

  @Override
  public Optional<Checkpoint> checkpointCovering(long size) {
    return store
        .atLeast(Family.CHECKPOINTS, Keys.number(size))
        .map(row -> Checkpoint.parse(row.value()));
  }

  @Override
  public void checkpoints(Consumer<Checkpoint> consumer) {
    store.scan(
        Family.CHECKPOINTS,
        ALL,
        ALL,
        (size, note) -> {
          consumer.accept(Checkpoint.parse(note));
          return true;
        });
  }

  @Override
  public long incarnation() {
    return durable().incarnation();
  }

  @Override
  public String origin() {
    return origin;
  }

  @Override
  public Instant highWater() {
    return durable().highWater();
  }

  @Override
  public boolean isUploadedSince(Digest content, Instant time) {
    boolean[] found = {false};
    scan(
        Uploads.TABLE,
        Uploads.key(content, ""),
        (_, row) -> {
          found[0] = !Uploads.Claim.parse(row).at().isBefore(time);
          return !found[0];
        });
    return found[0];
  }

  @Override
  public boolean isUploaded(Digest content, String tenant) {
    return get(Uploads.TABLE, Uploads.key(content, tenant)).isPresent();
  }

  @Override
  public boolean isPurgePending() {
    return store.has(Family.DEFAULT, MetaRow.PURGE.key());
  }

  @Override
  public List<Long> timeRestarts() {
    return MetaRow.timeRestarts(store).boxed().toList();
  }
}
