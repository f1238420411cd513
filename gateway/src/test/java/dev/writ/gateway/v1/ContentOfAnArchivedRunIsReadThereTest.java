package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.event.RunId;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A content that was moved to the archive, with an archive, without one, and with a broken one. */
class ContentOfAnArchivedRunIsReadThereTest {
  private static final Digest BUNDLE = Digest.sha256(new byte[] {7});

  @TempDir Path dir;
  private TestGateway gateway;
  private Digest receipt;
  private Content output;
  private byte[] bytes;

  @BeforeEach
  void archive() {
    gateway = TestGateway.start(dir);
    gateway.home.activate(TestPolicy.YAML + "retention: { rules: [], archive_after_s: 0 }\n");
    Reply first = gateway.submit(gateway.home.ask("alice").params("{\"n\":7}").sign());
    receipt = Digest.parse(first.string("receipt_id"));
    Receipt read = Receipt.read(gateway.home.document(receipt).document());
    output = read.output().orElseThrow();
    bytes = gateway.home.ledger().blob(output.digest(), 1 << 20);
    gateway
        .home
        .kernel()
        .closeRun(gateway.home.close(TestKeys.TENANT, read.scope().run(), "alice"));
    DigestSet contents = new DigestSet();
    contents.add(output.digest());
    TreeMap<RunId, ArchivedBundle> runs = new TreeMap<>();
    runs.put(new RunId(TestKeys.TENANT, read.scope().run()), new ArchivedBundle(BUNDLE, contents));
    gateway
        .home
        .kernel()
        .contents()
        .archive(
            runs,
            run -> {
              throw new IllegalStateException(run.toString());
            },
            gateway.home.kernel().now());
    assertThat(gateway.home.ledger().hasBlob(output.digest())).isFalse();
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private String[] paths() {
    String blob = "/v1/blobs/" + output.digest();
    return new String[] {blob, blob + "?of=" + receipt, "/v1/receipts/" + receipt + "/output"};
  }

  private void gone(String code, String text) {
    for (String path : paths()) {
      Reply gone = gateway.get("alice", path);
      assertThat(gone.status()).as(path).isEqualTo(410);
      assertThat(gone.string("code")).isEqualTo(code);
      assertThat(gone.text()).contains(text);
      assertThat(gateway.get("eve", path).status()).as("of another tenant").isEqualTo(404);
    }
  }

  @Test
  void without_an_archive_it_is_410_and_names_the_bundle() {
    gone("EXE-944", BUNDLE.toString());
  }

  @Test
  void with_the_archive_it_is_200_and_the_same_bytes_for_those_who_may_read_it() {
    gateway
        .home
        .kernel()
        .contents()
        .readArchived((bundle, content) -> {
          assertThat(bundle).isEqualTo(BUNDLE);
          assertThat(content).isEqualTo(output.digest());
          return Optional.of(new ByteArrayInputStream(bytes));
        });
    for (String path : paths()) {
      Reply found = gateway.get("alice", path);
      assertThat(found.status()).as(path).isEqualTo(200);
      assertThat(found.text().getBytes(StandardCharsets.UTF_8)).isEqualTo(bytes);
      assertThat(gateway.get("eve", path).status()).as("of another tenant").isEqualTo(404);
    }
  }

  @Test
  void a_bundle_that_is_missing_or_changed_is_410_with_its_code() {
    ArchivedContents broken =
        (bundle, _) -> {
          throw new WritException(ExecutorError.BUNDLE_MISSING, bundle.toString());
        };
    gateway.home.kernel().contents().readArchived(broken);
    gone("EXE-947", BUNDLE.toString());
  }
}
