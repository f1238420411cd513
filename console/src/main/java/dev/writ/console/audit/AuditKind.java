package dev.writ.console.audit;

/** What a job does with each of its runs. */
enum AuditKind {
  /** Exports the run and verifies it as {@code writ verify} does. */
  VERIFY,
  /** Executes the recorded run again, and names the first difference. */
  REPLAY,
  /** Makes the page that verifies itself. */
  REPORT,
  /** Two runs side by side. */
  COMPARE
}
