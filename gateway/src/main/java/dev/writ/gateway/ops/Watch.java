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
 * Reads the clock where the kernel must not: for each call the stages that it went through, and for
 * each write to the disk how long it took. A call's work is on one thread, so that is what tells
 * whose a stage is.
 */
public final class Watch implements StageObserver, CommitObserver {
  /** Stages of one call that are kept: a call with more is no ordinary one. */
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

  /** A call, and the stages it went through. */
  public record Seen(Observer.Finished call, List<Lap> laps) {}

  /** A call begins on this thread. */
  public void callBegins() {
    current.set(new Call());
  }

  /** The call of this thread ended. What its surface does not say of it is filled in. */
  public Seen callEnds(Observer.Finished call) {
    Call seen = current.get();
    current.remove();
    stageBegan.remove();
    return seen == null
        ? new Seen(call, List.of())
        : new Seen(call.about(seen.request, seen.receipt), List.copyOf(seen.laps));
  }

  /** Of which request and receipt the call of this thread is. */
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
      return; // it began before somebody watched
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
