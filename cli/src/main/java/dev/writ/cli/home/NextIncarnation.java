package dev.writ.cli.home;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.ledger.LedgerConfig;

/** Takes a ledger that was put back from a backup into service. */
public final class NextIncarnation {
  private NextIncarnation() {}

  /**
   * Begins the next incarnation, which voids every intent of before, and has the operator's key
   * sign the event that says so.
   *
   * @return its number
   */
  public static long begin(LedgerConfig config, SigningKey operator) {
    return Kernel.incarnate(
        config,
        (next, at) ->
            Envelope.sign(
                SystemChange.TYPE,
                new SystemChange(
                        EventKind.LEDGER_INCARNATED,
                        JsonValue.object().put("incarnation", next).build(),
                        at)
                    .toJson(),
                operator));
  }
}
