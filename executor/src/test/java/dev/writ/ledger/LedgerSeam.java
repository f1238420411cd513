package dev.writ.ledger;

/** Lets tests of other modules make the disk fail. */
public final class LedgerSeam {
  private LedgerSeam() {}

  /** Called before each write; what it throws is what the disk says. */
  @FunctionalInterface
  public interface BeforeWrite {
    void write();
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
