package dev.writ.executor.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.Answer;
import dev.writ.executor.stage.Served;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A signed request becomes a signed receipt, and everything of it is in the journal. */
class TheFixtureItselfTest {
  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(strings = {"calc", "sim", "mail"})
  void a_signed_request_becomes_a_signed_receipt(String tool) {
    try (TestHome home = TestHome.create(dir)) {
      TestRequest request = home.ask("alice").tool(tool);
      Answer answer = home.submit(request);
      assertThat(answer.decision().verdict()).isEqualTo(Verdict.ALLOW);
      Served served = answer.served().orElseThrow();
      assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
      assertThat(served.output().orElseThrow())
          .isEqualTo(Jcs.write(TestDriver.seen(home.driver.runs().getFirst().invocation())));
      assertThat(home.kinds("acme", "run-1"))
          .containsExactly(
              "run.opened",
              "request.received",
              "decision.made",
              "intent.issued",
              "effect.dispatched",
              "effect.finished",
              "receipt.signed");
      assertThat(home.driver.runs()).hasSize(1);
      assertThat(home.fsck().problems()).isEmpty();
    }
  }
}
