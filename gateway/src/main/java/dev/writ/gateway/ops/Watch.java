package dev.writ.gateway.ops;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.gateway.http.Observer;
import dev.writ.ledger.CommitObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Measures times for the kernel, which must not read the clock itself: of each stage of a call, and
 * of each write to the disk. All work of a call runs on one thread, so the thread says to which
 * call a stage belongs.
 */
public final class Watch implements StageObserver, CommitObserver {
  /** The most stages that are kept of one call. */
  private static final int LAPS_MAX = 64;

  private final Metrics metrics;
  private final ThreadLocal<Call> current = new ThreadLocal<>();
  private final ThreadLocal<Long> stageBegan = new ThreadLocal<>();
  private long writeBegan;

  public Watch(Metrics metrics) {
    this.metrics = metrics;
  }

  /** What was seen of one call. */
  private static final class Call {
    final List<Lap> laps = new ArrayList<>();
    Optional<String> request = Optional.empty();
    Optional<String> receipt = Optional.empty();
  }

  /** A call, and its stages so far. */
  public record Seen(Observer.Finished call, List<Lap> laps) {}

  /** A call begins on this thread. */
  public void callBegins() {
    current.set(new Call());
  }

  /** The call of this thread ended. Ids that its surface did not report are filled in. */
  public Seen callEnds(Observer.Finished call) {
    Call seen = current.get();
    current.remove();
    stageBegan.remove();
    return seen == null
        ? new Seen(call, List.of())
        : new Seen(call.about(seen.request, seen.receipt), List.copyOf(seen.laps));
  }

  /** Records the request and receipt of this thread's call. */
  public void answered(Answer answer) {
    Call call = current.get();
    if (call != null) {
      call.request = Optional.of(answer.request().toString());
      call.receipt = answer.served().map(served -> served.id().toString());
    }
  }

  @Override
  public void begins(Stage stage) {
    stageBegan.set(System.nanoTime());
  }

  @Override
  public void ends(Stage stage, Optional<ErrorCode> refused) {
    Long began = stageBegan.get();
    if (began == null) {
      return; // the stage began before the watch was registered
    }
    long nanos = System.nanoTime() - began;
    metrics.stage(stage, refused.isPresent(), nanos);
    Call call = current.get();
    if (call != null && call.laps.size() < LAPS_MAX) {
      call.laps.add(new Lap(stage, began, nanos, refused));
    }
  }

  @Override
  public void begins(int batches) {
    writeBegan = System.nanoTime();
    metrics.group(batches);
  }

  @Override
  public void ends() {
    metrics.commit(System.nanoTime() - writeBegan);
  }
}
