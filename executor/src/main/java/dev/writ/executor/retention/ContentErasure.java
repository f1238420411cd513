package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.error.StoreFailure;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Batch;
import dev.writ.ledger.BlobSink;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.content.SealedCopy;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.seal.ContentKeys;
import dev.writ.ledger.seal.ContentOwner;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Carries out orders of erasure (spec/retention.md, Erasure). Each step may be repeated, so that a
 * crash between two of them loses nothing: the keys of an order are written down, then retired;
 * contents that others use get copies under others' keys; the statements are written together with
 * the removal of rows; when nothing lies under the keys any more they are destroyed. Not thread
 * safe.
 */
final class ContentErasure {
  private static final int ATTEMPTS_MAX = 16;

  private final Ledger ledger;
  private final DocumentSigner signer;
  private final int contentsMax;

  /**
   * @param signer the executor's
   * @param contentsMax how many contents are removed in one write
   */
  ContentErasure(Ledger ledger, DocumentSigner signer, int contentsMax) {
    this.ledger = ledger;
    this.signer = signer;
    this.contentsMax = contentsMax;
  }

  /** When an order was carried out; empty while it is not. */
  static Optional<Instant> doneAt(LedgerState ledger, Digest order) {
    return row(ledger, order).flatMap(ErasureRow::done);
  }

  private static Optional<ErasureRow> row(LedgerState ledger, Digest order) {
    return ledger.get(Tables.ERASURE, Tables.key(order)).map(ErasureRow::parse);
  }

  private void save(Digest order, ErasureRow row) {
    ledger.append(new Batch().put(Tables.ERASURE, Tables.key(order), row.toBytes())).await();
  }

  /**
   * Has what is stored from now on lie under other keys than those of the order. Done again, it
   * does nothing.
   */
  void begin(Digest id, ErasureOrder order, Policy policy, Instant now) {
    ContentKeys keys = ledger.contentKeys();
    ErasureRow row = row(ledger, id).orElseGet(() -> first(id, order, policy, now));
    if (row.done().isEmpty()) {
      row.keys().stream()
          .filter(key -> isCurrent(key.owner(), key.id()))
          .forEach(key -> keys.retire(key.owner()));
    }
  }

  private ErasureRow first(Digest id, ErasureOrder order, Policy policy, Instant now) {
    ErasureRow row =
        new ErasureRow(
            owners(id, order, policy, now).stream()
                .map(ledger.contentKeys()::current)
                .flatMap(Optional::stream)
                .map(key -> new ErasureRow.Key(key.owner(), key.id()))
                .toList(),
            Optional.empty());
    save(id, row);
    return row;
  }

  private boolean isCurrent(ContentOwner owner, String key) {
    return ledger.contentKeys().current(owner).filter(now -> now.id().equals(key)).isPresent();
  }

  /** Whose keys an order destroys. */
  private List<ContentOwner> owners(Digest id, ErasureOrder order, Policy policy, Instant now) {
    List<ContentOwner> owners = new ArrayList<>();
    order.run().ifPresent(run -> owners.add(ContentOwner.run(order.tenant(), run)));
    if (order.subject().isPresent()) {
      owners.add(ContentOwner.subject(order.tenant(), order.subject().get()));
      if (ledger.contentKeys().has(ContentOwner.RUN)) {
        // An order is in force before its event is durable, and the search reads that.
        ledger.append(new Batch()).await();
        ErasureSearch search = new ErasureSearch(ledger, policy, id, order, now);
        search.coverage(_ -> false);
        search.runs.forEach(run -> owners.add(ContentOwner.run(order.tenant(), run)));
      }
    }
    return owners;
  }

  /** Carries out all orders that are not, as far as nothing needs what they cover. */
  ContentRetention.Erased run(Supplier<ContentRetention.Under> state, Instant now) {
    ContentRetention.Deleted deleted = ContentRetention.Deleted.NOTHING;
    TreeMap<Digest, Long> waiting = new TreeMap<>();
    for (Digest id : state.get().erasures().keySet()) {
      if (doneAt(ledger, id).isPresent()) {
        continue;
      }
      Progress progress = new Progress();
      for (int attempt = 1; ; attempt++) {
        try {
          one(id, state.get(), now, progress);
          break;
        } catch (WritException e) {
          if (e.code() != ExecutorError.STATE_MOVED || attempt == ATTEMPTS_MAX) {
            throw e;
          }
        }
      }
      deleted = deleted.plus(progress.deleted);
      if (!progress.done) {
        waiting.put(id, progress.waiting);
      }
    }
    return new ContentRetention.Erased(deleted, waiting);
  }

  /** Of one order. */
  private static final class Progress {
    ContentRetention.Deleted deleted = ContentRetention.Deleted.NOTHING;
    long waiting;
    boolean done;
  }

  private void one(Digest id, ContentRetention.Under under, Instant now, Progress progress) {
    ErasureOrder order = under.erasures().get(id);
    begin(id, order, under.policy(), now);
    ErasureRow row = row(ledger, id).orElseThrow();
    List<String> keys = row.ids();
    ErasureSearch search = new ErasureSearch(ledger, under.policy(), id, order, now);
    search.coverage(under.isHeld());
    search.otherUses(copy -> keys.contains(copy.keyId()));
    TreeSet<Digest> all = new TreeSet<>(search.covered.keySet());
    all.addAll(search.underItsKeys);
    all.removeAll(search.waiting);
    TreeSet<Digest> needed = keepForOthers(search, all, keys);
    all.removeAll(needed);
    needed.addAll(search.waiting);
    List<Digest> step = new ArrayList<>();
    for (Digest content : search.byRun(all)) {
      step.add(content);
      if (step.size() == contentsMax) {
        needed.addAll(remove(step, search, id, row, under, now, progress));
        step.clear();
      }
    }
    needed.addAll(remove(step, search, id, row, under, now, progress));
    ledger.purge();
    progress.waiting = needed.size();
    if (needed.isEmpty() && isFree(keys)) {
      keys.forEach(ledger.contentKeys()::destroy);
      save(id, new ErasureRow(row.keys(), Optional.of(now)));
      progress.done = true;
    }
  }

  /**
   * What others use and lies under keys of the order alone gets a copy under one of theirs.
   *
   * @return what is damaged, so that it gets none: without these keys nobody could mend it
   */
  private TreeSet<Digest> keepForOthers(
      ErasureSearch search, TreeSet<Digest> all, List<String> keys) {
    TreeSet<Digest> damaged = new TreeSet<>();
    for (Map.Entry<Digest, TreeSet<ContentOwner>> used : search.others.entrySet()) {
      Digest content = used.getKey();
      List<SealedCopy> copies = ledger.copies(content);
      if (!all.contains(content)
          || used.getValue().isEmpty()
          || copies.isEmpty()
          || ledger.isInTheClear(content)
          || copies.stream().anyMatch(copy -> !keys.contains(copy.keyId()))) {
        continue;
      }
      try (InputStream from = ledger.openBlob(content);
          BlobSink to = ledger.newBlob(Optional.of(used.getValue().first()))) {
        from.transferTo((OutputStream) to);
        ledger.append(new Batch().blob(to.finish())).await();
      } catch (IOException e) {
        throw StoreFailure.of(e);
      } catch (WritException e) {
        if (e.code() == LedgerError.BLOB_CORRUPT || e.code() == LedgerError.SEAL_WRONG) {
          damaged.add(content);
        } else if (e.code() != LedgerError.KEY_MISSING) {
          throw e;
        }
        // Without its key it was unreadable before, for everybody.
      }
    }
    return damaged;
  }

  private SortedSet<Digest> remove(
      List<Digest> contents,
      ErasureSearch search,
      Digest id,
      ErasureRow row,
      ContentRetention.Under under,
      Instant now,
      Progress progress) {
    TreeSet<Digest> left = new TreeSet<>(contents);
    TreeSet<Digest> needed = new TreeSet<>();
    String tenant = under.erasures().get(id).tenant();
    while (!left.isEmpty()) {
      DeletionStatements statements = new DeletionStatements(ledger, signer, now);
      for (Digest content : left) {
        search
            .covered
            .getOrDefault(content, List.of())
            .forEach(use -> statements.add(use.run(), new Deletion.Order(id), use.item()));
      }
      long bytes = left.stream().mapToLong(ledger::blobSize).sum();
      Batch batch = statements.batch();
      SortedSet<Digest> found =
          ledger.remove(
              left.stream().map(content -> removal(content, search, tenant, row)).toList(),
              search.searchedTo(),
              search.givenAt(),
              new Ledger.Deletion(
                  batch, enqueue -> ContentRetention.ordered(under.changes(), enqueue)));
      if (found.isEmpty()) {
        progress.deleted =
            progress.deleted.plus(
                new ContentRetention.Deleted(left.size(), bytes, statements.count()));
        return needed;
      }
      needed.addAll(found);
      left.removeAll(found);
    }
    return needed;
  }

  /**
   * Of a content that others use only what lies under the keys of the order goes. Else all goes
   * that its subject or run has, but for what came after the order, and what those have whose use
   * was erased before and that stayed for this one.
   */
  private Ledger.Removal removal(
      Digest content, ErasureSearch search, String tenant, ErasureRow row) {
    boolean isWhole = search.covered.containsKey(content) && !search.others.containsKey(content);
    List<String> keys = row.ids();
    Set<ContentOwner> former = search.former.getOrDefault(content, new TreeSet<>());
    List<ContentOwner> owners = row.keys().stream().map(ErasureRow.Key::owner).toList();
    return new Ledger.Removal(
        content,
        isWhole,
        Optional.of(tenant),
        copy ->
            keys.contains(copy.keyId())
                || isWhole
                    && search.owners.contains(copy.owner())
                    && !(owners.contains(copy.owner()) && isCurrent(copy.owner(), copy.keyId()))
                || isWhole
                    && former.contains(copy.owner())
                    && !owners.contains(copy.owner())
                    && !ledger.contentKeys().isUsed(copy.keyId()));
  }

  /** Whether nothing lies under these keys, and nothing is on its way there. */
  private boolean isFree(List<String> keys) {
    if (keys.stream().anyMatch(ledger.contentKeys()::isUsed)) {
      return false;
    }
    boolean[] free = {true};
    ledger.scan(
        SealedCopy.TABLE,
        "",
        (key, row) -> {
          free[0] = !keys.contains(SealedCopy.parse(key, row).keyId());
          return free[0];
        });
    return free[0];
  }
}
