package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.document.CellCheckpoints.Stated;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.MerkleProof;
import dev.writ.ledger.note.Checkpoint;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Takes the checkpoints of all other cells into the system cell's log, so that its root covers them
 * (spec/cells.md, "One root"). A checkpoint that does not follow from what was stated before is
 * never taken in.
 */
final class CellRoots {
  private final Ledger system;
  private final DocumentSigner signer;

  /**
   * @param system the system cell's
   * @param signer the guardian's
   */
  CellRoots(Ledger system, DocumentSigner signer) {
    this.system = system;
    this.signer = signer;
  }

  /**
   * What the cells' logs were found to be.
   *
   * @param cells what is to be stated, also of those that were refused: what was stated before
   * @param refused why the checkpoint of a cell is not taken in
   */
  record Found(List<Stated> cells, SortedMap<Integer, WritException> refused) {}

  /** What the system cell stated last. */
  static Optional<CellCheckpoints> last(LedgerState system) {
    return system
        .head(CellCheckpoints.RUN)
        .map(event -> CellCheckpoints.read(document(system, event).document()));
  }

  private static Envelope document(LedgerState system, Event event) {
    return system
        .document(event.body())
        .orElseThrow(() -> new WritException(ExecutorError.UNKNOWN_ID, event.body().toString()));
  }

  /**
   * Looks at each cell's latest checkpoint, and writes nothing.
   *
   * @param logs of the other cells, by number; one that is absent keeps what was stated
   * @param trust in force
   */
  Found look(SortedMap<Integer, ? extends LedgerView> logs, Trust trust) {
    TreeMap<Integer, Stated> cells = new TreeMap<>();
    last(system).ifPresent(before -> before.cells().forEach(one -> cells.put(one.cell(), one)));
    TreeMap<Integer, WritException> refused = new TreeMap<>();
    logs.forEach((cell, log) -> {
      try {
        next(cell, log, Optional.ofNullable(cells.get(cell)), trust)
            .ifPresent(stated -> cells.put(cell, stated));
      } catch (WritException e) {
        refused.put(cell, e);
      }
    });
    return new Found(List.copyOf(cells.values()), refused);
  }

  private Optional<Stated> next(int cell, LedgerView log, Optional<Stated> before, Trust trust) {
    long incarnation = log.incarnation();
    Optional<Checkpoint> latest = log.latestCheckpoint();
    log.refresh(); // a reader may have seen less than the checkpoint covers
    if (log.incarnation() != incarnation) {
      return Optional.empty(); // it is not known which of the two the checkpoint is of
    }
    before.ifPresent(stated -> requireContinued(log, stated));
    if (latest.isEmpty()) {
      return Optional.empty();
    }
    Stated found = new Stated(cell, latest.get(), incarnation);
    requireSigned(found.checkpoint(), CellPlacement.origin(system.origin(), cell), trust);
    requireContinued(log, found); // it is what the log has, and not only signed
    boolean isEarlier =
        before
            .filter(stated -> stated.incarnation() == incarnation)
            .filter(stated -> stated.checkpoint().size() > found.checkpoint().size())
            .isPresent();
    return isEarlier ? Optional.empty() : Optional.of(found);
  }

  private static void requireSigned(Checkpoint checkpoint, String origin, Trust trust) {
    String why = "no log key is in force";
    for (TrustedKey key : trust.keys().values()) {
      if (key.role() == KeyRole.LOG && key.revokedAt().isEmpty()) {
        try {
          checkpoint.verify(origin, key.key());
          return;
        } catch (WritException e) {
          why = e.code().code() + " " + e.found();
        }
      }
    }
    throw new WritException(ExecutorError.CELL_UNSIGNED, origin + ": " + why);
  }

  /**
   * Requires that a log continues what is stated of it, unless an operator has put a backup in
   * service since.
   *
   * @throws WritException {@code EXE-995} where it has less, {@code EXE-994} where it is another
   */
  static void requireContinued(LedgerView log, Stated stated) {
    Checkpoint then = stated.checkpoint();
    if (log.incarnation() > stated.incarnation()) {
      return;
    }
    long size = log.treeSize();
    String place = then.origin() + " size " + then.size() + " root " + then.root();
    if (log.incarnation() < stated.incarnation() || size < then.size()) {
      throw new WritException(
          ExecutorError.CELL_ROLLED_BACK,
          place
              + " incarnation "
              + stated.incarnation()
              + " is stated, the log has size "
              + size
              + " incarnation "
              + log.incarnation());
    }
    // A log that cannot be read just now is no fork, and has its own code.
    Digest root = log.root(size);
    MerkleProof proof = log.consistencyProof(then.size(), size);
    try {
      Merkle.verifyConsistency(then.size(), then.root(), size, root, proof);
    } catch (WritException e) {
      throw new WritException(
          ExecutorError.CELL_FORKED,
          place
              + " is stated, the log's root at that size is "
              + log.root(then.size())
              + ": "
              + e.code().code(),
          e);
    }
  }

  /**
   * Enqueues the statement.
   *
   * @return empty where it would say what the one before says
   */
  Optional<Commit> state(Found found, Supplier<Instant> clock) {
    Optional<CellCheckpoints> before = last(system);
    boolean isNew =
        !found.cells().isEmpty()
            && !before.filter(said -> isSame(said.cells(), found.cells())).isPresent();
    return isNew ? Optional.of(system.append(batch(found.cells(), clock.get()))) : Optional.empty();
  }

  private static boolean isSame(List<Stated> before, List<Stated> now) {
    boolean same = before.size() == now.size();
    for (int i = 0; same && i < now.size(); i++) {
      same = before.get(i).isSame(now.get(i));
    }
    return same;
  }

  private Batch batch(List<Stated> cells, Instant now) {
    Envelope signed = signer.sign(CellCheckpoints.TYPE, new CellCheckpoints(cells, now).toJson());
    Event event =
        system
            .pendingHead(CellCheckpoints.RUN)
            .map(before -> before.next(EventKind.CELLS_STATED, signed.id(), now, Optional.empty()))
            .orElseGet(() ->
                Event.first(
                    CellCheckpoints.RUN.tenant(),
                    CellCheckpoints.RUN.run(),
                    EventKind.CELLS_STATED,
                    signed.id(),
                    now,
                    Optional.empty()));
    return new Batch().event(event).document(signed);
  }
}
