package dev.writ.executor.stage;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Called by the working thread when a part of the work begins and ends. It sees no documents and
 * cannot influence the work; an observer that measures time reads its own clock, since the kernel
 * must not. No method may throw.
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
   * @param refused the code with which the stage refused
   */
  void ends(Stage stage, Optional<ErrorCode> refused);

  /**
   * Stage 7 could not keep a content; the receipt has {@code EXE-701} or {@code EXE-702}, and this
   * is called between the stage's beginning and its end.
   *
   * @param why with the code of what keeps contents, or what nobody foresaw
   */
  default void notStored(RuntimeException why) {}

  /** Runs a stage's work between both calls. */
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
