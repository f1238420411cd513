package dev.writ.verify.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.error.AuditError;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * The checkpoints of closed runs: each is signed by a log key of the system run. A checkpoint is at
 * least as late as the last event that it covers, so the time of that event must be in the key's
 * validity window, and the event must precede the key's revocation.
 */
final class SealCheck {
  private final LedgerView ledger;
  private final Findings findings;
  private final List<TrustedKey> logKeys;
  private final Map<String, Long> revocations;

  /**
   * @param trust the keys after the whole system run
   * @param revocations the log index of each key's revocation
   */
  SealCheck(LedgerView ledger, Findings findings, Trust trust, Map<String, Long> revocations) {
    this.revocations = revocations;
    this.ledger = ledger;
    this.findings = findings;
    this.logKeys = trust.keys().values().stream().filter(key -> key.role() == KeyRole.LOG).toList();
  }

  /** Whether any log key is enrolled; otherwise signatures cannot be checked. */
  boolean knowsKeys() {
    return !logKeys.isEmpty();
  }

  void check() {
    TreeSet<String> sizes = new TreeSet<>();
    ledger.scan(
        Tables.CLOSED,
        "",
        (key, row) -> {
          String size = new String(row, StandardCharsets.US_ASCII);
          if (knowsKeys() && size.matches("0[0-9a-f]{15}") && sizes.add(size)) {
            ledger
                .checkpoint(Long.parseLong(size, 16))
                .ifPresent(checkpoint -> check(Findings.row(Tables.CLOSED, key), checkpoint));
          }
          return true;
        });
  }

  private void check(String place, Checkpoint checkpoint) {
    Instant[] last = {Instant.EPOCH};
    ledger.eventsByIndex(
        checkpoint.size() - 1, checkpoint.size(), (_, event) -> last[0] = event.at());
    if (logKeys.stream()
        .noneMatch(key ->
            key.isValidAt(last[0])
                && revocations.getOrDefault(key.kid(), Long.MAX_VALUE) >= checkpoint.size()
                && signed(key, checkpoint))) {
      findings.problem(
          AuditError.CHAIN,
          place + " checkpoint of size " + checkpoint.size(),
          "not signed by a log key that is in force at " + last[0],
          "one of " + logKeys.stream().map(TrustedKey::kid).toList());
    }
  }

  private static boolean signed(TrustedKey key, Checkpoint checkpoint) {
    try {
      checkpoint.verify(checkpoint.origin(), key.key());
      return true;
    } catch (WritException e) {
      return false;
    }
  }
}
