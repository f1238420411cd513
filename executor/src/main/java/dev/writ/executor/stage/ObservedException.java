package dev.writ.executor.stage;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Observed;

/** A stage's refusal with further fields for its document. */
public final class ObservedException extends WritException {
  private static final long serialVersionUID = 1L;

  private final transient Observed observed;

  public ObservedException(ErrorCode code, String found, Observed observed) {
    super(code, found);
    this.observed = observed;
  }

  /** What the stage met. */
  public Observed observed() {
    return observed;
  }
}
