package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.policy.limit.ClockLimits;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;

/**
 * Compares the host's clock with a ledger that nobody has open for writing, and lets an operator
 * correct the ledger's time if they do not fit (spec/system-run.md).
 *
 * @param clock of the host
 * @param ledger the log's latest time; the epoch where it has no events
 * @param idleMax how far the clock may be ahead when a kernel starts
 */
public record ClockCheck(Instant clock, Instant ledger, Duration idleMax, Fit fit) {
  /** What a start would find. */
  public enum Fit {
    /** The kernel starts. */
    FITS,
    /**
     * The ledger has later events: the clock was ahead when they were written, or is behind now.
     */
    BEHIND,
    /** More time has passed than policy lets an installation be idle, or the clock leapt. */
    AHEAD
  }

  /** Compares without changing anything. */
  public static ClockCheck of(LedgerView ledger, Instant clock) {
    ClockLimits limits = SystemState.read(ledger).clockLimits();
    Instant now = Timestamps.truncate(clock);
    Instant latest = ledger.highWater();
    boolean empty = latest.equals(Instant.EPOCH);
    Fit fit =
        now.isBefore(latest.minus(SteadyTime.TOLERANCE))
            ? Fit.BEHIND
            : !empty && now.isAfter(latest.plus(limits.idle())) ? Fit.AHEAD : Fit.FITS;
    return new ClockCheck(now, latest, limits.idle(), fit);
  }

  /**
   * Makes the log's time continue from the clock's. If that goes back, every intent issued before
   * is void, and the accounts treat charges at later times as made now.
   *
   * @param signed an operator's change of kind {@code clock.corrected} with that detail, said at
   *     its {@code to}
   * @throws WritException {@code EXE-983} where the clock fits; {@code EXE-981}, {@code CAN-05x},
   *     {@code CAN-06x} if the signed change is not valid; {@code LED-0xx}. Nothing is written then
   */
  public static ClockCorrection correct(
      LedgerConfig config, Function<ClockCorrection, Envelope> signed) {
    ClockCheck found;
    try (LedgerView view = Ledger.openReadOnly(config.dir())) {
      found = of(view, config.clock().instant());
    }
    return switch (found.fit()) {
      case FITS ->
          throw new WritException(
              ExecutorError.CLOCK_FITS, "clock " + found.clock() + ", ledger " + found.ledger());
      case BEHIND -> back(config, found.clock(), signed);
      case AHEAD -> forward(config, found.clock(), signed);
    };
  }

  private static ClockCorrection back(
      LedgerConfig config, Instant to, Function<ClockCorrection, Envelope> signed) {
    ClockCorrection[] made = new ClockCorrection[1];
    Ledger.restartTime(
        config,
        (ledger, incarnation) -> {
          made[0] =
              new ClockCorrection(
                  ledger.highWater(), to, ledger.treeSize(), Optional.of(incarnation));
          Batch batch = batch(ledger, made[0], signed);
          new CorrectedAccounts(ledger, to).addTo(batch);
          return batch;
        });
    return made[0];
  }

  private static ClockCorrection forward(
      LedgerConfig config, Instant to, Function<ClockCorrection, Envelope> signed) {
    try (Ledger ledger = Ledger.open(config)) {
      ClockCorrection made =
          new ClockCorrection(ledger.highWater(), to, ledger.treeSize(), Optional.empty());
      ledger.append(batch(ledger, made, signed)).await();
      return made;
    }
  }

  private static Batch batch(
      Ledger ledger, ClockCorrection correction, Function<ClockCorrection, Envelope> signed) {
    Envelope change = signed.apply(correction);
    requireStates(change, correction);
    SystemState.read(ledger).with(change, EventKind.CLOCK_CORRECTED, correction.to());
    Event head = ledger.head(SystemState.RUN).orElseThrow();
    return new Batch()
        .document(change)
        .event(
            head.next(EventKind.CLOCK_CORRECTED, change.id(), correction.to(), Optional.empty()));
  }

  private static void requireStates(Envelope change, ClockCorrection correction) {
    SystemChange signed = SystemChange.read(change.document());
    if (!signed.kind().equals(EventKind.CLOCK_CORRECTED)
        || !ClockCorrection.read(signed.detail()).equals(correction)) {
      throw new WritException(
          ExecutorError.CLOCK_CORRECTION,
          "signed is " + signed.kind() + " " + signed.detail() + ", not " + correction);
    }
  }
}
