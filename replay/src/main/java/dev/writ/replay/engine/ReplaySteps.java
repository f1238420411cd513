package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.journal.EventKind;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Groups the events of a run into steps: the events of one judgement, one dispatch or one receipt.
 * An effect whose receipt directly follows its dispatch is one step, since a pure effect is written
 * so.
 */
final class ReplaySteps {
  private final Function<Digest, Digest> intentOfReceipt;
  private final Consumer<List<Placed>> taker;
  private List<Placed> step = new ArrayList<>();

  /**
   * @param intentOfReceipt the intent that a receipt is of
   */
  ReplaySteps(Function<Digest, Digest> intentOfReceipt, Consumer<List<Placed>> taker) {
    this.intentOfReceipt = intentOfReceipt;
    this.taker = taker;
  }

  void event(Placed next) {
    if (!step.isEmpty() && !continues(next)) {
      flush();
    }
    step.add(next);
  }

  /** Passes on the step that is still held. */
  void flush() {
    if (!step.isEmpty()) {
      List<Placed> whole = step;
      step = new ArrayList<>();
      split(whole);
    }
  }

  private boolean continues(Placed next) {
    String last = step.getLast().kind();
    return switch (next.kind()) {
      case EventKind.REQUEST_RECEIVED -> last.equals(EventKind.RUN_OPENED);
      case EventKind.DECISION_MADE ->
          last.equals(EventKind.REQUEST_RECEIVED) || last.equals(EventKind.APPROVAL_RECEIVED);
      case EventKind.INTENT_ISSUED -> last.equals(EventKind.DECISION_MADE);
      case EventKind.EFFECT_FINISHED -> last.equals(EventKind.EFFECT_DISPATCHED);
      case EventKind.RECEIPT_SIGNED ->
          last.equals(EventKind.EFFECT_FINISHED) || last.equals(EventKind.EFFECT_DISPATCHED);
      default -> false;
    };
  }

  /** A receipt that follows a dispatch may be of another effect. */
  private void split(List<Placed> whole) {
    boolean both =
        whole.getFirst().kind().equals(EventKind.EFFECT_DISPATCHED)
            && whole.getLast().kind().equals(EventKind.RECEIPT_SIGNED);
    if (both
        && !intentOfReceipt
            .apply(whole.getLast().event().body())
            .equals(whole.getFirst().event().body())) {
      taker.accept(whole.subList(0, 1));
      taker.accept(whole.subList(1, whole.size()));
    } else {
      taker.accept(whole);
    }
  }
}
