package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;

/**
 * What the executor keeps of a run beside the ledger's event chain.
 *
 * @param opener key id that opened it
 * @param seed 64 hexadecimal digits, from which each effect's seed is derived
 * @param lastReceipt id of the last receipt; of the opening event while there is none
 * @param lamport of the last receipt; 0 while there is none
 * @param unfinished counts of what keeps it from being closed
 */
public record RunState(
    String opener,
    String seed,
    Digest lastReceipt,
    long lamport,
    long receipts,
    Unfinished unfinished,
    boolean closed) {

  /**
   * Counts of requests that wait for approval, effects without a receipt, and receipts in doubt.
   */
  public record Unfinished(long pending, long running, long inDoubt) {
    static final Unfinished NONE = new Unfinished(0, 0, 0);

    public Unfinished plus(long morePending, long moreRunning, long moreInDoubt) {
      Unfinished sum =
          new Unfinished(pending + morePending, running + moreRunning, inDoubt + moreInDoubt);
      if (sum.pending < 0 || sum.running < 0 || sum.inDoubt < 0) {
        throw new IllegalStateException("a run's unfinished work fell below zero: " + sum);
      }
      return sum;
    }

    boolean isNone() {
      return equals(NONE);
    }

    String inWords() {
      return "requests that wait: " + pending + ", that run: " + running + ", in doubt: " + inDoubt;
    }
  }

  static RunState opened(String opener, String seed, Digest openingEvent) {
    return new RunState(opener, seed, openingEvent, 0, 0, Unfinished.NONE, false);
  }

  public static RunState parse(byte[] row) {
    Fields fields = Fields.of("run", Jcs.parseCanonical(row, Limits.DEFAULT));
    RunState state =
        new RunState(
            fields.name("opener"),
            fields.name("seed"),
            fields.digest("last_receipt"),
            fields.count("lamport"),
            fields.count("receipts"),
            new Unfinished(
                fields.count("pending"), fields.count("running"), fields.count("in_doubt")),
            fields.bool("closed"));
    fields.end();
    return state;
  }

  byte[] toBytes() {
    return Jcs.write(
        JsonValue.object()
            .put("opener", opener)
            .put("seed", seed)
            .put("last_receipt", lastReceipt)
            .put("lamport", lamport)
            .put("receipts", receipts)
            .put("pending", unfinished.pending())
            .put("running", unfinished.running())
            .put("in_doubt", unfinished.inDoubt())
            .put("closed", closed)
            .build());
  }

  RunState withReceipt(Digest receipt, long receiptLamport) {
    return new RunState(opener, seed, receipt, receiptLamport, receipts + 1, unfinished, closed);
  }

  RunState with(Unfinished next) {
    return new RunState(opener, seed, lastReceipt, lamport, receipts, next, closed);
  }

  RunState asClosed() {
    return new RunState(opener, seed, lastReceipt, lamport, receipts, unfinished, true);
  }
}
