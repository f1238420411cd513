package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.LedgerState;

/** Which contents are stored for a tenant (spec/storage.md, Contents of tenants). */
public final class TenantContents {
  private TenantContents() {}

  /**
   * Whether the tenant uploaded the content or one of its effects produced it: a row of {@link
   * Tables#HELD}, or of {@link Tables#REFERENCE} where an earlier release wrote it.
   */
  public static boolean has(LedgerState ledger, String tenant, Digest content) {
    boolean[] found = {false};
    ledger.scan(
        Tables.HELD,
        Tables.prefix(tenant, content.hex()),
        (_, _) -> {
          found[0] = true;
          return false;
        });
    return found[0] || ledger.get(Tables.REFERENCE, Tables.key(tenant, content.hex())).isPresent();
  }
}
