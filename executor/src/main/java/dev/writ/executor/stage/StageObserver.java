package dev.writ.executor.stage;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Is told by the thread that works which part of the work begins and ends. It sees no document, and
 * nothing of what it does comes back: whoever measures time reads a clock of its own, the kernel
 * does not. Neither method may throw.
 */
public interface StageObserver {
  /** Watches nothing. */
  StageObserver NONE =
      new StageObserver() {
        @Override
        public void begins(Stage stage) {}

        @Override
        public void ends(Stage stage, Optional<ErrorCode> refused) {}
      };

  void begins(Stage stage);

  /**
   * @param refused what the stage refused with
   */
  void ends(Stage stage, Optional<ErrorCode> refused);

  /** Does a stage's work between both. */
  static <T> T during(StageObserver observer, Stage stage, Supplier<T> work) {
    Optional<ErrorCode> refused = Optional.empty();
    observer.begins(stage);
    try {
      return work.get();
    } catch (WritException e) {
      refused = Optional.of(e.code());
      throw e;
    } finally {
      observer.ends(stage, refused);
    }
  }

  /** The same for work without a result. */
  static void during(StageObserver observer, Stage stage, Runnable work) {
    during(
        observer,
        stage,
        () -> {
          work.run();
          return null;
        });
  }
}
