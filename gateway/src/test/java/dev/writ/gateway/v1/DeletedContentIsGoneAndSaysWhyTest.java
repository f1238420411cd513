package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a caller may read and a rule had deleted is told from what is not there for it. */
class DeletedContentIsGoneAndSaysWhyTest {
  private static final String RULES =
      TestPolicy.YAML
          + """
          retention:
            rules: [ { name: an-hour, contents: [outputs], keep_s: 3600 } ]
          """;

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    gateway.home.activate(RULES);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  @Test
  void the_receipt_stays_and_its_output_is_410_with_the_rule() {
    var request = gateway.home.ask("alice").params("{\"n\":7}").sign();
    Reply first = gateway.submit(request);
    Digest receipt = Digest.parse(first.string("receipt_id"));
    Content output = Receipt.read(gateway.home.document(receipt).document()).output().orElseThrow();
    String blob = "/v1/blobs/" + output.digest();
    String policy = gateway.home.policy().digest().toString();
    assertThat(gateway.get("alice", blob + "?of=" + receipt).status()).isEqualTo(200);
    gateway.home.clock.forward(Duration.ofSeconds(3600));
    gateway.home.kernel().contents().retain(gateway.home.kernel().now());
    for (String path :
        new String[] {blob, blob + "?of=" + receipt, "/v1/receipts/" + receipt + "/output"}) {
      Reply gone = gateway.get("alice", path);
      assertThat(gone.status()).as(path).isEqualTo(410);
      assertThat(gone.string("code")).isEqualTo("EXE-960");
      assertThat(gone.text()).contains("an-hour", policy);
      assertThat(gateway.get("eve", path).status()).as("of another tenant").isEqualTo(404);
    }
    assertThat(gateway.get("alice", "/v1/receipts/" + receipt).status()).isEqualTo(200);
    Reply again = gateway.submit(request);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.string("receipt_id")).isEqualTo(receipt.toString());
    assertThat(again.text()).doesNotContain("\"output\":{\"digest\"");
  }
}
