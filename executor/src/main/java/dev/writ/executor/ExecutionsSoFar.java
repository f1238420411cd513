package dev.writ.executor;

import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.profile.ExecuteState;
import dev.writ.ledger.LedgerView;

/**
 * What the ledger knows of executions, for stage 7 of seed 000 within the judgement. What is done
 * or running under the same id was answered before it is judged, under the locks.
 */
final class ExecutionsSoFar implements ExecuteState {
  private final LedgerView ledger;
  private final String tenant;
  private final boolean before;

  /**
   * @param before whether this very request was judged before
   */
  ExecutionsSoFar(LedgerView ledger, String tenant, boolean before) {
    this.ledger = ledger;
    this.tenant = tenant;
    this.before = before;
  }

  @Override
  public Seen seen(String executionRequestId) {
    return before ? Seen.WAITING : Seen.NEW;
  }

  @Override
  public boolean executed(String id) {
    return ledger.get(Tables.EXECUTION, Tables.key(tenant, id)).isPresent()
        || ledger
            .get(Tables.RUN, Tables.key(tenant, id))
            .filter(row -> RunState.parse(row).receipts() > 0)
            .isPresent();
  }
}
