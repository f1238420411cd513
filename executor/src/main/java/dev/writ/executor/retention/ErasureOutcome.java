package dev.writ.executor.retention;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.Optional;

/**
 * What an order of erasure has come to in a ledger.
 *
 * @param done when it was carried out; absent while it waits
 * @param removed contents that it covers and that are gone
 * @param kept contents that it covers and that stay, because others use them
 * @param keysDestroyed what was sealed under them opens nowhere any more
 */
public record ErasureOutcome(Optional<Instant> done, long removed, long kept, long keysDestroyed) {
  /** Reads the statements that follow from an order. */
  public static ErasureOutcome of(LedgerView ledger, Digest order) {
    DigestSet stated = new DigestSet();
    ledger.events(
        Deletion.RUN,
        0,
        event -> {
          Deletion statement =
              Deletion.read(ledger.document(event.body()).orElseThrow().document());
          if (statement.reason().equals(new Deletion.Order(order))) {
            statement.contents().forEach(item -> stated.add(item.digest()));
          }
        });
    long[] counts = {0, 0};
    stated.drainSorted(content -> counts[ledger.hasBlob(content) ? 1 : 0]++);
    Optional<ErasureRow> row = ledger.get(Tables.ERASURE, Tables.key(order)).map(ErasureRow::parse);
    Optional<Instant> done = row.flatMap(ErasureRow::done);
    return new ErasureOutcome(
        done, counts[0], counts[1], done.isPresent() ? row.get().keys().size() : 0);
  }

  /** Whether it was carried out, and there was nothing for it to do. */
  public boolean isOfNothing() {
    return done.isPresent() && removed == 0 && kept == 0 && keysDestroyed == 0;
  }
}
