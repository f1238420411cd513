package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Reads the whole log for contents that archived runs alone use, and that their bundles have. Used
 * once.
 */
final class ArchiveSearch implements NamedContents.Sink {
  private final LedgerView ledger;
  private final ContentRetention.Under under;
  private final Instant now;
  private final SortedMap<RunId, ArchivedBundle> bundles;
  private final Function<RunId, ArchivedBundle> earlier;
  private final TreeMap<Digest, Found> found = new TreeMap<>();
  private final TreeSet<Digest> needed = new TreeSet<>();
  private final TreeMap<RunId, Boolean> archived = new TreeMap<>();

  /** A content that is here, and where archived runs name it. */
  record Found(Digest digest, long size, List<Use> uses) {}

  /** Where a content is named. */
  record Use(RunId run, Deletion.Item item) {}

  /**
   * @param bundles of the runs that are being archived
   * @param earlier the bundle of a run that was archived before; asked only where nothing else
   *     keeps a content that such a run names, too
   */
  ArchiveSearch(
      LedgerView ledger,
      ContentRetention.Under under,
      SortedMap<RunId, ArchivedBundle> bundles,
      Function<RunId, ArchivedBundle> earlier,
      Instant now) {
    this.ledger = ledger;
    this.under = under;
    this.bundles = bundles;
    this.earlier = earlier;
    this.now = now;
  }

  /** What may go, by run, so that few statements have many contents; then in their order. */
  List<Found> contents(long size) {
    new NamedContents(ledger, under.policy(), now, this).read(size);
    Instant uploaded = ContentRetention.claimedBefore(under.policy(), now);
    return found.values().stream()
        .filter(content -> !needed.contains(content.digest()))
        .filter(content -> !ledger.isUploadedSince(content.digest(), uploaded))
        .filter(content ->
            content.uses().stream().allMatch(use -> bundle(use.run()).has(content.digest())))
        .sorted(Comparator.comparing(content -> content.uses().getFirst().run()))
        .toList();
  }

  private ArchivedBundle bundle(RunId run) {
    ArchivedBundle given = bundles.get(run);
    return given != null ? given : earlier.apply(run);
  }

  Digest bundleOf(RunId run) {
    return bundle(run).digest();
  }

  /** Whether the archive has a run, and policy lets its contents go now: it may be another one. */
  private boolean isArchived(RunId run) {
    return archived.computeIfAbsent(
        run,
        of ->
            (bundles.containsKey(of) || ArchivedRuns.bundle(ledger, of).isPresent()) && mayGo(of));
  }

  private boolean mayGo(RunId run) {
    long after = under.policy().retention().archiveAfterS().orElseThrow();
    return ledger
        .head(run)
        .filter(head -> head.kind().equals(EventKind.RUN_CLOSED))
        .filter(head -> !now.isBefore(head.at().plusSeconds(after)))
        .isPresent();
  }

  @Override
  public void mentioned(long index, Optional<NamedContents.Unended> request, Digest digest) {
    needed.add(digest);
  }

  @Override
  public void named(NamedContents.Name name) {
    Digest digest = name.digest();
    if (!ledger.hasBlob(digest)) {
      return;
    }
    RunId run = name.event().runId();
    if (!isArchived(run) || under.isHeld().test(run)) {
      needed.add(digest);
      return;
    }
    Deletion.Item item =
        new Deletion.Item(name.content(), digest, name.seq(), ledger.blobSize(digest));
    if (ledger.get(Tables.DELETED, Deletions.key(run, item)).isPresent()) {
      return; // it came again for another event
    }
    Found content =
        found.computeIfAbsent(digest, d -> new Found(d, item.size(), new ArrayList<>()));
    content.uses().add(new Use(run, item));
  }
}
