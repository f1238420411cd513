package dev.writ.console.policy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.SystemState;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.RecordedDecisions;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** Some decisions of a ledger, with what their runs had done by then. */
final class LedgerDecisions implements RecordedDecisions {
  /** Events that are read for one call. */
  private static final long READS_MAX = 100_000;

  private final LedgerView ledger;
  private final Function<ToolRef, Optional<ToolManifest>> manifests;
  private final TreeMap<Long, Event> events = new TreeMap<>();

  /**
   * @param decisions that are wanted
   * @throws WritException {@code GWY-117}
   */
  LedgerDecisions(
      LedgerView ledger,
      Function<ToolRef, Optional<ToolManifest>> manifests,
      Collection<RunId> runs,
      Set<Digest> decisions) {
    this.ledger = ledger;
    this.manifests = manifests;
    requireFew(ledger, runs);
    add(SystemState.RUN, _ -> true);
    runs.forEach(run ->
        add(
            run,
            event ->
                event.kind().equals(EventKind.RECEIPT_SIGNED)
                    || event.kind().equals(EventKind.DECISION_MADE)
                        && decisions.contains(event.body())));
  }

  /**
   * @throws WritException {@code GWY-117}
   */
  static void requireFew(LedgerView ledger, Collection<RunId> runs) {
    long many =
        runs.stream().mapToLong(run -> ledger.head(run).map(Event::seq).orElse(0L) + 1).sum();
    if (many > READS_MAX) {
      throw new WritException(
          PolicyDeskError.TOO_MUCH, many + " events, at most " + READS_MAX + " are read");
    }
  }

  private void add(RunId run, Predicate<Event> wanted) {
    ledger.events(
        run,
        0,
        event -> {
          if (wanted.test(event)) {
            events.put(ledger.indexOf(run, event.seq()).orElseThrow(), event);
          }
        });
  }

  @Override
  public void events(Consumer<Event> visitor) {
    events.values().forEach(visitor);
  }

  @Override
  public Optional<ToolManifest> tool(ToolRef tool) {
    return manifests.apply(tool);
  }

  @Override
  public Optional<Envelope> document(Digest id) {
    return ledger.document(id);
  }
}
