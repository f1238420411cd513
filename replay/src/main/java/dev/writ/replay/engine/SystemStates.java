package dev.writ.replay.engine;

import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.GovernedTool;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.event.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The states in force along the log. Work that began under a state may reach the log a moment after
 * the state changed (the audit allows the same time). So at one place of the log several states are
 * possible; the newest comes first.
 */
final class SystemStates {
  private static final Duration IN_FLIGHT = Duration.ofSeconds(60);

  private record Past(SystemState state, Instant until) {}

  private final DocumentSource documents;
  private final ArrayDeque<Past> past = new ArrayDeque<>();
  private SystemState now = SystemState.NOTHING;

  SystemStates(DocumentSource documents) {
    this.documents = documents;
  }

  void event(Event event) {
    SystemState next = now.after(event, documents);
    if (event.kind().equals(EventKind.CLOCK_CORRECTED)) {
      past.clear(); // the kernel was stopped: no work was in flight
      now = next;
    } else if (next != now) {
      past.addLast(new Past(now, event.at()));
      while (past.getFirst().until().plus(IN_FLIGHT).plus(IN_FLIGHT).isBefore(event.at())) {
        past.removeFirst();
      }
      now = next;
    }
  }

  /** The states under which work at that time may have been done. */
  List<SystemState> at(Instant time) {
    List<SystemState> states = new ArrayList<>();
    states.add(now);
    for (Past p : past.reversed()) {
      if (p.until().plus(IN_FLIGHT).isBefore(time)) {
        break;
      }
      if (p.state().policy().isPresent()) {
        states.add(p.state());
      }
    }
    return states;
  }

  /**
   * Those of them with a decision's policy, and among these the ones in which governance has the
   * tool in its recorded state; if there are none with that state, all with the policy.
   */
  List<SystemState> at(Instant time, Decision decision, Effect effect) {
    List<SystemState> policy =
        preferred(
            at(time), s -> s.policy().map(Policy::digest).equals(Optional.of(decision.policy())));
    Optional<GovernedTool> governed = JudgeInputs.read(decision.inputs()).governed();
    return preferred(
        policy,
        s -> s.policy().flatMap(p -> p.governed(effect.tool(), effect.version())).equals(governed));
  }

  private static List<SystemState> preferred(
      List<SystemState> states, Predicate<SystemState> wanted) {
    List<SystemState> found = states.stream().filter(wanted).toList();
    return found.isEmpty() ? states : found;
  }
}
