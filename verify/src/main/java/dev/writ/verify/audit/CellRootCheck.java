package dev.writ.verify.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.document.CellCheckpoints.Stated;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.error.AuditError;
import java.util.Optional;

/**
 * Checks what a system cell states of the logs of the other cells (spec/cells.md, "One root"):
 * signed by the guardian, each checkpoint by a log key, and none behind the one before it.
 */
final class CellRootCheck {
  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;
  private final String origin;
  private Optional<CellCheckpoints> before = Optional.empty();

  /**
   * @param origin of the log that is audited
   */
  CellRootCheck(Documents documents, SystemStateHistory standing, String origin) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
    this.origin = origin;
  }

  /** An event of the run of these statements. */
  void event(Event event) {
    String place = Findings.place(event);
    findings.seed(AuditError.BINDING, event, false);
    if (!event.kind().equals(EventKind.CELLS_STATED)) {
      findings.problem(AuditError.ORDER, place, event.kind(), EventKind.CELLS_STATED);
      return;
    }
    Optional<Read<CellCheckpoints>> read =
        documents.read(event.body(), CellCheckpoints.TYPE, CellCheckpoints::read, place);
    read.ifPresent(found -> {
      standing.verify(found.envelope(), CellCheckpoints.TYPE, event.at(), place);
      CellCheckpoints now = found.document();
      findings.same(AuditError.BINDING, place + " /stated_at", now.statedAt(), event.at());
      statement(now, place);
      before = Optional.of(now);
      findings.cellStatements++;
    });
  }

  private void statement(CellCheckpoints now, String place) {
    before.ifPresent(earlier ->
        earlier.cells().stream()
            .filter(one -> now.of(one.cell()).isEmpty())
            .forEach(one ->
                findings.problem(
                    AuditError.CELLS, at(place, one), "nothing", text(one.checkpoint()))));
    for (Stated stated : now.cells()) {
      Optional<Stated> earlier = before.flatMap(said -> said.of(stated.cell()));
      earlier.ifPresent(one -> follows(one, stated, at(place, stated)));
      if (earlier.filter(stated::isSame).isEmpty()) {
        signed(stated, at(place, stated));
      }
    }
  }

  private static String at(String place, Stated stated) {
    return place + " cell " + stated.cell();
  }

  private static String text(Checkpoint checkpoint) {
    return "size " + checkpoint.size() + " root " + checkpoint.root();
  }

  /** Where an operator put a backup in service, the log may have less, or another history. */
  private void follows(Stated earlier, Stated stated, String place) {
    if (stated.incarnation() > earlier.incarnation()) {
      findings.cellsRestored++;
      return;
    }
    findings.same(AuditError.CELLS, place, stated.incarnation(), earlier.incarnation());
    Checkpoint then = earlier.checkpoint();
    Checkpoint now = stated.checkpoint();
    boolean isFork = now.size() == then.size() && !now.root().equals(then.root());
    if (isFork || now.size() < then.size()) {
      findings.problem(
          AuditError.CELLS, place, text(now), text(then) + (isFork ? "" : ", or a larger one"));
    }
  }

  private void signed(Stated stated, String place) {
    Trust trust = standing.trust();
    String name = CellPlacement.origin(origin, stated.cell());
    String why = "no log key is enrolled";
    for (TrustedKey key : trust.keys().values()) {
      if (key.role() == KeyRole.LOG && key.revokedAt().isEmpty()) {
        try {
          stated.checkpoint().verify(name, key.key());
          return;
        } catch (WritException e) {
          why = e.code().code() + " " + e.found();
        }
      }
    }
    findings.problem(AuditError.SIGNATURE, place, why, "signed by a log key, as " + name);
  }
}
