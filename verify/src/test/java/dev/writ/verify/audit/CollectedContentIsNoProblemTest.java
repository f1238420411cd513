package dev.writ.verify.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Content;
import dev.writ.ledger.Ledger;
import dev.writ.verify.testing.Audited;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is gone because no document named it is missed by nothing. */
class CollectedContentIsNoProblemTest {
  @TempDir Path dir;

  private static Content put(TestHome home, String content) {
    byte[] bytes = content.getBytes(UTF_8);
    return home.kernel().contents().put("acme", new ByteArrayInputStream(bytes), "text/plain");
  }

  @Test
  void after_a_collection_the_audit_finds_nothing() {
    try (TestHome home =
        TestHome.create(dir, TestPolicy.YAML + "storage: { bytes_max: 16384, unnamed_s: 60 }\n")) {
      Content named = put(home, "named");
      put(home, "unnamed");
      home.submit(home.ask("alice").input("a", named.digest(), named.size()));
      home.clock.forward(Duration.ofSeconds(61));
      assertThat(home.kernel().contents().collect(home.kernel().now()))
          .isEqualTo(new Ledger.Collected(1, 1, "unnamed".length()));
      assertThat(Audited.report(home).problems()).isEmpty();
    }
  }
}
