package dev.writ.executor.testing;

import dev.writ.executor.audit.Audit;
import dev.writ.executor.audit.AuditReport;
import dev.writ.executor.stage.Tools;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;

/** What the audit says of an installation, read beside its writer. */
public final class Audited {
  private Audited() {}

  public static AuditReport report(TestHome home) {
    try (LedgerView reader = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      return Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
  }
}
