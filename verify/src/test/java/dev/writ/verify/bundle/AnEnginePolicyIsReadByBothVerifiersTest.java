package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run under a policy with the section {@code engine}, one effect of it switched off. */
class AnEnginePolicyIsReadByBothVerifiersTest {
  @TempDir Path dir;

  @Test
  void theRunVerifiesAndTheFlagIsJudgedAgain() {
    SecondOpinion opinion = new SecondOpinion();
    String policy =
        TestPolicy.YAML
            + """
            engine:
              slots: 2
              quotas: { tenants: [ { tenant: acme, running: 1, weight: 2 } ] }
              flags: [ { match: { tool: mail }, enabled: false } ]
            """;
    byte[] bundle;
    try (TestHome home = TestHome.create(dir.resolve("home"), policy)) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      assertThat(home.submit(home.ask("alice")).served()).isPresent();
      assertThat(home.submit(home.ask("alice").tool("mail")).decision().code()).contains("GRD-415");
      Sample.close(home, "run-1");
      bundle = Sample.export(home);
    }
    opinion.pinned(bundle);
    opinion.compare(dir);
  }
}
