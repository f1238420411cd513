package dev.writ.executor;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.stage.ObservedException;
import dev.writ.guardian.document.Refusal;

/** An error code as a recorded document states it, from any module. */
public record RecordedCode(String code) implements ErrorCode {

  /** The exception that a stage threw for this recorded refusal. */
  public static WritException thrown(Refusal refusal) {
    RecordedCode code = new RecordedCode(refusal.code());
    return refusal.observed().isPresent()
        ? new ObservedException(code, refusal.found(), refusal.observed().get())
        : new WritException(code, refusal.found());
  }

  @Override
  public Entry entry() {
    return new Entry(code, "as recorded", "See spec/errors.md.");
  }
}
