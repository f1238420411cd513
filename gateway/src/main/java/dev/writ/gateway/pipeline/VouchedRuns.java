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
 * The open runs that surfaces opened for their callers, and which of them are over (protocol rule
 * 33). Nothing is remembered while policy does not say when they close. Thread safe.
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
   * @param openers by key id: the surface whose key it is, of those that can sign here
   */
  VouchedRuns(Kernel kernel, SortedMap<String, String> openers) {
    this.kernel = kernel;
    this.openers = new TreeMap<>(openers);
  }

  /** Something was vouched for in a run. */
  synchronized void used(RunId run) {
    if (known) {
      open.add(run);
    }
  }

  /** Those that are to be closed now: idle or alive for so long, and with nothing unfinished. */
  synchronized List<Over> over() {
    Optional<RunLimits> limits = kernel.system().policyInForce().runs();
    if (limits.isEmpty()) {
      open.clear();
      known = false;
      return List.of();
    }
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
          && isOver(run, limits.get(), now, restarted)) {
        over.add(new Over(openers.get(state.opener()), run));
      }
    }
    return over;
  }

  /** Once: what was opened before this server began to count. */
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

  /** When an operator had the log's time go back last. */
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

  /** What happened at a time that is not yet happened when time went back, at the latest. */
  private boolean isOver(RunId run, RunLimits limits, Instant now, Instant restarted) {
    LedgerView ledger = kernel.ledger();
    Instant first = ledger.event(run, 0).map(Event::at).orElse(now);
    Instant last = ledger.head(run).map(Event::at).orElse(now);
    return limits.isOver(
        first.isAfter(now) ? restarted : first, last.isAfter(now) ? restarted : last, now);
  }

  /** A run that somebody used, or that somebody closed, at the last moment is left as it is. */
  static boolean isOfTheMoment(WritException e) {
    return List.of("EXE-901", "EXE-903").contains(e.code().code());
  }
}
