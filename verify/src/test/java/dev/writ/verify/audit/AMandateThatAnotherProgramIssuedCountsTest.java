package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.MandateDocument;
import dev.writ.guardian.mandate.Mandates;
import dev.writ.guardian.mandate.SeenMandate;
import dev.writ.guardian.policy.Policy;
import dev.writ.verify.testing.Node;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code examples/mandate/mandate.mjs} shares no code with Writ: it issues and binds by Node's own
 * cryptography, in the order of members that it likes, and the policy beside it takes the mandate.
 */
class AMandateThatAnotherProgramIssuedCountsTest {
  private static final Path EXAMPLE = Path.of("../examples/mandate");

  @TempDir Path dir;

  @Test
  void theExampleIssuesWhatItsPolicyTakes() throws Exception {
    TestRequest asked =
        new TestRequest("acme", "alice", "n-1", TestHome.START)
            .tool("pay")
            .params("{\"amount\":2000,\"currency\":\"EUR\",\"payee\":\"shop\"}");
    String pinned = said();
    String presented = said(MandateDocument.challenge(asked.request()));
    Instant now = Instant.now();
    String yaml = Files.readString(EXAMPLE.resolve("policy.yaml"));
    Policy policy =
        TestPolicy.first(
            TestPolicy.YAML
                + yaml.substring(yaml.indexOf("mandates:"), yaml.indexOf("requirements:"))
                    .replaceFirst("key: \\{[^}]*}", "key: " + pinned),
            TestTools.standard());
    Envelope mandate =
        Envelope.sign(
            MandateDocument.TYPE, new MandateDocument(presented).toJson(), TestKeys.key("alice"));
    SeenMandate.Terms terms = Mandates.verify(mandate, asked.request(), policy.mandates(), now);
    assertThat(terms.payees()).containsExactly("shop");
    assertThat(terms.most()).isEqualTo(Optional.of(5000L));
    assertThat(terms.total()).isEqualTo(Optional.of(9000L));
    assertThat(terms.uses()).isEqualTo(Optional.of(3L));
    assertThat(Mandates.see(mandate, asked.nonce("n-2").request(), policy.mandates(), now))
        .isEqualTo(new SeenMandate.Refused(mandate.id(), "GRD-624"));
  }

  /** Its keys are made once. */
  private String said(String... challenge) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.add(EXAMPLE.resolve("mandate.mjs").toString());
    arguments.add(dir.resolve("bank.jwk").toString());
    arguments.add(dir.resolve("wallet.jwk").toString());
    arguments.addAll(List.of(challenge));
    return Node.run(arguments).out().strip();
  }
}
