package dev.writ.verify.audit;

import static dev.writ.verify.error.AuditError.BINDING;
import static dev.writ.verify.error.AuditError.ORDER;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.event.Event;
import java.util.List;
import java.util.Optional;

/** Checks the statements of receipts about their run's workspace (protocol rule 20). */
final class WorkspaceCheck {
  /** Codes of receipts that may lack the tree after the effect: the failure hid it. */
  private static final List<String> NOT_MEASURED =
      List.of(
          ExecutorError.WORKSPACE_UNMEASURED.code(),
          ExecutorError.STORE_INTEGRITY.code(),
          ExecutorError.STORE_FAILED.code());

  private final Findings findings;
  private final Rejudging rejudging;

  WorkspaceCheck(Findings findings, Rejudging rejudging) {
    this.findings = findings;
    this.rejudging = rejudging;
  }

  /**
   * @param pinned the tree that the effect pins
   * @param dispatchedAt sequence number of the dispatch
   */
  void receipt(
      OpenRun run, Event event, Receipt receipt, Optional<Digest> pinned, long dispatchedAt) {
    String place = Findings.place(event);
    Optional<Digest> before = receipt.workspaceBefore();
    if (pinned.isPresent()) {
      findings.same(BINDING, place + " /workspace_before", before, pinned);
    }
    rejudging
        .usesWorkspace(receipt.tool())
        .ifPresent(uses ->
            findings.same(
                BINDING, place + " /workspace_before is there", before.isPresent(), uses));
    after(receipt, place);
    if (before.isPresent()) {
      findings.workspaces++;
      OpenWorkspace workspace = run.workspace;
      workspace
          .taken(dispatchedAt)
          .ifPresent(
              why -> findings.problem(ORDER, place, why, "one effect in it after the other"));
      found(workspace, before.get(), place);
      workspace.left(
          event.body(), receipt.request(), before.get(), receipt.workspaceAfter(), event.seq());
    }
  }

  /** The tree after must be stated if the tool's end was seen and the tree could be measured. */
  private void after(Receipt receipt, String place) {
    boolean there = receipt.workspaceAfter().isPresent();
    boolean may = receipt.workspaceBefore().isPresent() && receipt.status() != Status.IN_DOUBT;
    boolean need = may && receipt.code().filter(NOT_MEASURED::contains).isEmpty();
    boolean unmeasured =
        receipt.code().filter(ExecutorError.WORKSPACE_UNMEASURED.code()::equals).isPresent();
    if (there && (!may || unmeasured) || !there && need) {
      findings.problem(BINDING, place + " /workspace_after is there", there, need);
    }
  }

  /**
   * Only the owner of the host can change it between effects, so a change is reported but is no
   * problem.
   */
  private void found(OpenWorkspace workspace, Digest before, String place) {
    if (workspace.tree().filter(left -> !left.equals(before)).isEmpty()) {
      return;
    }
    if (before.equals(RunWorkspaces.EMPTY)) {
      findings.emptied++;
    } else {
      findings.changed(place);
    }
  }
}
