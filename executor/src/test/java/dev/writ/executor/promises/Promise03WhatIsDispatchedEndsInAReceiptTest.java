package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.BlobSink;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Promise 3: whatever is durably dispatched ends in a signed receipt, at once or as IN_DOUBT at the
 * next start, and keeps what the tool gave. A pure effect has a receipt, or left nothing behind.
 */
class Promise03WhatIsDispatchedEndsInAReceiptTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void every_dispatch_has_its_receipt_and_the_receipt_is_signed() {
    home.beforeWrite(() -> {});
    home.restartWith(e -> e);
    List<String> kinds = home.log().stream().map(e -> e.kind()).toList();
    assertThat(kinds.stream().filter("effect.dispatched"::equals).count())
        .isEqualTo(kinds.stream().filter("receipt.signed"::equals).count());
    assertThat(home.rows("dispatched")).isEmpty();
    home.log().stream()
        .filter(e -> e.kind().equals("receipt.signed"))
        .forEach(e ->
            home.kernel().system().trust().verify(home.document(e.body()), Receipt.TYPE, e.at()));
    assertThat(home.fsck().problems()).isEmpty();
    home.close();
  }

  private Served serve(TestRequest request) {
    Served served = home.submit(request).served().orElseThrow();
    // A repeat reads it back out of the ledger, the same.
    Served again = home.submit(request).served().orElseThrow();
    assertThat(again.envelope().toBytes()).isEqualTo(served.envelope().toBytes());
    assertThat(again.repeated()).isTrue();
    return served;
  }

  @Test
  void a_driver_that_does_not_know_leaves_a_doubt_at_once_and_nothing_runs_again() {
    AtomicInteger runs = new AtomicInteger();
    home.driver.does(
        "mail",
        _ -> {
          runs.incrementAndGet();
          return DriverOutcome.inDoubt("sent to a server, which gave no answer");
        });
    Served served = serve(ask("mail"));
    assertThat(served.receipt().status()).isEqualTo(Status.IN_DOUBT);
    assertThat(served.receipt().reason()).isEqualTo("in-doubt");
    assertThat(served.receipt().message()).isEqualTo("sent to a server, which gave no answer");
    assertThat(served.receipt().observations()).isEmpty();
    assertThat(runs).hasValue(1);
  }

  @Test
  void a_pure_effect_is_never_in_doubt() {
    home.driver.does("calc", _ -> DriverOutcome.inDoubt("cannot be"));
    Receipt receipt = serve(ask("calc")).receipt();
    assertThat(receipt.status()).isEqualTo(Status.FAILED);
    assertThat(receipt.code()).contains("EXE-401");
  }

  private byte[] raw(Served served) {
    return home.ledger().blob(served.receipt().rawOutput().orElseThrow().digest(), 64 << 20);
  }

  private TestRequest ask(String tool) {
    return home.ask("alice").tool(tool);
  }

  @Test
  void a_tool_that_fails() {
    for (String tool : List.of("calc", "sim", "mail")) {
      home.driver.does(tool, Behaviours.fails());
      Served served = serve(ask(tool));
      assertThat(served.receipt().status()).isEqualTo(Status.FAILED);
      assertThat(served.receipt().reason()).isEqualTo("exit-1");
      assertThat(served.receipt().code()).isEmpty();
      assertThat(served.receipt().message()).isEqualTo("the tool's own words");
      assertThat(served.receipt().output()).isEmpty();
      assertThat(served.output()).isEmpty();
      assertThat(raw(served)).asString(StandardCharsets.UTF_8).isEqualTo("half an answer");
    }
  }

  @Test
  void a_tool_that_takes_too_long_or_is_killed() {
    home.driver.does("mail", Behaviours.ends(DriverOutcome.End.TIMED_OUT, "wall-time"));
    assertThat(serve(ask("mail")).receipt().status()).isEqualTo(Status.TIMED_OUT);
    home.driver.does("mail", Behaviours.ends(DriverOutcome.End.KILLED, "out-of-memory"));
    assertThat(serve(ask("mail")).receipt().status()).isEqualTo(Status.KILLED);
  }

  @Test
  void a_driver_that_breaks() {
    for (String tool : List.of("calc", "mail")) {
      home.driver.does(tool, Behaviours.throwing(new IllegalStateException("secret words")));
      refusedBy(serve(ask(tool).params("{\"n\":1}")), "EXE-401", "IllegalStateException");
      home.driver.does(tool, Behaviours::overflows);
      refusedBy(serve(ask(tool).params("{\"n\":2}")), "EXE-401", "StackOverflowError");
      home.driver.does(tool, _ -> null);
      refusedBy(serve(ask(tool).params("{\"n\":3}")), "EXE-401", "NullPointerException");
      home.driver.does(
          tool,
          _ -> {
            throw new OutOfMemoryError("for a test");
          });
      refusedBy(serve(ask(tool).params("{\"n\":4}")), "EXE-401", "OutOfMemoryError");
    }
  }

  private static void refusedBy(Served served, String code, String message) {
    assertThat(served.receipt().status()).isEqualTo(Status.FAILED);
    assertThat(served.receipt().code()).contains(code);
    assertThat(served.receipt().message()).contains(message);
    assertThat(served.output()).isEmpty();
  }

  /** What no receipt could say is the driver's mistake, and never reaches a row or a document. */
  @Test
  void a_driver_that_says_what_cannot_be_written() {
    home.driver.does(
        "mail",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.SUCCEEDED,
                "",
                "",
                Optional.empty(),
                List.of(),
                Behaviours.USED,
                JsonValue.object().build()));
    refusedBy(serve(ask("mail")), "EXE-401", "IllegalArgumentException");
    home.driver.does(
        "mail",
        _ ->
            DriverOutcome.failed(
                DriverOutcome.End.FAILED, "x", "", new DriverOutcome.Metrics(-1, 0, 0, 0)));
    refusedBy(serve(ask("mail")), "EXE-401", "IllegalArgumentException");
    home.driver.does("mail", Behaviours.gives("{}", "half \uD800"));
    refusedBy(serve(ask("mail")), "EXE-401", "IllegalArgumentException");
    home.driver.does(
        "mail",
        _ ->
            new DriverOutcome(
                DriverOutcome.End.FAILED,
                "x",
                "half \uD800 of a pair",
                Optional.empty(),
                List.of(),
                Behaviours.USED,
                JsonValue.object().put("stderr", "half \uDC00").build()));
    Served served = serve(ask("mail"));
    assertThat(served.receipt().message()).isEqualTo("half \uFFFD of a pair");
    assertThat(home.ledger().blob(served.receipt().observations().orElseThrow(), 10_000))
        .asString(StandardCharsets.UTF_8)
        .contains("\"observed\":{\"unwritable\":\"CAN-002\"}");
  }

  @Test
  void a_message_without_end_is_cut_at_a_character() {
    home.driver.does(
        "mail",
        _ ->
            DriverOutcome.failed(
                DriverOutcome.End.FAILED, "x", "\uD83D\uDE00".repeat(5_000), Behaviours.USED));
    assertThat(serve(ask("mail")).receipt().message()).hasSizeLessThan(600);
    home.driver.does(
        "mail",
        _ ->
            DriverOutcome.failed(
                DriverOutcome.End.FAILED,
                "x",
                "a" + "\uD83D\uDE00".repeat(5_000),
                Behaviours.USED));
    assertThat(serve(ask("mail")).receipt().message()).endsWith("\uFFFD…");
  }

  @Test
  void an_output_that_drifts_from_the_contract() {
    for (String tool : List.of("calc", "mail")) {
      drifts(tool, "{\"ok\":\"yes\"}", Behaviours.JSON);
      drifts(tool, "{}", Behaviours.JSON);
      drifts(tool, "{\"ok\":true}", "text/plain");
      drifts(tool, "{\"ok\":true}", "application/json; charset=utf-8");
      home.driver.does(
          tool,
          _ ->
              new DriverOutcome(
                  DriverOutcome.End.SUCCEEDED,
                  "ok",
                  "",
                  Optional.empty(),
                  List.of(),
                  Behaviours.USED,
                  JsonValue.object().build()));
      refusedBy(serve(ask(tool)), "ERR_CONNECTOR_CONTRACT_DRIFT", "no output");
    }
  }

  private void drifts(String tool, String output, String mediaType) {
    home.driver.does(tool, Behaviours.gives(output, mediaType));
    Served served = serve(ask(tool));
    refusedBy(served, "ERR_CONNECTOR_CONTRACT_DRIFT", "");
    assertThat(raw(served)).asString(StandardCharsets.UTF_8).isEqualTo(output);
    assertThat(served.receipt().rawOutput().orElseThrow().mediaType()).isEqualTo(mediaType);
  }

  private static final List<String> NOT_CANONICAL =
      List.of(
          "",
          "{",
          "{\"ok\":true}x",
          "{\"ok\":true,\"ok\":true}",
          "{\"ok\":true,\"n\":01}",
          "{\"ok\":true,\"s\":\"\\ud800\"}",
          "{\"ok\":true,\"n\":1e999}",
          "\uFEFF{\"ok\":true}");

  @Test
  void an_output_without_canonical_form() {
    for (String output : NOT_CANONICAL) {
      home.driver.does("mail", Behaviours.gives(output, Behaviours.JSON));
      Served served = serve(ask("mail"));
      refusedBy(served, "EXE-601", "CAN-");
      assertThat(raw(served)).isEqualTo(output.getBytes(StandardCharsets.UTF_8));
    }
  }

  @Test
  void an_output_that_is_not_utf8_or_nested_without_end() {
    home.driver.does("mail", Behaviours.gives(new byte[] {'"', (byte) 0xff, '"'}, Behaviours.JSON));
    refusedBy(serve(ask("mail")), "EXE-601", "CAN-001");
    home.driver.does("mail", Behaviours.gives("[".repeat(100_000), Behaviours.JSON));
    refusedBy(serve(ask("mail")), "EXE-601", "CAN-008");
    home.driver.does(
        "mail",
        Behaviours.gives(
            "{\"ok\":true,\"deep\":" + "[".repeat(126) + "]".repeat(126) + "}", Behaviours.JSON));
    assertThat(serve(ask("mail")).receipt().status()).isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void an_output_that_is_not_canonical_is_made_so() {
    home.driver.does("mail", Behaviours.gives(" {\"b\" : 1.0, \"ok\":true}\n", Behaviours.JSON));
    assertThat(serve(ask("mail")).output().orElseThrow())
        .asString(StandardCharsets.UTF_8)
        .isEqualTo("{\"b\":1,\"ok\":true}");
    assertThat(serve(ask("mail").operation("text")).receipt().status()).isEqualTo(Status.FAILED);
  }

  @Test
  void text_stays_as_it_is() {
    assertThat(serve(ask("mail").operation("text")).output().orElseThrow())
        .asString(StandardCharsets.UTF_8)
        .isEqualTo("plain, not {json\n");
  }

  @Test
  void a_large_output_within_the_ceiling_and_one_above_it() {
    home.driver.does("mail", Behaviours.huge(3 << 20));
    Served large = serve(ask("mail"));
    assertThat(large.receipt().output().orElseThrow().size()).isEqualTo(3 << 20);
    Served tooLarge =
        serve(ask("mail").resources(new Resources(1000, 1 << 20, (3 << 20) - 1, 1000)));
    refusedBy(tooLarge, "ERR_CONNECTOR_CONTRACT_DRIFT", "3145728 bytes");
    assertThat(raw(tooLarge)).hasSize(3 << 20);
    home.driver.does("mail", Behaviours.huge(17 << 20));
    Served huge = serve(ask("mail").resources(new Resources(1000, 1 << 20, 32 << 20, 1000)));
    refusedBy(huge, "EXE-601", "CAN-009");
    assertThat(raw(huge)).hasSize(17 << 20);
  }

  @Test
  void a_content_store_that_fails_or_lies() {
    List<String> tools = List.of("calc", "mail");
    home.restartWith(Faults::storingFails);
    tools.forEach(tool -> refusedBy(serve(ask(tool)), "EXE-702", "LED-005"));
    home.restartWith(Faults::storingBreaks);
    tools.forEach(tool -> refusedBy(serve(ask(tool)), "EXE-702", "IllegalStateException"));
    home.restartWith(e -> Faults.storeLies(e, this::store));
    for (String tool : tools) {
      Served served = serve(ask(tool));
      refusedBy(served, "EXE-701", "stored sha256:");
      assertThat(served.receipt().output()).isEmpty();
      assertThat(served.receipt().rawOutput()).isEmpty();
    }
  }

  private BlobRef store(byte[] content) {
    try (BlobSink sink = ((Ledger) home.ledger()).newBlob()) {
      sink.write(content);
      return sink.finish();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void a_receipt_that_cannot_be_signed_is_in_doubt_at_the_next_start() {
    home.restartWith(Faults::signingFails);
    List<TestRequest> requests = Stream.of("sim", "mail").map(tool -> ask(tool).run(tool)).toList();
    for (TestRequest request : requests) {
      assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-801");
      assertThat(home.kinds("acme", request.request().scope().run())).endsWith("effect.dispatched");
    }
    home.restartWith(e -> e);
    for (TestRequest request : requests) {
      Served served = home.submit(request).served().orElseThrow();
      assertThat(served.receipt().status()).isEqualTo(Status.IN_DOUBT);
    }
    assertThat(home.driver.runs()).hasSize(requests.size());
  }

  /** A service that throttles for a moment costs no effect its receipt. */
  @Test
  void a_receipt_that_is_signed_at_the_third_attempt_is_as_any_other() {
    for (String tool : List.of("sim", "mail")) {
      AtomicInteger asked = new AtomicInteger();
      home.restartWith(e -> Faults.signingComesAt(e, 3, asked, 3));
      assertThat(serve(ask(tool).run(tool)).receipt().status()).isEqualTo(Status.SUCCEEDED);
      assertThat(asked).hasValue(3);
      assertThat(home.kinds("acme", tool)).containsOnlyOnce("effect.dispatched");
    }
    AtomicInteger asked = new AtomicInteger();
    home.restartWith(e -> Faults.signingComesAt(e, 2, asked, 3));
    home.driver.does("mail", _ -> DriverOutcome.inDoubt("nobody knows"));
    assertThat(serve(ask("mail").run("doubt")).receipt().status()).isEqualTo(Status.IN_DOUBT);
    assertThat(asked).hasValue(2);
    assertThat(home.driver.runs()).hasSize(3);
  }

  /** The patience ends, and a pure effect, which is done again, needs none. */
  @Test
  void a_receipt_is_not_signed_for_ever() {
    AtomicInteger asked = new AtomicInteger();
    home.restartWith(e -> Faults.signingComesAt(e, 9, asked, 3));
    assertThat(Refused.code(() -> home.submit(ask("mail")))).isEqualTo("EXE-801");
    assertThat(asked).hasValue(3);
    assertThat(Refused.code(() -> home.submit(ask("calc")))).isEqualTo("EXE-801");
    assertThat(asked).hasValue(4);
  }

  @Test
  void what_keeps_a_receipt_from_being_signed_is_told_by_its_code() {
    home.restartWith(Faults::signingIsRefused);
    assertThatThrownBy(() -> home.submit(ask("calc")))
        .hasMessageContaining("EXE-801")
        .hasMessageContaining("CAN-078 of another key");
  }

  @Test
  void a_pure_effect_whose_receipt_cannot_be_signed_left_nothing_behind() {
    home.restartWith(Faults::signingFails);
    TestRequest request = ask("calc");
    long size = home.ledger().treeSize();
    for (int i = 0; i < 3; i++) {
      assertThat(Refused.code(() -> home.submit(request))).isEqualTo("EXE-801");
    }
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    assertThat(home.rows("account")).isEmpty();
    home.restartWith(e -> e);
    assertThat(home.submit(request).served().orElseThrow().receipt().status())
        .isEqualTo(Status.SUCCEEDED);
  }

  /**
   * The disk fails at the n-th write: before the dispatch nothing runs, after it, it is in doubt.
   */
  @Test
  void a_disk_that_fails_at_each_write() {
    failsAtEachOf("calc", 1); // a pure effect is one write
    failsAtEachOf("mail", 2);
  }

  private void failsAtEachOf(String tool, int writes) {
    for (int failing = 1; failing <= writes; failing++) {
      AtomicInteger written = new AtomicInteger();
      int at = failing;
      home.beforeWrite(() -> {
        if (written.incrementAndGet() == at) {
          throw new WritException(LedgerError.DISK_FULL, "for a test");
        }
      });
      int ran = home.driver.runs().size();
      TestRequest request = ask(tool).params("{\"" + tool + "\":" + failing + "}");
      assertThat(Refused.code(() -> home.submit(request))).isEqualTo("LED-005");
      assertThat(Refused.code(() -> home.submit(request))).isIn("LED-022", "EXE-109");
      home.beforeWrite(() -> {});
      boolean dispatched = tool.equals("mail") && failing == 2;
      assertThat(home.driver.runs()).hasSize(ran + (dispatched || tool.equals("calc") ? 1 : 0));
      home.restart();
      Served served = home.submit(request).served().orElseThrow();
      assertThat(served.receipt().status())
          .isEqualTo(dispatched ? Status.IN_DOUBT : Status.SUCCEEDED);
      assertThat(home.driver.runsWith(request.params())).isEqualTo(tool.equals("calc") ? 2 : 1);
    }
  }

  @Test
  void a_clock_that_goes_back_while_the_tool_runs_does_not_cost_the_receipt() {
    home.driver.does(
        "mail",
        invocation -> {
          home.clock.back(Duration.ofHours(1));
          return Behaviours.echo(invocation);
        });
    Served served = home.submit(ask("mail")).served().orElseThrow();
    assertThat(served.receipt().status()).isEqualTo(Status.SUCCEEDED);
    assertThat(served.receipt().finishedAt()).isEqualTo(served.receipt().startedAt());
    assertThat(Refused.code(() -> home.submit(ask("mail")))).isEqualTo("EXE-904");
    home.clock.forward(Duration.ofHours(1));
  }

  @Test
  void the_raw_output_of_a_failure_is_the_tenants_to_read() {
    home.driver.does("mail", Behaviours.fails());
    Served failed = serve(ask("mail"));
    var raw = failed.receipt().rawOutput().orElseThrow();
    home.driver.does("mail", Behaviours::echo);
    assertThat(
            home.submit(ask("mail").params("{\"n\":2}").input("in", raw.digest(), raw.size()))
                .served()
                .orElseThrow()
                .receipt()
                .status())
        .isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void the_observations_say_what_the_driver_saw() {
    home.driver.does("mail", Behaviours.fails());
    byte[] observed =
        home.ledger().blob(serve(ask("mail")).receipt().observations().orElseThrow(), 10_000);
    assertThat(((JsonValue.Obj) Jcs.parse(observed)).get("observed"))
        .isEqualTo(JsonValue.object().put("stderr", "went wrong").build());
  }
}
