package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.StorageUse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WhatNoDocumentNamesIsCollectedTest {
  private static final String STORAGE =
      TestPolicy.YAML + "storage: { bytes_max: 16384, unnamed_s: 60 }\n";

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void create() {
    home = TestHome.create(dir, STORAGE);
  }

  @AfterEach
  void close() {
    home.close();
  }

  private Content put(String tenant, String content) {
    byte[] bytes = content.getBytes(StandardCharsets.UTF_8);
    return home.kernel().contents().put(tenant, new ByteArrayInputStream(bytes), "text/plain");
  }

  private Ledger.Collected collect() {
    return home.kernel().contents().collect(home.kernel().now());
  }

  private boolean isThere(Content content) {
    return home.ledger().hasBlob(content.digest());
  }

  @Test
  void an_upload_that_fills_the_disk_says_so() {
    for (String why : List.of("No space left on device", "something else")) {
      InputStream breaking =
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw new IOException("/a/path: " + why);
            }
          };
      assertThatThrownBy(() -> home.kernel().contents().put("acme", breaking, "text/plain"))
          .hasMessageStartingWith("EXE-702")
          .hasMessageContaining(why.startsWith("No") ? "LED-005" : "IOException")
          .hasMessageNotContaining("/a/path");
    }
  }

  @Test
  void a_tenants_uploads_stay_within_what_policy_says() {
    for (int i = 0; i < 4; i++) {
      put("acme", "content " + i);
    }
    assertThat(Refused.code(() -> put("acme", "one more"))).isEqualTo("LED-080");
    put("other", "one more");
    assertThat(home.kernel().contents().storageUse())
        .containsEntry("acme", new StorageUse(16384, 4))
        .containsEntry("other", new StorageUse(4096, 1));
    home.activate(STORAGE.replace("16384", "20480"));
    put("acme", "one more");
    home.clock.forward(Duration.ofSeconds(61));
    assertThat(collect().blobs()).as("one of two tenants' is one content").isEqualTo(5);
    assertThat(home.kernel().contents().storageUse()).containsEntry("acme", new StorageUse(0, 0));
  }

  @Test
  void what_a_request_names_stays_also_of_a_denied_and_a_waiting_one() {
    Content allowed = put("acme", "allowed");
    Content denied = put("acme", "denied");
    Content waiting = put("acme", "waiting");
    Content unnamed = put("acme", "unnamed");
    home.submit(home.ask("alice").input("a", allowed.digest(), allowed.size()));
    Answer no =
        home.submit(
            home.ask("alice")
                .tool("mail")
                .params("{\"forbidden\":1}")
                .input("a", denied.digest(), denied.size()));
    assertThat(no.decision().verdict()).isEqualTo(Verdict.DENY);
    var request =
        home.ask("alice")
            .tool("pay")
            .operation("do")
            .input("a", waiting.digest(), waiting.size())
            .sign();
    assertThat(home.submit(request).decision().verdict()).isEqualTo(Verdict.ESCALATE);
    assertThat(collect()).as("before its time").isEqualTo(Ledger.Collected.NOTHING);
    home.clock.forward(Duration.ofSeconds(61));
    assertThat(collect()).isEqualTo(new Ledger.Collected(1, 1, "unnamed".length()));
    assertThat(isThere(unnamed)).isFalse();
    assertThat(isThere(allowed)).isTrue();
    assertThat(isThere(denied)).isTrue();
    home.restart();
    home.approve(request, "rita");
    assertThat(home.submit(request).served().orElseThrow().receipt().status().text())
        .isEqualTo("succeeded");
    // What was collected is as one that was never put.
    assertThat(
            Refused.code(
                () -> home.submit(home.ask("alice").input("a", unnamed.digest(), unnamed.size()))))
        .isEqualTo("EXE-306");
  }

  @Test
  void the_input_of_an_effect_that_runs_is_not_collected_from_under_it() {
    Content input = put("acme", "input");
    home.clock.forward(Duration.ofSeconds(61));
    AtomicReference<Ledger.Collected> collected = new AtomicReference<>();
    home.driver.does(
        "calc", // pure: not even its request is durable while it runs
        invocation -> {
          collected.set(collect());
          return Behaviours.echo(invocation);
        });
    Digest request =
        home.submit(home.ask("alice").input("a", input.digest(), input.size()))
            .served()
            .orElseThrow()
            .receipt()
            .request();
    assertThat(collected.get()).isEqualTo(Ledger.Collected.NOTHING);
    assertThat(collect()).isEqualTo(Ledger.Collected.NOTHING);
    assertThat(home.ledger().hasDocument(request)).isTrue();
    assertThat(isThere(input)).isTrue();
  }
}
