package dev.writ.executor.journal;

/** The kinds of journal events that the executor writes (spec/journal.md, protocol rule 28). */
public final class EventKind {
  public static final String RUN_OPENED = "run.opened";
  public static final String REQUEST_RECEIVED = "request.received";
  public static final String APPROVAL_RECEIVED = "approval.received";
  public static final String DECISION_MADE = "decision.made";
  public static final String INTENT_ISSUED = "intent.issued";
  public static final String EFFECT_REFUSED = "effect.refused";
  public static final String EFFECT_DISPATCHED = "effect.dispatched";
  public static final String EFFECT_FINISHED = "effect.finished";
  public static final String RECEIPT_SIGNED = "receipt.signed";
  public static final String DOUBT_RESOLVED = "doubt.resolved";
  public static final String RUN_CLOSED = "run.closed";

  public static final String POLICY_ACTIVATED = "policy.activated";
  public static final String KEY_ENROLLED = "key.enrolled";
  public static final String KEY_REVOKED = "key.revoked";
  public static final String TOOL_SUBMITTED = "tool.submitted";
  public static final String TOOL_VALIDATED = "tool.validated";
  public static final String TOOL_APPROVED = "tool.approved";
  public static final String TOOL_STAGED = "tool.staged";
  public static final String TOOL_REVOKED = "tool.revoked";
  public static final String RUNTIME_APPROVED = "runtime.approved";
  public static final String RUNTIME_WITHDRAWN = "runtime.withdrawn";
  public static final String LEDGER_INCARNATED = "ledger.incarnated";
  public static final String CLOCK_CORRECTED = "clock.corrected";

  public static final String HOLD_PLACED = "hold.placed";
  public static final String HOLD_RELEASED = "hold.released";
  public static final String TENANT_PLACED = "tenant.placed";
  public static final String TENANT_MOVED = "tenant.moved";
  public static final String CELL_PLACED = "cell.placed";

  public static final String CONTENTS_ERASED = "contents.erased";

  /** Of the run {@link dev.writ.executor.document.Deletion#RUN} alone. */
  public static final String CONTENT_DELETED = "content.deleted";

  /** Of the run {@link dev.writ.executor.document.ReadEvent#RUN} alone. */
  public static final String CONTENT_READ = "content.read";

  /** Of the run {@link dev.writ.executor.document.CellCheckpoints#RUN} alone. */
  public static final String CELLS_STATED = "cells.stated";

  /** Of the run {@link dev.writ.executor.document.TenantDeparted#RUN} alone. */
  public static final String TENANT_DEPARTED = "tenant.departed";

  /** Of the run {@link dev.writ.executor.document.TenantDeparted#RUN} alone. */
  public static final String TENANT_ARRIVED = "tenant.arrived";

  private EventKind() {}
}
