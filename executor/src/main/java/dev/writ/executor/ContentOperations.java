package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.error.StoreFailure;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.retention.RetentionPlan;
import dev.writ.executor.retention.Sealing;
import dev.writ.executor.stage.KernelTime;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.limit.StorageLimits;
import dev.writ.ledger.Batch;
import dev.writ.ledger.BlobSink;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.StorageUse;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.seal.ContentOwner;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What is done with contents beside requests: uploads, orders of erasure, retention and the
 * archive. Thread safe; see {@link Kernel#contents}.
 */
public final class ContentOperations {
  /** How many uploads one collection examines at most. */
  private static final int COLLECTED_MAX = 10_000;

  private final Ledger ledger;
  private final KernelTime time;
  private final StateGate inForce;
  private final KernelSigningKeys ownKeys;
  private final ContentRetention retention;
  private final AwaitedReceipts awaited;
  private final Supplier<CellRules> cell;
  private final Consumer<RunId> cover;
  private final AccountSummaries summaries;
  private volatile ArchivedContents archived = ArchivedContents.none();
  private volatile Consumer<ContentRetention.Deleted> rulesApplied = _ -> {};

  /**
   * @param cover makes a checkpoint over what a run has, where none covers it
   */
  ContentOperations(
      Ledger ledger,
      KernelTime time,
      StateGate inForce,
      KernelSigningKeys ownKeys,
      ContentRetention retention,
      AwaitedReceipts awaited,
      Supplier<CellRules> cell,
      Consumer<RunId> cover,
      AccountSummaries summaries) {
    this.ledger = ledger;
    this.time = time;
    this.inForce = inForce;
    this.ownKeys = ownKeys;
    this.retention = retention;
    this.awaited = awaited;
    this.cell = cell;
    this.cover = cover;
    this.summaries = summaries;
  }

  /** Registers what is told of each application of the rules of retention, whoever had it. */
  public void whenRulesApplied(Consumer<ContentRetention.Deleted> listener) {
    rulesApplied = listener;
  }

  /** Puts content into a tenant's store, streamed, for everybody in it. */
  public Content put(String tenant, InputStream content, String mediaType) {
    return put(tenant, Tables.EVERYBODY, content, mediaType);
  }

  /**
   * The same for one subject: another one cannot name it by its digest. It counts against the
   * tenant's quota from its first byte, and is collected where no document comes to name it.
   *
   * @throws WritException {@code LED-080} where it is more than policy's {@code storage} allows,
   *     {@code EXE-990} where another cell has the tenant
   */
  public Content put(String tenant, String subject, InputStream content, String mediaType) {
    return put(tenant, subject, content, mediaType, Optional.empty());
  }

  /**
   * The same of a content whose digest the caller knows: sent again, as after an answer that was
   * lost, it is taken also where the quota is full.
   *
   * @param known the stream throws before its end where it has another digest
   */
  public Content put(
      String tenant,
      String subject,
      InputStream content,
      String mediaType,
      Optional<Digest> known) {
    cell.get().requireTenant(tenant);
    StorageLimits limits = system().policyInForce().storage();
    Optional<ContentOwner> owner = Sealing.ownerOfUpload(system().policyInForce(), tenant, subject);
    try (BlobSink sink = ledger.newUpload(tenant, limits.bytesMax(), owner, known)) {
      content.transferTo((OutputStream) sink);
      BlobRef blob = sink.finish();
      Instant at = time.now(KernelTime.Reading.OUTSIDE);
      ledger
          .append(
              new Batch()
                  .upload(tenant, blob, at)
                  .put(
                      Tables.HELD,
                      Tables.key(tenant, blob.digest().hex(), subject, ""),
                      new byte[0]))
          .await();
      return new Content(blob.digest(), blob.size(), mediaType);
    } catch (IOException e) {
      throw StoreFailure.of(e);
    }
  }

  /** What each tenant has put into the store. */
  public SortedMap<String, StorageUse> storageUse() {
    return ledger.storageUse();
  }

  /** What one tenant has put into the store. */
  public StorageUse storageUse(String tenant) {
    return ledger.storageUse().getOrDefault(tenant, StorageUse.NONE);
  }

  /**
   * Removes uploads that no document names and that are older than policy's {@code storage} section
   * allows, and rows of accounts that are over.
   *
   * @param now the time by which their age is computed
   */
  public Ledger.Collected collect(Instant now) {
    summaries.deleteRowsThatAreOver();
    Instant before = now.minusSeconds(system().policyInForce().storage().unnamedS());
    return ledger.collect(before, COLLECTED_MAX, List.of(Tables.REFERENCE, Tables.HELD));
  }

  /** The order of erasure that a change of the system run is, if it is one. */
  static Optional<ErasureOrder> erasure(Envelope systemChange) {
    return Optional.of(systemChange)
        .filter(envelope -> envelope.payloadType().equals(SystemChange.TYPE))
        .map(envelope -> SystemChange.read(envelope.document()))
        .filter(change -> change.kind().equals(EventKind.CONTENTS_ERASED))
        .map(change -> ErasureOrder.read(change.detail()));
  }

  /** Holds win, also where one keeps a single run of the subject. */
  void requireErasable(Envelope systemChange, SystemState state) {
    Optional<ErasureOrder> order = erasure(systemChange);
    if (order.isEmpty()) {
      return;
    }
    if (awaited.isApart()) {
      throw new WritException(ExecutorError.ERASURE_APART, order.get().toString());
    }
    for (LegalHold hold : state.holds().values()) {
      if (hold.run().isPresent()
          && hold.tenant().equals(order.get().tenant())
          && hasRequestOf(new RunId(hold.tenant(), hold.run().get()), order.get())) {
        throw new WritException(
            ExecutorError.ERASURE_HELD,
            "the hold " + hold.name() + " keeps the run " + hold.run().get() + " of it");
      }
    }
  }

  private boolean hasRequestOf(RunId run, ErasureOrder order) {
    boolean[] found = {false};
    ledger.events(
        run,
        0,
        event -> {
          if (event.kind().equals(EventKind.REQUEST_RECEIVED)) {
            Request request = Request.read(ledger.document(event.body()).orElseThrow().document());
            found[0] |= order.covers(request.scope());
          }
        });
    return found[0];
  }

  /** What is stored from now on is not of the order. */
  void beginErasure(Envelope systemChange) {
    if (erasure(systemChange).isPresent()) {
      retention.beginErasure(underState(system()), systemChange.id(), time.latest());
    }
  }

  /**
   * Carries out the orders of erasure that are not, as far as nothing needs what they cover: the
   * statements are written, and the keys destroyed. A checkpoint covers the statements then.
   *
   * @param now the time of the events
   * @throws WritException {@code EXE-912}, {@code EXE-970}, {@code EXE-991}, {@code LED-098}
   */
  public ContentRetention.Erased erase(Instant now) {
    cell.get().requireCurrent(); // a hold may have been placed
    ContentRetention.Erased done = retention.erase(() -> deletingUnder(now), now);
    coverDeletions();
    return done;
  }

  private boolean isErasurePending() {
    return erasures().values().stream().anyMatch(Optional::isEmpty);
  }

  /** Orders of erasure, and when each was carried out; empty where it is not. */
  public SortedMap<Digest, Optional<Instant>> erasures() {
    TreeMap<Digest, Optional<Instant>> all = new TreeMap<>();
    system()
        .erasures()
        .keySet()
        .forEach(order -> all.put(order, ContentRetention.erasedAt(ledger, order)));
    return all;
  }

  /**
   * Carries out orders of erasure, then deletes contents as policy's section {@code retention}
   * says, with a signed statement of each deletion, and removes their bytes from the disk. A
   * checkpoint covers the statements then, so that bundles can show them.
   *
   * @param now the time by which ages are computed; it is that of the events
   * @throws WritException {@code EXE-912}, {@code EXE-970}, {@code EXE-991}
   */
  public ContentRetention.Run retain(Instant now) {
    if (isErasurePending()) {
      erase(now);
    }
    cell.get().requireCurrent(); // a hold may have been placed
    ContentRetention.Run done = retention.run(() -> deletingUnder(now), now);
    rulesApplied.accept(done.deleted());
    coverDeletions();
    return done;
  }

  /** What {@link #retain} would delete; changes nothing. */
  public RetentionPlan planRetention(Instant now) {
    SystemState state = system();
    return ContentRetention.plan(ledger, state.policyInForce(), state::isHeld, now);
  }

  /** Where contents of archived runs are read. */
  public ArchivedContents archivedContents() {
    return archived;
  }

  /** Has contents of archived runs be read there. */
  public void readArchived(ArchivedContents contents) {
    archived = contents;
  }

  /**
   * Removes contents of closed runs that the archive has, with signed statements of it. A
   * checkpoint covers the statements then, so that bundles can show them.
   *
   * @param bundles of the runs that are being archived: each was read back and verified
   * @param earlier the same of a run that was archived before
   * @param now the time of the events
   * @throws WritException {@code EXE-940}, {@code EXE-912}, {@code EXE-970}, {@code EXE-991}
   */
  public ContentRetention.Deleted archive(
      SortedMap<RunId, ArchivedBundle> bundles,
      Function<RunId, ArchivedBundle> earlier,
      Instant now) {
    cell.get().requireCurrent(); // a hold may have been placed
    ContentRetention.Deleted done =
        retention.archive(() -> deletingUnder(now), bundles, earlier, now);
    coverDeletions();
    return done;
  }

  /** What is in force, if this kernel may sign statements of deletion under it. */
  private ContentRetention.Under deletingUnder(Instant now) {
    SystemState state = system();
    ownKeys.require(state.trust(), now);
    return underState(state);
  }

  /** Makes the checkpoint over the statements, also over those of a run that did not come to it. */
  private void coverDeletions() {
    cover.accept(Deletion.RUN);
  }

  private ContentRetention.Under underState(SystemState state) {
    return new ContentRetention.Under(
        state.policyInForce(), state::isHeld, inForce.under(state), state.erasures());
  }

  private SystemState system() {
    return inForce.now();
  }
}
