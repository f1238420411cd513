package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.policy.RunLimits;
import dev.writ.ledger.Event;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

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
   */
  synchronized List<Over> over() {
    RunLimits limits = kernel.system().policyInForce().runs().orElse(RunLimits.DEFAULT);
    if (!known) {
      known = true;
      read();
    }
    Instant now = kernel.now();
    Instant restarted = restarted();
    List<Over> over = new ArrayList<>();
    open.removeIf(run -> isClosedOrForeign(run));
    for (RunId run : open) {
      RunState state = state(run).orElseThrow();
      if (state.unfinished().pending() == 0
          && state.unfinished().running() == 0
          && state.unfinished().inDoubt() == 0
          && isOver(run, limits, now, restarted)) {
        over.add(new Over(openers.get(state.opener()), run));
      }
    }
    return over;
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
              if (!state.closed() && openers.containsKey(state.opener())) {
                open.add(new RunId(key.substring(0, key.length() - run.length() - 1), run));
              }
              return true;
            });
  }

  private boolean isClosedOrForeign(RunId run) {
    return state(run).filter(s -> !s.closed() && openers.containsKey(s.opener())).isEmpty();
  }

  private Optional<RunState> state(RunId run) {
    return kernel
        .ledger()
        .get(Tables.RUN, Tables.key(run.tenant(), run.run()))
        .map(RunState::parse);
  }

  /** When an operator last set the log's time back. */
  private Instant restarted() {
    LedgerView ledger = kernel.ledger();
    Instant[] at = {Instant.MAX};
    List<Long> restarts = ledger.timeRestarts();
    if (!restarts.isEmpty()) {
      long index = restarts.getLast();
      ledger.eventsByIndex(index, index + 1, (_, event) -> at[0] = event.at());
    }
    return at[0];
  }

  /** Times in the future count as the time at which the log's time was set back, at the latest. */
  private boolean isOver(RunId run, RunLimits limits, Instant now, Instant restarted) {
    LedgerView ledger = kernel.ledger();
    Instant first = ledger.event(run, 0).map(Event::at).orElse(now);
    Instant last = ledger.head(run).map(Event::at).orElse(now);
    return limits.isOver(
        first.isAfter(now) ? restarted : first, last.isAfter(now) ? restarted : last, now);
  }

  /** Whether the run was used or closed at the last moment; it is left as it is then. */
  static boolean isOfTheMoment(WritException e) {
    return List.of("EXE-901", "EXE-903").contains(e.code().code());
  }
}
