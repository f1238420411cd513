package dev.writ.sinks.incident;

import dev.writ.gateway.config.AlertThresholds;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.feed.MessageFeed;
import dev.writ.sinks.feed.RecordReader;
import dev.writ.surfaces.text.ContentSource;
import java.time.Duration;
import java.util.Optional;
import java.util.SortedSet;

/**
 * Which incidents a sink gets.
 *
 * @param words kinds and alerts, of which an incident has one at least; empty for all
 * @param giveUpAfter how long one is tried
 */
public record IncidentFeed(
    SortedSet<String> words, AlertThresholds thresholds, Duration giveUpAfter)
    implements MessageFeed {

  /** Outputs, as far as they are still stored. */
  public static ContentSource contents(LedgerView ledger) {
    return (_, content, bytesMax) ->
        ledger.hasBlob(content.digest())
            ? Optional.of(ledger.blob(content.digest(), bytesMax))
            : Optional.empty();
  }

  @Override
  public RecordReader reader(LedgerView ledger) {
    IncidentJournal journal = new IncidentJournal(ledger, contents(ledger), thresholds);
    return event ->
        journal
            .read(event)
            .filter(found ->
                words.isEmpty()
                    || IncidentJournal.words(found.fields()).stream().anyMatch(words::contains));
  }
}
