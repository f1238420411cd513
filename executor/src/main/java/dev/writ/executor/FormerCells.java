package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.Served;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What the logs of the cells say in which a tenant was before (spec/cells.md, "Moving"). Nothing is
 * written there of a tenant that has left, so a look needs no lock.
 */
final class FormerCells {
  /**
   * Where surfaces record what they refuse of one subject: the name follows from the subject's, so
   * each cell has such a run of its own.
   */
  private static final String REFUSED = "refused:";

  private final List<LedgerView> logs;

  /**
   * @param logs those of the tenant's former cells, the latest first
   */
  FormerCells(List<LedgerView> logs) {
    this.logs = List.copyOf(logs);
  }

  /** An outcome that a former cell has. */
  record Found(Answer answer, boolean isStored) {}

  /**
   * The outcome of the request there, or of another one under its idempotency key.
   *
   * @param execute whether an effect is wanted
   * @throws WritException {@code EXE-998} where it was received there and has none; {@code EXE-110}
   */
  Optional<Found> outcome(Admissions.Entry entry, boolean execute) {
    for (LedgerView log : logs) {
      Optional<Found> found = outcome(log, entry, execute);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<Found> outcome(LedgerView log, Admissions.Entry entry, boolean execute) {
    Idempotency idempotency = new Idempotency(log);
    Optional<RequestRow> row = row(log, entry.id());
    Optional<Served> served = row.flatMap(_ -> idempotency.served(entry.id()));
    if (served.isEmpty() && execute) {
      served = idempotency.sameKey(entry.request(), entry.id(), entry.request().effect()::digest);
    }
    boolean isStored = row.isPresent() && isStored(log, entry.envelope());
    if (served.isPresent()) {
      Digest request = served.get().receipt().request();
      Answer known = Judging.known(log, request, row(log, request).orElseThrow());
      return Optional.of(new Found(known.withServed(served.get()), isStored));
    }
    if (row.isEmpty()) {
      return Optional.empty();
    }
    if (row.get().state() != RequestRow.State.DENIED) {
      throw new WritException(
          ExecutorError.LEFT_BEHIND, log.origin() + " received request " + entry.id());
    }
    return Optional.of(new Found(Judging.known(log, entry.id(), row.get()), isStored));
  }

  private static Optional<RequestRow> row(LedgerView log, Digest request) {
    return log.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
  }

  private static boolean isStored(LedgerView log, Envelope envelope) {
    return log.document(envelope.id())
        .filter(kept -> Arrays.equals(kept.toBytes(), envelope.toBytes()))
        .isPresent();
  }

  /**
   * Requires that a run which is new here was not begun there.
   *
   * @throws WritException {@code EXE-998}
   */
  void requireNewRun(RunId run) {
    if (run.run().startsWith(REFUSED)) {
      return;
    }
    for (LedgerView log : logs) {
      if (log.head(run).isPresent()) {
        throw new WritException(ExecutorError.LEFT_BEHIND, log.origin() + " has the run " + run);
      }
    }
  }
}
