package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.Batch;
import dev.writ.ledger.RunJournal;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Removes the workspaces of closed runs (protocol rule 20). A row says that a run used its
 * workspace, and is deleted after the workspace; so workspaces that a crash or a failure left are
 * removed at the next start.
 */
final class WorkspaceWipes {
  /** The reason that is recorded. */
  static final String RUN_CLOSED = "run-closed";

  private final RunJournal ledger;
  private final RunWorkspaces workspaces;
  private final KeyedLocks locks;

  WorkspaceWipes(RunJournal ledger, RunWorkspaces workspaces, KeyedLocks locks) {
    this.ledger = ledger;
    this.workspaces = workspaces;
    this.locks = locks;
  }

  /** Locks the workspace of a run. This lock is taken last (spec/execution.md). */
  KeyedLocks.Held lock(String tenant, String run) {
    return locks.lock(Tables.key("workspace", tenant, run));
  }

  /** The same lock, where nobody has it. */
  Optional<KeyedLocks.Held> lockIfFree(RunId run) {
    return locks.ifFree(Tables.key("workspace", run.tenant(), run.run()));
  }

  /**
   * Wipes the workspace of a closed run, if it used one.
   *
   * @throws WritException {@code EXE-913} where it cannot; the row stays
   */
  void wipe(RunId run) {
    String key = Tables.key(run.tenant(), run.run());
    if (ledger.get(Tables.WORKSPACE, key).isEmpty()) {
      return;
    }
    Instant closedAt = ledger.head(run).orElseThrow().at();
    try (KeyedLocks.Held _ = lock(run.tenant(), run.run())) {
      workspaces.wipe(run.tenant(), run.run(), RUN_CLOSED, closedAt);
    } catch (WritException e) {
      throw new WritException(
          ExecutorError.NOT_WIPED, run + ": " + e.code().code() + " " + e.found(), e);
    } catch (RuntimeException e) {
      throw new WritException(
          ExecutorError.NOT_WIPED, run + ": " + e.getClass().getSimpleName(), e);
    }
    ledger.append(new Batch().delete(Tables.WORKSPACE, key)).await();
  }

  /** Closed runs whose workspace is not wiped. */
  List<RunId> left() {
    List<RunId> left = new ArrayList<>();
    ledger.scan(
        Tables.WORKSPACE,
        "",
        (key, _) -> {
          Optional<RunState> state = ledger.get(Tables.RUN, key).map(RunState::parse);
          if (state.filter(RunState::closed).isPresent()) {
            left.add(new RunId(Tables.firstPart(key), Tables.lastPart(key)));
          }
          return true;
        });
    return left;
  }

  /**
   * At start, wipes workspaces that are left and those whose lifetime is over. A closed run cannot
   * be used, so a workspace that cannot be wiped does not stop the kernel from opening; {@link
   * #left} lists it.
   */
  void makeUp(Instant now) {
    for (RunId run : left()) {
      try {
        wipe(run);
      } catch (WritException e) {
        if (e.code() != ExecutorError.NOT_WIPED) {
          throw e;
        }
      }
    }
    try {
      workspaces.wipeExpired(now);
    } catch (RuntimeException e) {
      return; // the workspaces' keeper reports failures, and is called at every start
    }
  }
}
