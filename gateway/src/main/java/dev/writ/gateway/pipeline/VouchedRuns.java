package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.policy.limit.RunLimits;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The open runs that surfaces opened for their callers, and which of them must be closed (protocol
 * rule 33). Thread safe.
 */
final class VouchedRuns {
  private final Kernel kernel;
  private final SortedMap<String, String> openers;
  private final TreeSet<RunId> open = new TreeSet<>(BY_NAME);
  private boolean known;

  private static final Comparator<RunId> BY_NAME =
      Comparator.comparing(RunId::tenant).thenComparing(RunId::run);

  /** A run, and the surface whose key opened it. */
  record Over(String surface, RunId run) {}

  /**
   * @param openers by key id: the surface of each surface key that this server has
   */
  VouchedRuns(Kernel kernel, SortedMap<String, String> openers) {
    this.kernel = kernel;
    this.openers = new TreeMap<>(openers);
  }

  /** A surface vouched for a request in a run. */
  synchronized void used(RunId run) {
    if (known) {
      open.add(run);
    }
  }

  /**
   * The runs to close now: idle or open for longer than policy allows, and with nothing unfinished.
   *
   * @param failures gets what was thrown for a run; the others are looked at all the same
   */
  synchronized List<Over> over(Consumer<RuntimeException> failures) {
    RunLimits limits = kernel.system().policyInForce().runs().orElse(RunLimits.DEFAULT);
    if (!known) {
      known = true;
      read();
    }
    Instant now = kernel.look();
    Instant restarted = restarted(now);
    List<Over> over = new ArrayList<>();
    for (RunId run : List.copyOf(open)) {
      try {
        Optional<RunState> state = state(run).filter(this::isOpenAndOurs);
        if (state.isEmpty()) {
          open.remove(run);
        } else if (isFinished(state.get()) && isOver(run, limits, now, restarted)) {
          over.add(new Over(openers.get(state.get().opener()), run));
        }
      } catch (RuntimeException e) {
        failures.accept(e);
      }
    }
    return over;
  }

  private static boolean isFinished(RunState state) {
    return state.unfinished().pending() == 0
        && state.unfinished().running() == 0
        && state.unfinished().inDoubt() == 0;
  }

  /** Reads, once, the runs that were opened before this server started to count. */
  private void read() {
    kernel
        .ledger()
        .scan(
            Tables.RUN,
            "",
            (key, row) -> {
              String run = Tables.lastPart(key);
              RunState state = RunState.parse(row);
              if (isOpenAndOurs(state)) {
                open.add(new RunId(key.substring(0, key.length() - run.length() - 1), run));
              }
              return true;
            });
  }

  private boolean isOpenAndOurs(RunState state) {
    return !state.closed() && openers.containsKey(state.opener());
  }

  private Optional<RunState> state(RunId run) {
    return kernel
        .ledger()
        .get(Tables.RUN, Tables.key(run.tenant(), run.run()))
        .map(RunState::parse);
  }

  /** When an operator last set the log's time back; now, where none ever did. */
  private Instant restarted(Instant now) {
    LedgerView ledger = kernel.ledger();
    Instant[] at = {now};
    List<Long> restarts = ledger.timeRestarts();
    if (!restarts.isEmpty()) {
      long index = restarts.getLast();
      ledger.eventsByIndex(index, index + 1, (_, event) -> at[0] = event.at());
    }
    return at[0];
  }

  /**
   * Times in the future count as the time at which the log's time was set back. Where nobody set it
   * back the event came after {@code now} was taken, and the run is in use.
   */
  private boolean isOver(RunId run, RunLimits limits, Instant now, Instant restarted) {
    LedgerView ledger = kernel.ledger();
    Instant first = ledger.event(run, 0).map(Event::at).orElse(now);
    Instant last = ledger.head(run).map(Event::at).orElse(now);
    return limits.isOver(
        first.isAfter(now) ? restarted : first, last.isAfter(now) ? restarted : last, now);
  }

  /** Whether the run was used or closed at the last moment; it is left as it is then. */
  static boolean isOfTheMoment(RuntimeException e) {
    return e instanceof WritException refusal
        && List.of("EXE-901", "EXE-903").contains(refusal.code().code());
  }
}
