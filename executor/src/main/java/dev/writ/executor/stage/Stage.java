package dev.writ.executor.stage;

import java.util.Locale;

/** A part of the work on a request, as observers see it. */
public enum Stage {
  /** Size, form, keys, age and signature of a request. */
  ADMISSION,
  /** Waiting for other threads that work on the same request or idempotency key. */
  TURN,
  /** The four checks, and the signing of decision and intent. */
  JUDGEMENT,
  /** Making a judgement durable that no execution follows. */
  DECISION,
  /** Stage 1. */
  GATE,
  /** Stage 2. */
  SNAPSHOT,
  /** Stage 3. */
  PREPARE,
  /** Stage 4, first half: the dispatch of an impure effect is made durable. */
  DISPATCH,
  /** Stage 4, second half: the tool works. */
  RUN,
  /** Stage 5. */
  DRIFT,
  /** Stage 6. */
  CANONICALIZE,
  /** Stage 7. */
  STORE,
  /** Stage 8: receipt, signature, commit. */
  RECEIPT;

  private final String text = name().toLowerCase(Locale.ROOT);

  /** For labels. */
  public String text() {
    return text;
  }
}
