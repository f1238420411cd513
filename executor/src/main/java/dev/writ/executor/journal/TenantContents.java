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

  /**
   * Whether content is a subject's own: it uploaded it or its effects produced it, or it was
   * uploaded for everybody in the tenant.
   */
  public static boolean holds(LedgerState ledger, String tenant, String subject, Digest content) {
    return isHeldBy(ledger, tenant, content, Tables.EVERYBODY)
        || isHeldBy(ledger, tenant, content, subject);
  }

  private static boolean isHeldBy(
      LedgerState ledger, String tenant, Digest content, String subject) {
    boolean[] found = {false};
    ledger.scan(
        Tables.HELD,
        Tables.prefix(tenant, content.hex(), subject),
        (_, _) -> {
          found[0] = true;
          return false;
        });
    return found[0];
  }

  /** Takes an upload; the subject is {@link Tables#EVERYBODY} where it is the whole tenant's. */
  @FunctionalInterface
  public interface Uploaded {
    void by(String tenant, String subject, Digest content);
  }

  /** All contents that subjects uploaded and whose row is there still, of all tenants. */
  public static void uploads(LedgerState ledger, Uploaded visitor) {
    ledger.scan(
        Tables.HELD,
        "",
        (key, _) -> {
          String[] parts = Tables.parts(key);
          if (parts[3].isEmpty()) { // by no run
            visitor.by(parts[0], parts[2], Digest.parse("sha256:" + parts[1]));
          }
          return true;
        });
  }
}
