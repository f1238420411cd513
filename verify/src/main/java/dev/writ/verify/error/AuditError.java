package dev.writ.verify.error;

import dev.writ.canonicalize.ErrorCode;

/**
 * Problems that an audit finds; the verifiers of a bundle refuse with the same codes. They share
 * their prefix with {@link dev.writ.executor.error.ExecutorError}.
 */
public enum AuditError implements ErrorCode {
  SYSTEM(
      "EXE-950",
      "the system run is inconsistent, or something depends on a change that it does not contain",
      "Ask the operator who signed what; nothing that came after it can be trusted."),
  SIGNATURE(
      "EXE-951",
      "a logged document's signature is not valid at its position in the log",
      "Find out who wrote it: nobody who may sign it did."),
  DOCUMENT(
      "EXE-952",
      "an event's document is missing, malformed, of another kind, or of another run",
      "Run `writ fsck`, and restore what is missing from a backup or a bundle."),
  BINDING(
      "EXE-953",
      "documents of one effect do not belong together",
      "Do not rely on this effect; find out who holds the keys that signed it."),
  ORDER(
      "EXE-954",
      "an event is not allowed by the events before it",
      "Do not rely on this run; find out who holds the executor's key."),
  CHAIN(
      "EXE-955",
      "a receipt or a closing does not continue its run",
      "Do not rely on this run; find out who holds the executor's key."),
  JUDGEMENT(
      "EXE-956",
      "a decision differs from the one that judging again gives",
      "Find out who holds the Guardian's key, and whether the judgement's version changed."),
  TWICE(
      "EXE-957",
      "a nonce, an idempotency key, an intent or a step was used twice",
      "Find out what was done twice, and who holds the keys."),
  ACCOUNT(
      "EXE-958",
      "a recorded balance or count differs from the sum of the decisions before it",
      "Find out who holds the Guardian's key; add up by hand what was spent."),
  ROW(
      "EXE-959",
      "a stored row contradicts the events",
      "Stop the kernel: it would act on the row. Restore a backup."),
  DELETION(
      "EXE-961",
      "a statement of deletion names what no rule of the policy in force allowed to delete",
      "Find out who holds the executor's key; restore the content from a backup or a bundle."),
  CELLS(
      "EXE-997",
      "what the system cell states of a cell's log does not follow from what it stated before",
      "Two roots of one size are the proof of a fork: keep both statements, and find out who holds"
          + " the keys of the log and the Guardian."),
  MOVES(
      "EXE-999",
      "what a log has of a tenant that was moved does not follow from where the tenant was",
      "Find out who holds the keys of the Guardian and the executor: work was recorded in a cell"
          + " that did not have the tenant, or accounts were carried over that nobody had."),
  TIME(
      "EXE-982",
      "an event's time is too far back for the log",
      "Find out who set the clock back, and what ran meanwhile.");

  private final Entry entry;

  AuditError(String code, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
  }

  @Override
  public Entry entry() {
    return entry;
  }
}
