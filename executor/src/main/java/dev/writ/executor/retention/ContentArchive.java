package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.error.ExecutorError;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Removes contents of closed runs that their bundles in the archive have (spec/retention.md,
 * Archive), with the statements of it, a durable write for each step. A crash between two steps
 * leaves contents in the ledger and in the archive; the next call removes them. Not thread safe.
 */
final class ContentArchive {
  private static final int ATTEMPTS_MAX = 16;

  private final Ledger ledger;
  private final DocumentSigner signer;
  private final int contentsMax;

  /**
   * @param signer the executor's
   * @param contentsMax how many contents are removed in one write
   */
  ContentArchive(Ledger ledger, DocumentSigner signer, int contentsMax) {
    this.ledger = ledger;
    this.signer = signer;
    this.contentsMax = contentsMax;
  }

  ContentRetention.Deleted run(
      Supplier<ContentRetention.Under> state,
      SortedMap<RunId, ArchivedBundle> bundles,
      Function<RunId, ArchivedBundle> earlier,
      Instant now) {
    ContentRetention.Deleted deleted = ContentRetention.Deleted.NOTHING;
    for (int attempt = 1; ; attempt++) {
      ContentRetention.Under under = state.get();
      requireAllowed(under);
      long searchedTo = ledger.treeSize();
      ArchiveSearch search = new ArchiveSearch(ledger, under, bundles, earlier, now);
      try {
        for (List<ArchiveSearch.Found> step :
            DeletionSteps.of(
                search.contents(searchedTo), contentsMax, content -> content.uses().size())) {
          deleted = deleted.plus(remove(under, search, step, searchedTo, now));
        }
        ledger.purge();
        return deleted;
      } catch (WritException e) {
        if (e.code() != ExecutorError.STATE_MOVED || attempt == ATTEMPTS_MAX) {
          throw e;
        }
      }
    }
  }

  private static void requireAllowed(ContentRetention.Under under) {
    if (under.policy().retention().archiveAfterS().isEmpty()) {
      throw new WritException(
          ExecutorError.ARCHIVE_NOT_ALLOWED, "policy " + under.policy().digest());
    }
  }

  /** Removes these, without those that something has come to need. */
  private ContentRetention.Deleted remove(
      ContentRetention.Under under,
      ArchiveSearch search,
      List<ArchiveSearch.Found> contents,
      long searchedTo,
      Instant now) {
    TreeSet<Digest> needed = new TreeSet<>();
    while (true) {
      List<ArchiveSearch.Found> left =
          contents.stream().filter(content -> !needed.contains(content.digest())).toList();
      if (left.isEmpty()) {
        return ContentRetention.Deleted.NOTHING;
      }
      DeletionStatements statements = new DeletionStatements(ledger, signer, now);
      left.forEach(content ->
          content
              .uses()
              .forEach(use ->
                  statements.add(
                      use.run(),
                      new Deletion.Archived(under.policy().digest(), search.bundleOf(use.run())),
                      use.item())));
      SortedSet<Digest> found =
          ledger.delete(
              left.stream().map(ArchiveSearch.Found::digest).toList(),
              searchedTo,
              ContentRetention.claimedBefore(under.policy(), now),
              new Ledger.Deletion(
                  statements.batch(),
                  enqueue -> ContentRetention.ordered(under.changes(), enqueue)));
      if (found.isEmpty()) {
        return new ContentRetention.Deleted(
            left.size(),
            left.stream().mapToLong(ArchiveSearch.Found::size).sum(),
            statements.count());
      }
      needed.addAll(found);
    }
  }
}
