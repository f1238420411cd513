package dev.writ.sinks.feed;

import dev.writ.ledger.LedgerView;
import java.time.Duration;

/**
 * Which messages to people a sink gets, out of the journal. Such a sink begins with what comes, and
 * gives up what its receiver does not take.
 */
public interface MessageFeed {
  /** Reads them in a journal. */
  RecordReader reader(LedgerView ledger);

  /** How long one is tried. */
  Duration giveUpAfter();
}
