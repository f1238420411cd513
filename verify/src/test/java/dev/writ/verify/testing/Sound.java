package dev.writ.verify.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;

/** What is left in a ledger holds, byte for byte and in what it means. */
public final class Sound {
  private Sound() {}

  public static void require(TestHome home) {
    assertThat(home.fsck().problems()).isEmpty();
    try (LedgerView reader = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      assertThat(Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {}).problems())
          .isEmpty();
    }
  }
}
