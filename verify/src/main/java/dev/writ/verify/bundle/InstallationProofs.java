package dev.writ.verify.bundle;

import dev.writ.executor.document.CellCheckpoints;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import java.util.Optional;

/** Makes proofs that the root of an installation covers a log (spec/cells.md, "One root"). */
public final class InstallationProofs {
  private InstallationProofs() {}

  /**
   * The proof by the system cell's latest checkpoint, of the latest statement that it covers.
   *
   * @param system the system cell's log
   * @param cell the log that is asked about
   * @param size how large that was, for a bundle of this size; without one, the stated size
   * @return empty where nothing is stated of the cell with this size or more
   */
  public static Optional<InstallationProof> of(
      LedgerView system, LedgerView cell, Optional<Long> size) {
    Optional<Checkpoint> root = system.latestCheckpoint();
    system.refresh(); // a reader may have seen less than the checkpoint covers
    Optional<Event> event = root.flatMap(r -> covered(system, r.size()));
    if (event.isEmpty()) {
      return Optional.empty();
    }
    CellCheckpoints statement =
        CellCheckpoints.read(system.document(event.get().body()).orElseThrow().document());
    cell.refresh();
    Optional<Long> stated =
        statement
            .of(cell.origin())
            .map(one -> one.checkpoint().size())
            .filter(largest -> size.filter(asked -> asked > largest).isEmpty());
    long index = index(system, event.get());
    return stated.map(to ->
        new InstallationProof(
            root.get(),
            index,
            event.get(),
            system.inclusionProof(index, root.get().size()),
            statement,
            size.filter(from -> from < to)
                .map(from -> new Consistency(from, to, cell.consistencyProof(from, to)))));
  }

  /** The latest statement in a log of this size. */
  private static Optional<Event> covered(LedgerView system, long size) {
    Optional<Event> event = system.head(CellCheckpoints.RUN);
    while (event.filter(last -> index(system, last) >= size).isPresent()) {
      long before = event.get().seq() - 1;
      event = before < 0 ? Optional.empty() : system.event(CellCheckpoints.RUN, before);
    }
    return event;
  }

  private static long index(LedgerView system, Event event) {
    return system.indexOf(event.runId(), event.seq()).orElseThrow();
  }
}
