package dev.writ.executor;

import dev.writ.executor.journal.Tables;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import java.util.List;
import java.util.Optional;

/**
 * Rows of the store on which no decision, document or event depends. Thread safe; each method
 * returns when its row is durable. See {@link Kernel#auxiliary}.
 */
public final class AuxiliaryRows {
  private final Ledger ledger;

  AuxiliaryRows(Ledger ledger) {
    this.ledger = ledger;
  }

  /** Saves how far a sink is. */
  public void saveSink(String name, byte[] row) {
    ledger.append(new Batch().put(Tables.SINK, name, row)).await();
  }

  /**
   * Saves a record that a sink gave up on, or is to send again.
   *
   * @param row absent to remove it
   */
  public void saveDeadLetter(String key, Optional<byte[]> row) {
    Batch batch = new Batch();
    row.ifPresentOrElse(
        bytes -> batch.put(Tables.DEAD_LETTER, key, bytes),
        () -> batch.delete(Tables.DEAD_LETTER, key));
    ledger.append(batch).await();
  }

  /**
   * Saves that a signature was accepted.
   *
   * @param key in {@link Tables#SIGNATURE}
   * @param over keys of earlier ones whose time is over; they are removed
   */
  public void saveSignature(String key, List<String> over) {
    Batch batch = new Batch().put(Tables.SIGNATURE, key, new byte[0]);
    over.forEach(old -> batch.delete(Tables.SIGNATURE, old));
    ledger.append(batch).await();
  }
}
