package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Scope;
import dev.writ.ledger.LedgerState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The workspace of a run as an input of its effects (protocol rule 20). Whether it may be used
 * follows from the ledger alone: an effect that was dispatched in it and whose end is unknown
 * quarantines it. The caller holds the workspace's lock.
 */
public final class WorkspaceUse {
  private final LedgerState ledger;
  private final RunWorkspaces workspaces;

  /**
   * The tree after an effect.
   *
   * @param tree absent where the effect uses no workspace, or where it could not be measured
   * @param failure why it could not be measured
   */
  public record After(Optional<Digest> tree, Optional<String> failure) {
    /** For an effect that uses no workspace. */
    public static final After NONE = new After(Optional.empty(), Optional.empty());
  }

  public WorkspaceUse(LedgerState ledger, RunWorkspaces workspaces) {
    this.ledger = ledger;
    this.workspaces = workspaces;
  }

  /**
   * Stage 3.
   *
   * @throws WritException {@code EXE-311} if the result of an earlier effect in it is unknown
   */
  void requireSettled(Scope scope) {
    List<String> requests = new ArrayList<>();
    ledger.scan(
        Tables.UNSETTLED,
        Tables.prefix(scope.tenant(), scope.run()),
        (key, _) -> {
          requests.add("sha256:" + Tables.lastPart(key));
          return requests.size() < 3;
        });
    if (!requests.isEmpty()) {
      throw new WritException(
          ExecutorError.WORKSPACE_QUARANTINED,
          "run " + scope.run() + ", by request " + String.join(", ", requests));
    }
  }

  /**
   * The digest of the current tree; used in stage 3.
   *
   * @param pinned the digest that the effect pins
   * @throws WritException {@code EXE-310} where it is another one, and the keeper's code where it
   *     cannot be measured
   */
  Digest before(Scope scope, Optional<Digest> pinned) {
    Digest tree = workspaces.treeDigest(scope.tenant(), scope.run());
    if (pinned.isPresent() && !pinned.get().equals(tree)) {
      throw new ObservedException(
          ExecutorError.WORKSPACE_PIN,
          "pinned " + pinned.get() + ", is " + tree,
          Observed.workspace(tree));
    }
    return tree;
  }

  /** The digest of the tree after the tool has ended; used in stage 4. Never throws. */
  After after(Scope scope) {
    try {
      return new After(
          Optional.of(workspaces.treeDigest(scope.tenant(), scope.run())), Optional.empty());
    } catch (WritException e) {
      return new After(Optional.empty(), Optional.of(e.code().code() + " " + e.found()));
    } catch (Throwable e) { // the effect happened: a failure here goes into its receipt
      OutOfMemory.report(e);
      return new After(Optional.empty(), Optional.of(DriverFailed.nameOf(e)));
    }
  }

  // The rows, which are written with the events that cause them.

  /** Marks an effect as dispatched in the workspace, which is quarantined from now on. */
  static void dispatched(RunTurn turn, Scope scope, Digest request, Digest before) {
    turn.batch()
        .put(Tables.WORKSPACE, Tables.key(scope.tenant(), scope.run()), new byte[0])
        .put(Tables.UNSETTLED, key(scope, request), before.bytes());
  }

  /** Ends the quarantine: the outcome is known, or an operator has resolved it. */
  public static void settled(RunTurn turn, Scope scope, Digest request) {
    turn.batch().delete(Tables.UNSETTLED, key(scope, request));
  }

  /** The tree before a dispatched effect whose end is unknown; absent if it uses no workspace. */
  public static Optional<Digest> before(LedgerState ledger, Scope scope, Digest request) {
    return ledger.get(Tables.UNSETTLED, key(scope, request)).map(Digest::ofBytes);
  }

  /** The key of an effect's row in {@link Tables#UNSETTLED}. */
  public static String key(Scope scope, Digest request) {
    return Tables.key(scope.tenant(), scope.run(), request.hex());
  }
}
