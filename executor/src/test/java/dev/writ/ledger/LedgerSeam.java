package dev.writ.ledger;

/** Lets tests of other modules make the disk fail. */
public final class LedgerSeam {
  private LedgerSeam() {}

  /** Called before each write; what it throws is what the disk says. */
  @FunctionalInterface
  public interface BeforeWrite {
    void write();
  }

  /** The log's time goes on from the batch's first event, whoever says so. */
  public static Batch restarting(Batch batch) {
    return batch.restartingTime();
  }

  /** The same, and the ledger is of that incarnation from then on. */
  public static Batch restarting(Batch batch, long incarnation) {
    return batch.incarnation(incarnation).restartingTime();
  }

  public static Ledger open(LedgerConfig config, BeforeWrite before) {
    return Ledger.open(
        config,
        disk ->
            batch -> {
              before.write();
              disk.write(batch);
            });
  }
}
