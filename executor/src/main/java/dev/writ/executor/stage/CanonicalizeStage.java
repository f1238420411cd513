package dev.writ.executor.stage;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.error.ExecutorError;

/** Stage 6: JSON output in its canonical form; text and bytes as they are. */
public class CanonicalizeStage {

  public Result canonicalize(Result result) {
    if (!result.succeeded() || !result.output().orElseThrow().mediaType().equals(Drift.JSON)) {
      return result;
    }
    try {
      return result.withOutput(
          result.parsed().isPresent()
              ? Jcs.write(result.parsed().get())
              : Jcs.canonicalize(result.output().get().bytes()));
    } catch (WritException e) {
      return result.refuse(ExecutorError.NO_CANONICAL_FORM, e.code().code() + " " + e.found());
    }
  }
}
