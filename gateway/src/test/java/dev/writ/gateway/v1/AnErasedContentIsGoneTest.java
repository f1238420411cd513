package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Receipt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What callers are told of a content that an order erased, and of one whose key is lost. */
class AnErasedContentIsGoneTest {
  private static final String SEALED =
      TestPolicy.YAML
          + "retention: { rules: [], sealed: { contents: [inputs, outputs, observations,"
          + " artifacts], by: subject } }\n";

  @TempDir Path dir;
  private TestGateway gateway;
  private Envelope request;
  private Digest receipt;
  private List<String> paths;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    gateway.home.activate(SEALED);
    request = gateway.home.ask("alice").params("{\"n\":7}").sign();
    Reply first = gateway.submit(request);
    receipt = Digest.parse(first.string("receipt_id"));
    Digest output =
        Receipt.read(gateway.home.document(receipt).document()).output().orElseThrow().digest();
    paths =
        List.of(
            "/v1/blobs/" + output,
            "/v1/blobs/" + output + "?of=" + receipt,
            "/v1/receipts/" + receipt + "/output");
    paths.forEach(path -> assertThat(gateway.get("alice", path).status()).isEqualTo(200));
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private void gone(String code, String text) {
    for (String path : paths) {
      Reply gone = gateway.get("alice", path);
      assertThat(gone.status()).as(path + gone.text()).isEqualTo(410);
      assertThat(gone.string("code")).isEqualTo(code);
      assertThat(gone.text()).contains(text);
      assertThat(gateway.get("eve", path).status()).as("of another tenant").isEqualTo(404);
    }
  }

  @Test
  void an_order_over_http_erases_and_the_answer_is_410_with_the_order() {
    Envelope order =
        gateway.home.change(
            EventKind.CONTENTS_ERASED,
            new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty()).toJson());
    assertThat(gateway.post("/v1/system-changes", order.toBytes()).status()).isEqualTo(200);
    gone("EXE-960", order.id().toString());
    Reply again = gateway.submit(request);
    assertThat(again.status()).isEqualTo(200);
    assertThat(again.string("receipt_id")).isEqualTo(receipt.toString());
    assertThat(again.text()).as("the receipt, without its output").doesNotContain("\"output\":{\"");
    assertThat(gateway.get("alice", "/v1/receipts/" + receipt).status()).isEqualTo(200);
  }

  @Test
  void without_its_key_it_is_410_and_no_statement_is_claimed() throws IOException {
    try (Stream<Path> keys = Files.list(gateway.home.dir().resolve("content-keys/current"))) {
      for (Path key : keys.toList()) {
        Files.delete(key);
      }
    }
    gone("LED-096", "key");
  }
}
