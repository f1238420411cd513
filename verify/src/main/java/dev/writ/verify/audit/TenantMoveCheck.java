package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.Placements;
import dev.writ.executor.Placements.Moved;
import dev.writ.executor.document.TenantDeparted;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.error.AuditError;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks what a cell's log has of tenants that were moved (spec/cells.md, "Moving"): each departure
 * and each arrival is stated once, as an operator stated the move, and the log has work of the
 * tenant only while the cell had it.
 */
final class TenantMoveCheck {
  private static final Pattern OF_A_CELL = Pattern.compile(".*/cell-([0-9]{1,3})");

  /** What needs nobody's judgement, and may follow wherever the tenant is. */
  private static final Set<String> AFTERWARDS =
      new TreeSet<>(List.of(EventKind.DOUBT_RESOLVED, EventKind.RUN_CLOSED));

  /** How effects end that were dispatched before the statement. */
  private static final Set<String> ENDS =
      new TreeSet<>(List.of(EventKind.EFFECT_FINISHED, EventKind.RECEIPT_SIGNED));

  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;
  private final OptionalInt here;
  private final TreeSet<Digest> departed = new TreeSet<>();
  private final TreeSet<Digest> arrived = new TreeSet<>();

  /**
   * @param origin of the log that is audited, which names its cell
   */
  TenantMoveCheck(Documents documents, SystemStateHistory standing, String origin) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
    Matcher cell = OF_A_CELL.matcher(origin);
    this.here =
        cell.matches() ? OptionalInt.of(Integer.parseInt(cell.group(1))) : OptionalInt.empty();
  }

  /** An event of the run of departures and arrivals. */
  void event(Event event) {
    String place = Findings.place(event);
    findings.seed(AuditError.BINDING, event, false);
    boolean isDeparture = event.kind().equals(EventKind.TENANT_DEPARTED);
    if (!isDeparture && !event.kind().equals(EventKind.TENANT_ARRIVED)) {
      findings.problem(AuditError.ORDER, place, event.kind(), "a departure or an arrival");
      return;
    }
    documents
        .read(event.body(), TenantDeparted.TYPE, TenantDeparted::read, place)
        .ifPresent(found -> {
          stated(event, found, isDeparture, place);
          findings.moves++;
        });
  }

  private void stated(Event event, Read<TenantDeparted> found, boolean isDeparture, String place) {
    TenantDeparted said = found.document();
    if (isDeparture) {
      standing.verify(found.envelope(), TenantDeparted.TYPE, event.at(), place);
      findings.same(AuditError.BINDING, place + " /departed_at", said.departedAt(), event.at());
    } else {
      arrival(found.envelope(), said, place);
      if (event.at().isBefore(said.departedAt())) {
        findings.problem(
            AuditError.MOVES, place, event.at(), "not before it left at " + said.departedAt());
      }
    }
    int cell = isDeparture ? said.move().from() : said.move().cell();
    if (here.isEmpty() || here.getAsInt() != cell) {
      findings.problem(AuditError.MOVES, place, "of cell " + cell, "of this cell");
    }
    boolean isMove =
        moves(said.move().tenant()).stream()
            .anyMatch(moved ->
                moved.statement().equals(said.statement()) && moved.move().equals(said.move()));
    if (!isMove) {
      findings.problem(
          AuditError.MOVES, place + " /statement", said.move(), "a move that an operator stated");
    }
    boolean isFirst = (isDeparture ? departed : arrived).add(said.statement());
    if (!isFirst) {
      findings.problem(AuditError.TWICE, place, said.move(), "once for each move");
    }
  }

  /**
   * The former cell's audit says whether the key was revoked by then: this log may show a
   * revocation before the arrival that the other one shows behind the departure.
   */
  private void arrival(Envelope signed, TenantDeparted said, String place) {
    Trust asEnrolled = standing.trust();
    for (Envelope.Signature signature : signed.signatures()) {
      if (asEnrolled.key(signature.kid()).isPresent()) {
        asEnrolled = asEnrolled.beforeRevocation(signature.kid());
      }
    }
    try {
      asEnrolled.verify(signed, TenantDeparted.TYPE, said.departedAt());
      findings.signatures++;
    } catch (WritException e) {
      findings.problem(AuditError.SIGNATURE, place, e, "signed by a guardian");
    }
  }

  private List<Moved> moves(String tenant) {
    return placements().moves().getOrDefault(tenant, List.of());
  }

  private Placements placements() {
    return standing.placements();
  }

  /** An event of a tenant's run. */
  void work(Event event) {
    if (here.isEmpty() || AFTERWARDS.contains(event.kind())) {
      return;
    }
    placements().lastMove(event.tenant()).ifPresent(last -> work(event, last));
  }

  private void work(Event event, Moved last) {
    int cell = here.getAsInt();
    if (last.move().cell() == cell) {
      if (!arrived.contains(last.statement())) {
        found(event, "before the tenant arrived");
      }
      return;
    }
    boolean isLeaving = last.move().from() == cell && !departed.contains(last.statement());
    if (!isLeaving) {
      found(event, "while another cell had the tenant");
    } else if (!ENDS.contains(event.kind())) {
      found(event, "after the statement that it moves");
    }
  }

  private void found(Event event, String when) {
    findings.problem(AuditError.MOVES, Findings.place(event), when, "nothing of it");
  }
}
