package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.SystemState;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.fsck.FsckReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The keys whose checkpoints count in an examination (spec/storage.md, "fsck"): those that the
 * system run enrols, since the file of a key says only what somebody put there.
 *
 * @param keys none where the system run cannot be read
 * @param unread why it cannot
 */
public record LogKeys(List<VerifyingKey> keys, Optional<String> unread) {
  public LogKeys {
    keys = List.copyOf(keys);
  }

  /**
   * The log keys of a system run, also earlier ones: whether each was in force is for audits.
   *
   * @param system the ledger that has it
   * @param known counts where no log key is enrolled; it is not asked for elsewhere, since whoever
   *     may read a ledger need not have its keys
   * @param isExecutorAlone whether the log is that of an executor apart, whose own key no system
   *     run enrols: the known one counts as well
   */
  public static LogKeys of(Path system, Supplier<VerifyingKey> known, boolean isExecutorAlone) {
    List<VerifyingKey> keys = new ArrayList<>();
    try (LedgerView view = Ledger.openReadOnly(system)) {
      SystemState.read(view).trust().keys().values().stream()
          .filter(key -> key.role() == KeyRole.LOG)
          .map(TrustedKey::key)
          .forEach(keys::add);
    } catch (WritException e) {
      return new LogKeys(List.of(), Optional.of(e.getMessage()));
    }
    if (keys.isEmpty() || isExecutorAlone) {
      keys.add(known.get());
    }
    return new LogKeys(keys, Optional.empty());
  }

  /** The report, to which a system run that cannot be read adds a problem. */
  public FsckReport addTo(FsckReport report) {
    return unread
        .map(why ->
            report.withProblem("system run", "it does not say whose checkpoints count: " + why))
        .orElse(report);
  }
}
