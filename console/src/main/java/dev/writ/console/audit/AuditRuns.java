package dev.writ.console.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.v1.Reader;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** The runs of a job: all of the caller's tenant, and none that it may not read. */
final class AuditRuns {
  private static final int RUNS_MAX = 1_000;

  private final LedgerView ledger;
  private final Reader reader;

  AuditRuns(LedgerView ledger, Reader reader) {
    this.ledger = ledger;
    this.reader = reader;
  }

  /**
   * @throws WritException {@code GWY-126}; {@code GWY-040} for a run that the caller may not read
   */
  List<String> named(Caller caller, AuditKind kind, List<String> runs) {
    runs.forEach(run -> reader.run(caller, run));
    if (new TreeSet<>(runs).size() < runs.size()) {
      throw new WritException(AuditJobError.RUNS, "one of them twice");
    }
    return fitting(kind, runs);
  }

  /**
   * Those of which an event lies in a period.
   *
   * @throws WritException {@code GWY-126}
   */
  List<String> within(Caller caller, AuditKind kind, Optional<Instant> from, Optional<Instant> to) {
    List<String> runs = new ArrayList<>();
    ledger.scan(
        Tables.RUN,
        Tables.prefix(caller.tenant()),
        (key, _) -> {
          String run = Tables.lastPart(key);
          if (touches(new RunId(caller.tenant(), run), from, to) && mayRead(caller, run)) {
            runs.add(run);
          }
          return runs.size() <= RUNS_MAX;
        });
    return fitting(kind, runs);
  }

  private boolean touches(RunId run, Optional<Instant> from, Optional<Instant> to) {
    Optional<Event> head = ledger.head(run);
    return head.isPresent()
        && from.filter(begin -> head.get().at().isBefore(begin)).isEmpty()
        && to.filter(end -> !ledger.event(run, 0).orElseThrow().at().isBefore(end)).isEmpty();
  }

  private boolean mayRead(Caller caller, String run) {
    try {
      reader.run(caller, run);
      return true;
    } catch (WritException e) {
      if (Reader.isUnknown(e)) {
        return false;
      }
      throw e;
    }
  }

  private static List<String> fitting(AuditKind kind, List<String> runs) {
    int most =
        switch (kind) {
          case VERIFY, REPLAY -> RUNS_MAX;
          case REPORT -> 1;
          case COMPARE -> 2;
        };
    if (runs.isEmpty() || runs.size() > most || kind == AuditKind.COMPARE && runs.size() < 2) {
      throw new WritException(
          AuditJobError.RUNS,
          (runs.size() > RUNS_MAX ? "more than " + RUNS_MAX : String.valueOf(runs.size()))
              + " runs");
    }
    return runs;
  }
}
