package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.SystemState;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The keys that signed the checkpoints of a ledger. */
public final class LogKeys {
  private LogKeys() {}

  /**
   * A key that is known otherwise, and those that the ledger enrols, since a log's key may be
   * exchanged; the known one alone where the ledger is too damaged to say.
   */
  public static List<VerifyingKey> of(Path ledger, VerifyingKey known) {
    List<VerifyingKey> keys = new ArrayList<>(List.of(known));
    try (LedgerView view = Ledger.openReadOnly(ledger)) {
      SystemState.read(view).trust().keys().values().stream()
          .filter(key -> key.role() == KeyRole.LOG && !key.key().equals(known))
          .forEach(key -> keys.add(key.key()));
    } catch (WritException e) {
      return keys;
    }
    return keys;
  }
}
