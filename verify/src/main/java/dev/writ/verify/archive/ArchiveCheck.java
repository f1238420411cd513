package dev.writ.verify.archive;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.bundle.BundleExport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Compares an archive with what the log states to have been moved there. */
public final class ArchiveCheck {
  private ArchiveCheck() {}

  /**
   * Of one run.
   *
   * @param problem absent where its bundle is whole, verifies, and has every content that was moved
   */
  public record Line(RunId run, Digest bundle, Optional<WritException> problem) {}

  /**
   * Reads bundles back.
   *
   * @param runs all archived ones where it is empty
   * @throws WritException {@code EXE-945} for a run that is not archived, {@code LED-093}
   */
  public static List<Line> of(
      LedgerView ledger, ArchivePlace place, BundleExport.Packages packages, List<RunId> runs) {
    place.require();
    SortedMap<RunId, Digest> archived = ArchivedRuns.all(ledger);
    for (RunId run : runs) {
      if (!archived.containsKey(run)) {
        throw new WritException(ExecutorError.NOT_ARCHIVED, run.toString());
      }
    }
    if (!runs.isEmpty()) {
      archived.keySet().retainAll(runs);
    }
    TreeMap<RunId, DigestSet> moved = moved(ledger, archived);
    RunArchive archive = new RunArchive(ledger, place, packages);
    List<Line> lines = new ArrayList<>();
    archived.forEach((run, bundle) ->
        lines.add(new Line(run, bundle, problem(archive, run, bundle, moved.get(run)))));
    return lines;
  }

  private static TreeMap<RunId, DigestSet> moved(
      LedgerView ledger, SortedMap<RunId, Digest> archived) {
    TreeMap<RunId, DigestSet> moved = new TreeMap<>();
    ledger.events(
        Deletion.RUN,
        0,
        event -> {
          Deletion stated = Deletion.read(ledger.document(event.body()).orElseThrow().document());
          if (stated.reason() instanceof Deletion.Archived && archived.containsKey(stated.of())) {
            DigestSet contents = moved.computeIfAbsent(stated.of(), _ -> new DigestSet());
            stated.contents().forEach(item -> contents.add(item.digest()));
          }
        });
    return moved;
  }

  private static Optional<WritException> problem(
      RunArchive archive, RunId run, Digest bundle, DigestSet moved) {
    try {
      DigestSet there = archive.earlier(run).contents();
      List<Digest> lacking = new ArrayList<>();
      moved.drainSorted(content -> {
        if (!there.contains(content)) {
          lacking.add(content);
        }
      });
      return lacking.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new WritException(
                  ExecutorError.BUNDLE_DIFFERS, bundle + " does not have " + lacking.getFirst()));
    } catch (WritException e) {
      return Optional.of(e);
    }
  }
}
