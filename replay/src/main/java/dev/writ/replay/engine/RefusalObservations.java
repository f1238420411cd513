package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Refusal;
import java.util.Optional;
import java.util.function.Function;

/**
 * The executor's observation at a refusal. Refusals that are older than the field {@code observed}
 * have it only at the end of their message, whose form is fixed for them; newer messages are not
 * parsed.
 */
final class RefusalObservations {
  private RefusalObservations() {}

  static Optional<Observed> of(Refusal refusal) {
    return refusal.observed().or(() -> fromMessage(refusal));
  }

  private static Optional<Observed> fromMessage(Refusal refusal) {
    if (refusal.code().equals(ExecutorError.SNAPSHOT.code())) {
      return digest(refusal, ", now ").map(Observed::snapshot);
    } else if (refusal.code().equals(ExecutorError.WORKSPACE_PIN.code())) {
      return digest(refusal, ", is ").map(Observed::workspace);
    } else if (refusal.code().equals(ExecutorError.INPUT_UNKNOWN.code())) {
      return behind(refusal, ", ", _ -> Observed.input(before(refusal, ", ")));
    }
    return Optional.empty();
  }

  private static Optional<Digest> digest(Refusal refusal, String mark) {
    return behind(refusal, mark, Function.identity());
  }

  private static <T> Optional<T> behind(Refusal refusal, String mark, Function<Digest, T> then) {
    int at = refusal.found().lastIndexOf(mark);
    try {
      return at < 0
          ? Optional.empty()
          : Optional.of(then.apply(Digest.parse(refusal.found().substring(at + mark.length()))));
    } catch (WritException e) {
      return Optional.empty(); // it was cut
    }
  }

  private static String before(Refusal refusal, String mark) {
    return refusal.found().substring(0, refusal.found().lastIndexOf(mark));
  }
}
