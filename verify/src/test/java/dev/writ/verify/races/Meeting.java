package dev.writ.verify.races;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.Kernel;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.fixture.Await;
import dev.writ.ledger.CommitObserver;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A second caller who comes exactly while the first is in a stage: it is started when that stage
 * begins, and the first goes on when the second waits for a lock, or is done.
 */
final class Meeting {
  private final CompletableFuture<Void> second = new CompletableFuture<>();

  private Meeting() {}

  /**
   * @param stage in whose first beginning, by any caller, the second one comes
   * @param call of the second
   */
  static Meeting at(Kernel kernel, Stage stage, Runnable call) {
    Meeting meeting = new Meeting();
    kernel.observe(meeting.new Watch(stage, call), CommitObserver.NONE);
    return meeting;
  }

  /** Waits for the second caller, and throws what it threw. */
  void end() throws Exception {
    second.get(60, TimeUnit.SECONDS);
  }

  private final class Watch implements StageObserver {
    private final Stage stage;
    private final Runnable call;
    private boolean met;

    Watch(Stage stage, Runnable call) {
      this.stage = stage;
      this.call = call;
    }

    @Override
    public void begins(Stage begun) {
      synchronized (this) {
        if (met || begun != stage) {
          return;
        }
        met = true;
      }
      Thread thread = Thread.ofPlatform().daemon().unstarted(this::second);
      thread.start();
      Await.until(() -> second.isDone() || thread.getState() == Thread.State.WAITING);
    }

    private void second() {
      try {
        call.run();
        second.complete(null);
      } catch (Throwable e) {
        second.completeExceptionally(e);
      }
    }

    @Override
    public void ends(Stage ended, Optional<ErrorCode> refused) {}
  }
}
