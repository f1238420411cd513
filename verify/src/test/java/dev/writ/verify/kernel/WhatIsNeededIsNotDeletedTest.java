package dev.writ.verify.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.retention.RetentionPlan;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Receipt;
import dev.writ.verify.testing.Sound;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A content that is old enough stays as long as anything needs it, and goes once nothing does. */
class WhatIsNeededIsNotDeletedTest {
  private static final String STORAGE =
      TestPolicy.YAML.replace("pending_max_s: 86400", "pending_max_s: 600")
          + "storage: { bytes_max: 1000000, unnamed_s: 60 }\n";

  private static final String ALL =
      STORAGE
          + "retention: { rules: [ { name: all, contents: [inputs, outputs, artifacts,"
          + " observations], keep_s: 60 } ] }\n";

  @TempDir Path dir;
  private TestHome home;

  private void open(String yaml) {
    home = TestHome.create(dir, yaml);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.clock.stepping(Duration.ofMillis(7));
  }

  @AfterEach
  void holdsAndCloses() {
    home.kernel().contents().retain(home.kernel().now());
    Sound.require(home);
    home.close();
  }

  private Digest put(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return home.kernel()
        .contents()
        .put(TestKeys.TENANT, new ByteArrayInputStream(bytes), "text/plain")
        .digest();
  }

  private List<Digest> goes() {
    return home.kernel().contents().planRetention(home.kernel().now()).contents().stream()
        .map(RetentionPlan.Doomed::digest)
        .toList();
  }

  private Receipt run(String tool, String output) {
    home.driver.does(tool, Behaviours.gives(output, Behaviours.JSON));
    return home.submit(home.ask("alice").tool(tool)).served().orElseThrow().receipt();
  }

  private static Digest output(Receipt receipt) {
    return receipt.output().orElseThrow().digest();
  }

  /** The effect that read it has ended; the other one waits for its approver, until it is late. */
  @Test
  void by_a_request_that_waits() {
    open(ALL);
    Digest input = put("an input");
    home.submit(home.ask("alice").input("a", input, 8));
    home.submit(home.ask("alice").tool("pay").input("a", input, 8));
    home.clock.forward(Duration.ofSeconds(120));
    assertThat(goes()).isNotEmpty().doesNotContain(input);
    home.clock.forward(Duration.ofSeconds(600 + 3600));
    assertThat(goes()).contains(input);
  }

  @Test
  void by_a_request_that_was_allowed_and_not_by_one_that_was_denied() {
    open(ALL);
    Digest denied = put("denied");
    Digest allowed = put("allowed");
    home.submit(home.ask("alice").input("a", denied, 6));
    home.submit(home.ask("alice").input("b", allowed, 7));
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}").input("a", denied, 6));
    home.decide(home.ask("alice").tool("mail").input("b", allowed, 7).sign());
    home.clock.forward(Duration.ofSeconds(120));
    assertThat(goes()).contains(denied).doesNotContain(allowed);
  }

  @Test
  void by_an_effect_that_runs() {
    open(ALL);
    Digest input = put("an input");
    home.submit(home.ask("alice").input("a", input, 8));
    home.clock.forward(Duration.ofSeconds(120));
    List<Digest> during = new ArrayList<>();
    home.driver.does(
        "mail",
        invocation -> {
          during.addAll(goes());
          return Behaviours.echo(invocation);
        });
    assertThat(goes()).contains(input);
    home.submit(home.ask("alice").tool("mail").input("a", input, 8));
    assertThat(during).isNotEmpty().doesNotContain(input);
  }

  @Test
  void by_an_effect_in_doubt_until_an_operator_resolves_it() {
    open(ALL);
    Digest input = put("an input");
    Envelope request = home.ask("alice").tool("mail").input("a", input, 8).sign();
    home.restartWith(e ->
        KernelSeam.with(
            e,
            e.receipt()
                .withSigner((_, _) -> {
                  throw new IllegalStateException("no key");
                })));
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-801");
    home.restartWith(e -> e);
    var doubtful = home.submit(request).served().orElseThrow();
    home.clock.forward(Duration.ofSeconds(7200));
    assertThat(goes()).doesNotContain(input);
    home.kernel().resolve(home.resolution(doubtful, Resolution.Found.HAPPENED));
    assertThat(goes()).contains(input);
  }

  /** Two rules name it: it stays as long as the longer one says, and for ever where none covers. */
  @Test
  void by_another_effect_whose_rule_keeps_it_longer() {
    open(
        STORAGE
            + """
            retention:
              rules:
                - { name: short, contents: [outputs], match: { tool: calc }, keep_s: 60 }
                - { name: long, contents: [outputs], match: { tool: sim }, keep_s: 600 }
            """);
    Digest both = output(run("calc", "{\"ok\":true}"));
    assertThat(output(run("sim", "{\"ok\":true}"))).isEqualTo(both);
    Digest kept = output(run("calc", "{\"ok\":false}"));
    assertThat(output(run("mail", "{\"ok\":false}"))).isEqualTo(kept);
    home.clock.forward(Duration.ofSeconds(120));
    assertThat(goes()).isEmpty();
    home.clock.forward(Duration.ofSeconds(600));
    assertThat(goes()).containsExactly(both);
  }

  /** It has no statement, since nothing of it was kept; the same bytes of another effect have. */
  @Test
  void output_that_was_dropped_is_neither_kept_nor_deleted() {
    open(ALL);
    home.driver.does("calc", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    home.submit(home.ask("alice").dropOutput());
    home.clock.forward(Duration.ofSeconds(120));
    Digest dropped = Digest.sha256("{\"ok\":true}".getBytes(StandardCharsets.UTF_8));
    assertThat(goes()).doesNotContain(dropped);
    home.submit(home.ask("alice"));
    assertThat(goes()).as("it is new").doesNotContain(dropped);
    home.clock.forward(Duration.ofSeconds(120));
    assertThat(goes()).contains(dropped);
  }

  /**
   * Each rule with a size keeps its own newest; what one of them keeps does not go by the other.
   */
  @Test
  void by_a_rule_that_is_not_full() {
    open(
        STORAGE
            + """
            retention:
              rules:
                - { name: calc, contents: [outputs], match: { tool: calc }, keep_s: 60, bytes_max: 1000 }
                - { name: sim, contents: [outputs], match: { tool: sim }, keep_s: 60, bytes_max: 0 }
            """);
    Digest both = output(run("calc", "{\"ok\":true}"));
    assertThat(output(run("sim", "{\"ok\":true}"))).isEqualTo(both);
    Digest full = output(run("sim", "{\"ok\":false}"));
    home.clock.forward(Duration.ofSeconds(120));
    assertThat(goes()).containsExactly(full);
  }

  @Test
  void a_content_that_comes_again_is_deleted_again() {
    open(ALL);
    Digest output = output(run("calc", "{\"ok\":true}"));
    home.clock.forward(Duration.ofSeconds(120));
    home.kernel().contents().retain(home.kernel().now());
    assertThat(home.ledger().hasBlob(output)).isFalse();
    assertThat(output(run("calc", "{\"ok\":true}"))).isEqualTo(output);
    assertThat(home.ledger().hasBlob(output)).isTrue();
    assertThat(goes()).doesNotContain(output);
    home.clock.forward(Duration.ofSeconds(120));
    assertThat(goes()).contains(output);
  }
}
