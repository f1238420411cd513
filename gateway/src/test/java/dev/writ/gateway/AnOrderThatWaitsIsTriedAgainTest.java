package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.error.LedgerError;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server carries out orders of erasure that a crash or a hold kept, and tells of them once. */
class AnOrderThatWaitsIsTriedAgainTest {
  private static final String SEALED =
      TestPolicy.YAML
          + "retention: { rules: [], sealed: { contents: [inputs, outputs, observations,"
          + " artifacts], by: subject } }\n";

  @TempDir Path dir;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private TestHome home;
  private Metrics metrics;
  private RetentionSchedule schedule;
  private Digest output;
  private Digest order;

  /** An order whose server went down before it was carried out. */
  @BeforeEach
  void order() {
    home = TestHome.create(dir, SEALED);
    Receipt made =
        home.submit(home.ask("alice").tool("mail").operation("text"))
            .served()
            .orElseThrow()
            .receipt();
    output = made.output().orElseThrow().digest();
    Envelope signed =
        home.change(
            EventKind.CONTENTS_ERASED,
            new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty()).toJson());
    order = signed.id();
    AtomicInteger writes = new AtomicInteger();
    home.beforeWrite(() -> {
      if (writes.incrementAndGet() > 2) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    home.kernel().change(signed);
    home.beforeWrite(() -> {});
    home.restart();
    metrics = new Metrics(home::policy, _ -> Optional.empty());
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    schedule = new RetentionSchedule(home.kernel(), metrics, new JsonLog(out, home.clock));
    assertThat(pending()).isEqualTo(1);
    assertThat(home.ledger().hasBlob(output)).isTrue();
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private double pending() {
    return metrics
        .text()
        .lines()
        .filter(line -> line.startsWith("writ_erasure_pending"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  private boolean isDone() {
    return ContentRetention.erasedAt(home.ledger(), order).isPresent();
  }

  private String log() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void soon_after_the_start_and_it_is_told_once() {
    schedule.run();
    assertThat(isDone()).isTrue();
    assertThat(pending()).isZero();
    assertThat(home.ledger().hasBlob(output)).isFalse();
    schedule.run();
    assertThat(log()).containsOnlyOnce("\"contents-erased\"").contains("order " + order);
  }

  @Test
  void one_that_a_hold_keeps_is_tried_every_ten_minutes_and_not_at_each_look() {
    home.kernel()
        .change(
            home.change(
                EventKind.HOLD_PLACED,
                new LegalHold("case 7", TestKeys.TENANT, Optional.empty()).toJson()));
    schedule.run();
    assertThat(pending()).isEqualTo(1);
    home.kernel()
        .change(
            home.change(EventKind.HOLD_RELEASED, JsonValue.object().put("name", "case 7").build()));
    home.clock.forward(Duration.ofSeconds(599));
    schedule.run();
    assertThat(isDone()).as("a search of the whole ledger at each look").isFalse();
    assertThat(log()).doesNotContain("contents-erased");
    home.clock.forward(Duration.ofSeconds(1));
    schedule.run();
    assertThat(isDone()).isTrue();
    assertThat(pending()).isZero();
  }

  /** A cell of several has its orders of the system cell, and no caller that carries them out. */
  @Test
  void one_that_came_with_the_statements_of_another_cell_waits_for_no_ten_minutes() {
    schedule.run();
    assertThat(isDone()).isTrue();
    home.clock.forward(Duration.ofSeconds(70));
    Receipt made =
        home.submit(home.ask("alice").tool("mail").operation("text"))
            .served()
            .orElseThrow()
            .receipt();
    assertThat(home.ledger().hasBlob(made.output().orElseThrow().digest())).isTrue();
    Envelope second =
        home.change(
            EventKind.CONTENTS_ERASED,
            new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty()).toJson());
    home.kernel().follow(second);
    assertThat(pending()).isEqualTo(1);
    schedule.run();
    assertThat(pending()).isZero();
    assertThat(home.ledger().hasBlob(made.output().orElseThrow().digest())).isFalse();
  }

  @Test
  void what_was_carried_out_before_the_start_is_not_told_again() {
    home.kernel().contents().erase(home.kernel().now());
    schedule.run();
    assertThat(log()).as("by somebody else, since the start").containsOnlyOnce("contents-erased");
    said.reset();
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    Metrics others = new Metrics(home::policy, _ -> Optional.empty());
    new RetentionSchedule(home.kernel(), others, new JsonLog(out, home.clock)).run();
    assertThat(log()).isEmpty();
  }

  @Test
  void one_that_fails_does_not_keep_the_rules_from_being_applied() {
    home.activate(
        SEALED.replace(
            "rules: []", "every_s: 3600, rules: [ { name: a, contents: [outputs], keep_s: 0 } ]"));
    home.submit(home.ask("bob").run("bobs").tool("mail").operation("text"));
    home.revoke("executor");
    assertThat(failure()).contains("EXE-");
    assertThat(failure()).as("the rules, which fail for the same reason").contains("EXE-");
    schedule.run();
    assertThat(pending()).isEqualTo(1);
  }

  private String failure() {
    try {
      schedule.run();
      return "none";
    } catch (WritException e) {
      return e.code().code();
    }
  }
}
