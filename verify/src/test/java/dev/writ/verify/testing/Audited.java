package dev.writ.verify.testing;

import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;

/** What the audit says of an installation, read beside its writer. */
public final class Audited {
  private Audited() {}

  public static AuditReport report(TestHome home) {
    try (LedgerView reader = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      return Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
  }
}
