package dev.writ.verify.audit;

import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Documents.Read;
import dev.writ.verify.error.AuditError;
import java.util.List;
import java.util.Optional;

/**
 * Checks statements about what people read (spec/read-event.md): signed by an executor, at their
 * time, and of what the policy in force at their place has recorded.
 */
final class ReadCheck {
  private final Documents documents;
  private final Findings findings;
  private final SystemStateHistory standing;

  ReadCheck(Documents documents, SystemStateHistory standing) {
    this.documents = documents;
    this.findings = documents.findings();
    this.standing = standing;
  }

  /** An event of the run of reads; returns the statement if it can be read. */
  Optional<ReadEvent> event(Event event) {
    String place = Findings.place(event);
    findings.seed(AuditError.BINDING, event, false);
    if (!event.runId().equals(ReadEvent.RUN) || !event.kind().equals(EventKind.CONTENT_READ)) {
      findings.problem(
          AuditError.ORDER, place, event.kind(), EventKind.CONTENT_READ + " in " + ReadEvent.RUN);
      return Optional.empty();
    }
    Optional<Read<ReadEvent>> read =
        documents.read(event.body(), ReadEvent.TYPE, ReadEvent::read, place);
    read.ifPresent(found -> {
      standing.verify(found.envelope(), ReadEvent.TYPE, event.at(), place);
      statement(event, found.document(), place);
    });
    return read.map(Read::document);
  }

  private void statement(Event event, ReadEvent statement, String place) {
    findings.same(AuditError.BINDING, place + " /read_at", statement.readAt(), event.at());
    Optional<Policy> policy = standing.policyHere();
    findings.same(
        AuditError.SYSTEM,
        place + " /policy",
        statement.policy(),
        policy.<Object>map(Policy::digest).orElse("none in force"));
    List<ReadClass> recorded =
        policy.map(p -> p.recordsReads(statement.by().tenant())).orElse(List.of());
    if (!recorded.containsAll(statement.what())) {
      findings.problem(
          AuditError.ORDER,
          place + " /what",
          statement.what(),
          recorded + ", which policy has recorded");
    }
    findings.reads++;
  }
}
