package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Tables;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.limit.Budget;
import dev.writ.ledger.DocumentSource;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.AccountSums.Account;
import dev.writ.verify.audit.AccountSums.Charge;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The fate of an ALLOW, and so of its reservation.
 *
 * @param documents those of the ledger, perhaps read ahead
 */
record Fates(LedgerView ledger, DocumentSource documents) {
  private static final int OBSERVATIONS_BYTES_MAX = 64 << 20;

  /** How it ended. */
  enum End {
    /** Its effect has ended and has a receipt. */
    SETTLED,
    /** Its receipt says IN_DOUBT. */
    IN_DOUBT,
    /** It is running, or was never executed: it may still be settled or released. */
    OPEN,
    /** It was refused before dispatch, or another decision took its place. */
    GONE,
    /** The rows that show it contradict the events, which is reported separately. */
    UNKNOWN
  }

  /**
   * @param cpuMs the measured processor time; absent if it is not recorded
   */
  record Fate(End end, OptionalLong cpuMs) {
    /** What an account may hold for it; the time of its settlement or release is not recorded. */
    Charge charge(Account account, Budget.Unit unit, long declared) {
      boolean cpu = unit == Budget.Unit.CPU_MS;
      return switch (end) {
        case SETTLED -> {
          if (!cpu) {
            yield new Charge(account, declared, declared, declared);
          }
          if (cpuMs.isEmpty()) {
            yield unknown(account);
          }
          long measured = cpuMs.getAsLong();
          yield new Charge(
              account, Math.min(declared, measured), Math.max(declared, measured), measured);
        }
        case IN_DOUBT -> cpu ? unknown(account) : new Charge(account, declared, declared, declared);
        case OPEN, UNKNOWN -> cpu ? unknown(account) : new Charge(account, 0, declared, declared);
        case GONE -> new Charge(account, 0, declared, 0);
      };
    }

    /** The fate for a row that was left as it was at the dispatch. */
    Fate left() {
      return new Fate(End.OPEN, OptionalLong.empty());
    }

    private static Charge unknown(Account account) {
      return new Charge(account, 0, AccountSums.UNKNOWN, AccountSums.UNKNOWN);
    }
  }

  Fate of(Digest request, Digest decision) {
    try {
      Optional<Receipt> receipt =
          ledger
              .get(Tables.SERVED, Tables.key(request))
              .map(Digest::ofBytes)
              .flatMap(documents::document)
              .map(envelope -> Receipt.read(envelope.document()));
      if (receipt.isPresent() && !receipt.get().request().equals(request)) {
        return end(End.UNKNOWN);
      }
      if (receipt.isPresent()) {
        return receipt.get().decision().equals(decision) ? ended(receipt.get()) : end(End.GONE);
      }
      return ledger
          .get(Tables.REQUEST, Tables.key(request))
          .map(RequestRow::parse)
          .filter(row -> row.decision().equals(decision))
          .filter(row -> row.state() == RequestRow.State.ALLOWED)
          .map(_ -> end(End.OPEN))
          .orElseGet(() -> end(End.GONE));
    } catch (WritException e) {
      return end(End.UNKNOWN);
    }
  }

  private static Fate end(End end) {
    return new Fate(end, OptionalLong.empty());
  }

  /** Of an ALLOW that has this receipt. */
  Fate ended(Receipt receipt) {
    if (receipt.status() == Status.IN_DOUBT) {
      return end(End.IN_DOUBT);
    }
    return new Fate(
        End.SETTLED, receipt.observations().map(this::cpuMs).orElseGet(OptionalLong::empty));
  }

  private OptionalLong cpuMs(Digest observations) {
    try {
      Fields observed =
          Fields.of(
              "observations",
              Jcs.parseCanonical(
                  ledger.blob(observations, OBSERVATIONS_BYTES_MAX), Limits.DEFAULT));
      return OptionalLong.of(observed.fields("metrics").count("cpu_ms"));
    } catch (WritException e) {
      return OptionalLong.empty(); // unread: unknown
    }
  }
}
