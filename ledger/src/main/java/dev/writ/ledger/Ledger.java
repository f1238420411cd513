package dev.writ.ledger;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.content.Blobs;
import dev.writ.ledger.content.ContentPlaces;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.disk.FailStop;
import dev.writ.ledger.disk.FailStopDisk;
import dev.writ.ledger.disk.WriterLock;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.seal.ContentKeys;
import dev.writ.ledger.seal.ContentOwner;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Lease;
import dev.writ.ledger.storage.LeaseTerms;
import dev.writ.ledger.storage.Storage;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The journal, the content-addressed store and the Merkle log, embedded: the one writer of a data
 * directory. Safe for use by many threads. It knows nothing of what its documents mean.
 */
public final class Ledger extends StoreView implements RunJournal {
  /**
   * Table of deleted contents: digest (64 hexadecimal digits), {@link Keys#SEPARATOR}, and what the
   * caller adds → id of the document that states the deletion. {@link Fsck} reads it.
   */
  public static final String DELETED = "deleted";

  private final Path dir;
  private final Appender appender;
  private final Anchors anchors;
  private final AnchorKeeper anchorKeeper;
  private final LogWriter writer;
  private final FailStop failStop;
  private final WriterLock lock;
  private final Uploads uploads;
  private final ReentrantLock collecting = new ReentrantLock();
  private volatile Durable durable;
  private volatile Runnable alsoRequired = () -> {};

  /** Guarded by {@link #collecting}. */
  private boolean sweptContents;

  Ledger(
      LedgerConfig config,
      Storage store,
      WriterLock lock,
      UnaryOperator<LogWriter.Disk> seam,
      Workers workers) {
    FailStop failStop = new FailStop();
    DurableFiles files = new DurableFiles(new FailStopDisk(config.disk(), failStop));
    super(
        store,
        new Blobs(
            store,
            ContentPlaces.home(config.dir()),
            files,
            failStop,
            ContentPlaces.of(files, failStop, config.dir()),
            ContentKeys.beside(files, config.dir(), config.secrets())));
    this.dir = config.dir();
    this.failStop = failStop;
    this.lock = lock;
    if (!origin().equals(config.origin())) {
      throw new WritException(LedgerError.ORIGIN, "it is " + origin() + ", not " + config.origin());
    }
    durable = Durable.load(store);
    uploads = Uploads.load(this);
    writer =
        new LogWriter(
            store,
            seam.apply(store::write),
            config.origin(),
            config.logKey(),
            durable,
            blobs,
            uploads,
            lock::requireHeld,
            this::publish);
    appender =
        new Appender(
            writer,
            new Heads(this, durable.time()),
            failStop,
            workers.appender(),
            !store.isInterruptible());
    anchors = new Anchors(files, config.anchor(), blobs.contents().anchor());
    anchorKeeper =
        new AnchorKeeper(
            anchors,
            anchor -> anchor.verify(this, true),
            config.origin(),
            config.clock(),
            lock::requireHeld,
            failStop,
            workers);
  }

  /**
   * Makes a ledger and its anchor, and opens it.
   *
   * @throws WritException {@code LED-001} where the directory has something in it or the anchor
   *     exists, {@code LED-004}, {@code LED-005} or {@code LED-008} where the disk refuses; nothing
   *     is left behind then
   */
  public static Ledger create(LedgerConfig config) {
    return create(config, databaseOf(config), Optional.empty(), Optional.empty());
  }

  /**
   * The same with a database elsewhere, which the directory names from then on.
   *
   * @throws WritException as {@link #create(LedgerConfig)}, {@code LED-075}, and what the provider
   *     of such databases refuses
   */
  public static Ledger create(LedgerConfig config, URI address) {
    return create(config, address, Optional.empty());
  }

  /**
   * The same with large contents elsewhere, too.
   *
   * @param contents the address of a store that no installation uses; the directory without it
   * @throws WritException also {@code LED-081}, {@code LED-084}, and what the provider of such
   *     stores refuses
   */
  public static Ledger create(LedgerConfig config, URI address, Optional<URI> contents) {
    return create(
        config,
        Databases.at(config.files(), config.dir(), address),
        Optional.of(address),
        contents);
  }

  private static Database databaseOf(LedgerConfig config) {
    return Databases.of(config.files(), config.dir());
  }

  private static Ledger create(
      LedgerConfig config, Database database, Optional<URI> address, Optional<URI> contents) {
    LedgerMaker.make(config, database, address, contents);
    return open(config, database);
  }

  /** For tests: with a database that the directory does not name. */
  static Ledger create(LedgerConfig config, Database database) {
    return create(config, database, Optional.empty(), Optional.empty());
  }

  /** For tests: with a database that the directory does not name, and contents elsewhere. */
  static Ledger create(LedgerConfig config, Database database, URI contents) {
    return create(config, database, Optional.empty(), Optional.of(contents));
  }

  /**
   * Opens a ledger as its one writer, and sweeps away blobs that no batch came to name.
   *
   * @throws WritException {@code LED-002} missing, {@code LED-003} locked, {@code LED-004} no
   *     permission, {@code LED-006} damaged, {@code LED-007} a later format, {@code LED-009}
   *     another log's; {@code LED-010} without its anchor, {@code LED-011} behind it, {@code
   *     LED-012} or {@code LED-013} for an anchor that is none
   */
  public static Ledger open(LedgerConfig config) {
    return open(config, databaseOf(config));
  }

  /**
   * Opens it for a time, as a gateway that shares it with others does: {@link Database#open(
   * LeaseTerms)}.
   *
   * @throws WritException also {@code LED-077} while another gateway has a lease, {@code LED-078}
   *     where the database knows none, {@code LED-082} where large contents are in a home
   */
  public static Ledger open(LedgerConfig config, LeaseTerms terms) {
    if (ContentPlaces.address(config.dir()).isEmpty()) {
      throw new WritException(LedgerError.CONTENTS_NOT_SHARED, "they are in this home");
    }
    return LedgerOpening.of(config, databaseOf(config)).under(terms).started();
  }

  /** With a database that the directory need not name. */
  static Ledger open(LedgerConfig config, Database database) {
    return LedgerOpening.of(config, database).started();
  }

  /** For tests: wraps the disk under the appender. */
  static Ledger open(LedgerConfig config, UnaryOperator<LogWriter.Disk> seam) {
    return LedgerOpening.of(config, databaseOf(config)).with(seam).started();
  }

  /**
   * For the simulation: with other locks and threads than the machine's.
   *
   * @param config whose paths may lead to another file system than the host's
   */
  static Ledger over(
      Database database, LedgerConfig config, WriterLock.Host host, Workers workers) {
    return LedgerOpening.over(config, database, host, workers).started();
  }

  /** Begins to write. */
  void start() {
    Format.upgrade(blobs.files(), dir);
    blobs.sweep();
    appender.start();
    anchorKeeper.start();
  }

  /**
   * Opens a ledger for reading; its writer may be at work in another process. {@link
   * LedgerView#refresh} brings it up to date.
   *
   * @throws WritException {@code LED-002}, {@code LED-004}, {@code LED-006} or {@code LED-007}
   */
  public static LedgerView openReadOnly(Path dir) {
    Path absolute = dir.toAbsolutePath().normalize();
    return openReadOnly(absolute, Databases.of(DurableFiles.REAL, absolute));
  }

  /** With a database that the directory need not name. */
  static LedgerView openReadOnly(Path dir, Database database) {
    return ReadOnlyLedger.open(database, dir);
  }

  /**
   * Loads the native libraries, without opening a ledger.
   *
   * @throws WritException {@code CAN-058}
   */
  public static void loadLibrary() {
    RocksStorage.loadLibrary();
  }

  /**
   * Begins the next incarnation of a ledger that was put back from a backup, or has lost its
   * anchor: the only way to open such a ledger again (protocol rule 27). Intents of the earlier
   * incarnation are void.
   *
   * @return the new incarnation
   * @throws WritException as {@link #open}, but for {@code LED-010} and {@code LED-011}
   */
  public static long nextIncarnation(LedgerConfig config) {
    return nextIncarnation(config, (view, incarnation) -> new Batch());
  }

  /** Makes the batch that is committed with a new incarnation: the events that record it. */
  @FunctionalInterface
  public interface Incarnating {
    Batch batch(Ledger ledger, long incarnation);
  }

  /**
   * As {@link #nextIncarnation(LedgerConfig)}, with a batch that is committed in the same write.
   */
  public static long nextIncarnation(LedgerConfig config, Incarnating incarnating) {
    return LedgerIncarnation.begin(config, (_, _) -> {}, incarnating);
  }

  /**
   * Sets the log's time back, for a log whose time ran ahead. Begins the next incarnation as well,
   * so that earlier intents are void.
   *
   * @param restarting makes the batch that is committed with it; the log's time continues from that
   *     of its first event
   * @return the new incarnation
   * @throws WritException as {@link #open}; one that a crash interrupted can be repeated
   */
  public static long restartTime(LedgerConfig config, Incarnating restarting) {
    return LedgerIncarnation.begin(
        config,
        LedgerIncarnation::requireNothingLost,
        (ledger, incarnation) -> restarting.batch(ledger, incarnation).restartingTime());
  }

  /** Whether other homes, each with an anchor of its own, may have this log. */
  boolean hasOtherHomes() {
    return blobs.contents().isShared();
  }

  /**
   * Enqueues a batch and returns at once; the order of calls is the order of commits. Events are
   * checked against the head of their run, enqueued batches included.
   *
   * @throws WritException {@code LED-020} where an event does not continue its run, {@code LED-060}
   *     where its time lies too far back, {@code LED-022} after a failure, {@code LED-023} after
   *     closing, {@code LED-024} where too much waits, {@code LED-025} for a batch that was used:
   *     nothing of the batch is enqueued then
   */
  @Override
  public Commit append(Batch batch) {
    return appender.submit(Optional.of(batch));
  }

  @Override
  public Commit appendAwaited(Batch batch) {
    return appender.submitAwaited(batch);
  }

  @Override
  public void requireSound() {
    failStop.require();
  }

  @Override
  public void requireLease() {
    store.lease().ifPresent(Lease::require);
    alsoRequired.run();
  }

  /**
   * Has {@link #requireLease} require something more: that what is in force elsewhere was seen
   * here, for example.
   *
   * @param condition throws where it does not hold
   */
  public void alsoRequire(Runnable condition) {
    alsoRequired = condition;
  }

  /** The epoch of the lease under which it is open; empty where it is open without one. */
  public Optional<Long> leaseEpoch() {
    return store.lease().map(Lease::epoch);
  }

  /** How long something may still be dispatched under that lease. */
  public Optional<Duration> leaseLeft() {
    return store.lease().map(Lease::left);
  }

  /** The last event of a run, enqueued ones included: what the next event continues. */
  public Optional<Event> pendingHead(RunId run) {
    return appender.pendingHead(run);
  }

  /** Accepts content of any size, which {@link Batch#blob(BlobRef)} then names. */
  public BlobSink newBlob() {
    return newBlob(Optional.empty());
  }

  /**
   * The same, sealed.
   *
   * @param owner under whose key; absent: in the clear
   */
  public BlobSink newBlob(Optional<ContentOwner> owner) {
    return new BlobSink(blobs, Optional.empty(), owner);
  }

  /**
   * Accepts a tenant's upload, which {@link Batch#upload} then names; close it after that batch is
   * committed. Until then the bytes received so far count against the quota.
   *
   * @param quota bytes of all the tenant's uploads together
   * @throws WritException {@code LED-080} here and from every write that would exceed the quota
   */
  public BlobSink newUpload(String tenant, long quota) {
    return newUpload(tenant, quota, Optional.empty(), Optional.empty());
  }

  /**
   * The same, sealed.
   *
   * @param owner under whose key; absent: in the clear
   * @param content what comes, where the caller knows it and lets nothing else be finished: what
   *     the tenant has put before counts once, also while it comes again
   */
  public BlobSink newUpload(
      String tenant, long quota, Optional<ContentOwner> owner, Optional<Digest> content) {
    return new BlobSink(blobs, Optional.of(uploads.reserve(tenant, quota, content)), owner);
  }

  /** The sealed copies of a content, whether their keys are here or not. */
  public List<SealedCopy> copies(Digest content) {
    return blobs.copies(content);
  }

  /** Whether a content is here without a seal. */
  public boolean isInTheClear(Digest content) {
    return blobs.hasPlain(content);
  }

  /** The keys of sealed contents. */
  public ContentKeys contentKeys() {
    return blobs.keys();
  }

  /** Keeps blobs from being collected until it is closed. */
  public interface Pin extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * Keeps these blobs from being collected, if they exist. A blob that is found after this call
   * stays until the pin is closed.
   */
  public Pin pin(Collection<Digest> digests) {
    return digests.isEmpty() ? () -> {} : uploads.pin(digests);
  }

  /** The storage that each tenant uses. */
  public SortedMap<String, StorageUse> storageUse() {
    return uploads.used();
  }

  /**
   * The result of a collection.
   *
   * @param claims uploads that their tenants may not read any more
   * @param blobs contents that are gone
   * @param bytes of these contents
   */
  public record Collected(long claims, long blobs, long bytes) {
    public static final Collected NOTHING = new Collected(0, 0, 0);
  }

  /**
   * Removes uploads that are older than a time and that neither a stored document mentions nor a
   * request at work uses ({@link #pin}). If there is a candidate it reads every document, while
   * other work goes on; one collection runs at a time.
   *
   * @param max how many uploads are examined
   * @param references the tables whose rows let a tenant read a blob; their keys are the tenant,
   *     {@link Keys#SEPARATOR} and the digest's hexadecimal digits, and may have further parts
   */
  public Collected collect(Instant before, int max, List<String> references) {
    collecting.lock();
    try {
      if (!sweptContents) {
        blobs.sweepShared();
        sweptContents = true;
      }
      List<String> candidates = uploads.unnamedBefore(before, max);
      if (candidates.isEmpty()) {
        return Collected.NOTHING;
      }
      StorageCollection collection =
          new StorageCollection(store, blobs, uploads, candidates, before, references);
      uploads.watch(Optional.of(collection.mentions()));
      try {
        // Documents enqueued before the watch began are durable after this, so that they are read.
        appender.submit(Optional.of(new Batch())).await();
        collection.mark();
        appender.submit(collection).await();
      } finally {
        uploads.watch(Optional.empty());
      }
      collection.removeContents();
      StorageCollection.Found found = collection.found();
      return new Collected(found.claims().size(), found.blobs().size(), found.bytes());
    } finally {
      collecting.unlock();
    }
  }

  /**
   * The statement of a deletion, and how it is enqueued.
   *
   * @param batch the events and documents that state the deletion; they are written with it. Their
   *     run has nothing but such statements, which need no content
   * @param ordered enqueues it, in whatever order to other work it has to keep
   */
  public record Deletion(Batch batch, Function<Supplier<Commit>, Commit> ordered) {}

  /**
   * Deletes contents together with the signed statement of it, in one write, unless anything needs
   * one of them. {@link #purge} then removes their bytes from the disk.
   *
   * @param searchedTo the size of the log in which the caller found that nothing needs them; what
   *     was written since is searched here
   * @param claimedBefore a tenant's upload that was put later keeps its content
   * @return contents that something needs: if there are any, nothing was deleted
   * @throws WritException as {@link #append}
   */
  public SortedSet<Digest> delete(
      Collection<Digest> contents, long searchedTo, Instant claimedBefore, Deletion statement) {
    return remove(
        contents.stream().map(Removal::everywhere).toList(), searchedTo, claimedBefore, statement);
  }

  /**
   * What of a content is removed.
   *
   * @param plain whether it is, where it lies in the clear
   * @param tenant whose copies and uploads alone may go; absent: anybody's
   * @param copies which of its sealed copies go
   */
  public record Removal(
      Digest content, boolean plain, Optional<String> tenant, Predicate<SealedCopy> copies) {
    static Removal everywhere(Digest content) {
      return new Removal(content, true, Optional.empty(), _ -> true);
    }

    boolean takes(SealedCopy copy) {
      return tenant.filter(t -> !t.equals(copy.owner().tenant())).isEmpty() && copies.test(copy);
    }
  }

  /** The same, where some of a content may stay. */
  public SortedSet<Digest> remove(
      Collection<Removal> contents, long searchedTo, Instant claimedBefore, Deletion statement) {
    collecting.lock();
    try {
      ContentDeletion deletion =
          new ContentDeletion(
              store, blobs, uploads, contents, claimedBefore, statement.batch(), appender::place);
      uploads.watch(Optional.of(deletion.mentions()));
      try {
        // Documents enqueued before the watch began are durable after this, so that they are read.
        appender.submit(Optional.of(new Batch())).await();
        Optional<RunId> stating =
            statement.batch().entries().stream().findFirst().map(Batch.Entry::runId);
        eventsByIndex(
            searchedTo,
            treeSize(),
            (_, event) -> {
              // Of many steps each would read all that those before it stated.
              if (stating.filter(event.runId()::equals).isEmpty()) {
                deletion.look(event, document(event.body()).map(envelope -> envelope.payload()));
              }
            });
        statement.ordered().apply(() -> appender.submit(deletion)).await();
      } finally {
        uploads.watch(Optional.empty());
      }
      SortedSet<Digest> needed = deletion.needed();
      if (needed.isEmpty()) {
        deletion.removeContents();
      }
      return needed;
    } finally {
      collecting.unlock();
    }
  }

  /**
   * Removes the bytes of deleted contents from the database's files, if there may be any: what it
   * keeps of deleted rows in tables and in write-ahead logs. Repeats what a crash interrupted. It
   * rewrites the tables of small contents; other work goes on meanwhile.
   */
  public void purge() {
    collecting.lock();
    try {
      if (isPurgePending()) {
        // It has the deleted contents, too; and since the deletion is an event, it is of no use.
        WayBack.remove(dir);
        appender.submit(new Purge(false)).await();
        store.forgetDeleted();
        appender.submit(new Purge(true)).await();
      }
    } finally {
      collecting.unlock();
    }
  }

  /** Its anchors, which the keeper moves. */
  Anchors anchors() {
    return anchors;
  }

  /** The id of the key that signs checkpoints. */
  public String logKid() {
    return writer.logKid();
  }

  /** Signs checkpoints with another key from now on. That it may is for the caller to know. */
  public void signWith(SigningKey logKey) {
    writer.signWith(logKey);
  }

  /**
   * Signs the log as it is behind everything enqueued so far, and returns when that is durable. The
   * same size is signed once.
   *
   * @throws WritException as {@link Commit#await}
   */
  public Checkpoint checkpoint() {
    return appender.submit(Optional.empty()).awaitCheckpoint().orElseThrow();
  }

  /**
   * The root of a checkpoint, signed for receipts of COSE; empty where another key signed the
   * checkpoint than the one that signs now.
   *
   * @throws WritException {@code LED-042} where this log has another root at its size
   */
  public Optional<SignedRoot> signed(Checkpoint checkpoint) {
    if (!root(checkpoint.size()).equals(checkpoint.root())) {
      throw new WritException(
          LedgerError.PROOF_ROOT,
          "a checkpoint of size " + checkpoint.size() + " is not this log's");
    }
    return writer.signed(checkpoint);
  }

  private void publish(Durable now) {
    durable = now;
    anchorKeeper.follow(now);
  }

  /** Brings the anchor up to what is durable. */
  void bringAnchorUp() {
    anchorKeeper.follow(durable);
  }

  @Override
  Durable durable() {
    return durable;
  }

  /** Does nothing: a writer sees what it has committed. */
  @Override
  public void refresh() {}

  /** Registers an observer of every write. */
  public void observe(CommitObserver observer) {
    appender.observe(observer);
  }

  /**
   * Registers a listener for the failure that stops the ledger. It is called in the thread that
   * failed, or at once if the ledger has already stopped. It must be quick and must not close the
   * ledger.
   */
  public void whenStopped(Consumer<WritException> listener) {
    failStop.listen(listener);
  }

  /** How many batches wait to be written. */
  public int commitsWaiting() {
    return appender.waiting();
  }

  /**
   * Writes waiting batches, then the anchor, and closes. Further calls do nothing.
   *
   * @throws WritException {@code LED-014} where the anchor could not be written, {@code LED-071}
   *     where the lock was lost; it is closed then
   */
  @Override
  public void close() {
    try {
      appender.close();
      anchorKeeper.close();
    } finally {
      blobs.close();
      store.close();
      lock.close();
    }
  }
}
