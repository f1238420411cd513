package dev.writ.executor;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.SystemChange;
import dev.writ.guardian.document.Audience;
import dev.writ.ledger.LedgerView;

/**
 * The log of the guardian that an executor serves: its origin, which is fixed, and its incarnation,
 * which follows from the copy of its system run.
 */
final class GuardianLog {
  private static final long FIRST = 1;

  private final String origin;
  private volatile long incarnation = FIRST;

  GuardianLog(LedgerView own, String origin) {
    this.origin = origin;
    own.events(SystemState.RUN, 0, event -> own.document(event.body()).ifPresent(this::changed));
  }

  /** Takes a document of the system run. */
  void changed(Envelope document) {
    if (document.payloadType().equals(SystemChange.TYPE)) {
      SystemChange.read(document.document()).incarnation().ifPresent(next -> incarnation = next);
    }
  }

  /** Whom an intent has to be for. */
  Audience audience() {
    return new Audience(origin, incarnation);
  }
}
