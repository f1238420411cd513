package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.SignAgain;
import dev.writ.fixture.Forgery;
import dev.writ.fixture.Refused;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestClock;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.event.RunId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Promise 9: what is not configured refuses. There is no optional gate. */
class Promise09WhatIsNotConfiguredRefusesTest {
  @TempDir Path dir;

  private static void denied(TestHome home, TestRequest request, String code) {
    Answer answer = home.submit(request);
    assertThat(answer.decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(answer.decision().code()).contains(code);
    assertThat(answer.intent()).isEmpty();
    assertThat(answer.served()).isEmpty();
    // A denial is a signed document of the same standing, and final.
    home.kernel()
        .system()
        .trust()
        .verify(answer.decisionEnvelope(), Decision.TYPE, home.clock.instant());
    assertThat(home.submit(request).decisionEnvelope().id())
        .isEqualTo(answer.decisionEnvelope().id());
    assertThat(home.driver.runs()).isEmpty();
  }

  private static Ledger empty(Path dir) {
    return Ledger.create(
        new LedgerConfig(
            dir.resolve("data"),
            dir.resolve("anchor.json"),
            TestHome.ORIGIN,
            TestKeys.key("log"),
            new TestClock(TestHome.START)));
  }

  private static KernelConfig config(Ledger ledger) {
    return new KernelConfig(
        ledger,
        TestKeys.key("guardian"),
        TestKeys.key("executor"),
        TestTools.standard(),
        List.of(new TestDriver()),
        RunWorkspaces.NONE,
        Optional.empty(),
        KernelConfig.SUMMARIZED_EVERY,
        SignAgain.never(),
        new TestClock(TestHome.START),
        () -> 0,
        new SeededRandom(1));
  }

  @Test
  void without_workspaces_there_is_none_to_measure_or_wipe() {
    assertThat(Refused.code(() -> RunWorkspaces.NONE.treeDigest("acme", "run-1")))
        .isEqualTo("EXE-309");
    assertThat(
            Refused.code(
                () -> RunWorkspaces.NONE.wipe("acme", "run-1", "run-closed", TestHome.START)))
        .isEqualTo("EXE-309");
  }

  @Test
  void without_a_policy_there_is_no_kernel() {
    try (Ledger ledger = empty(dir)) {
      assertThat(Refused.code(() -> Kernel.open(config(ledger)))).isEqualTo("EXE-911");
    }
  }

  @Test
  void nobody_can_found_an_installation_but_an_operator() {
    Envelope enrolment;
    try (TestHome home = TestHome.create(dir.resolve("other"))) {
      enrolment = home.enrolment(TestKeys.trusted("alice", KeyRole.AGENT, Optional.of("acme")));
    }
    try (Ledger ledger = empty(dir)) {
      for (Envelope first : List.of(enrolment, Forgery.signedBy(enrolment, "alice"))) {
        assertThat(
                Refused.code(() ->
                    Kernel.found(
                        ledger,
                        List.of(first),
                        first,
                        new TestClock(TestHome.START),
                        new SeededRandom(1))))
            .isEqualTo("EXE-004");
      }
      assertThat(ledger.treeSize()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "calc, 9.9.9, do, box, GRD-401",
    "nope, 1.0.0, do, box, GRD-101",
    "calc, 1.0.0, undo, box, GRD-402",
    "calc, 1.0.0, do, castle, GRD-407",
    "pay, 1.0.0, text, box, GRD-101"
  })
  void what_policy_or_manifest_do_not_name_is_denied(
      String tool, String version, String operation, String sandbox, String code) {
    try (TestHome home = TestHome.create(dir)) {
      denied(
          home,
          home.ask("alice").tool(tool).version(version).operation(operation).sandbox(sandbox),
          code);
    }
  }

  @Test
  void a_subject_without_a_role_may_nothing_and_one_without_an_entry_is_not_admitted() {
    try (TestHome home = TestHome.create(dir)) {
      // Nobody has no role: no budget of calls applies either way, and no role would let it.
      Answer answer = home.submit(home.ask("nobody"));
      assertThat(answer.decision().verdict()).isEqualTo(Verdict.DENY);
      assertThat(answer.decision().code()).contains("GRD-405");
      home.enrol(TestKeys.trusted("stray", KeyRole.AGENT, Optional.of("acme")));
      assertThat(Refused.code(() -> home.submit(home.ask("stray")))).isEqualTo("GRD-006");
      assertThat(Refused.code(() -> home.submit(home.ask("unknown")))).isEqualTo("CAN-052");
      assertThat(home.driver.runs()).isEmpty();
    }
  }

  @Test
  void a_tool_that_is_not_registered_is_denied_though_policy_approves_it() {
    try (TestHome home = TestHome.create(dir)) {
      home.tools.remove("calc", "1.0.0");
      denied(home, home.ask("alice").tool("calc"), "GRD-401");
      home.tools.register(TestTools.manifest("mail", Determinism.PURE));
      denied(home, home.ask("alice").tool("mail"), "GRD-401");
    }
  }

  @Test
  void a_policy_without_a_budget_or_with_an_unknown_name_is_none() {
    try (TestHome home = TestHome.create(dir)) {
      String without =
          TestPolicy.YAML
              .replaceAll("  - \\{ name: calls.*\n", "")
              .replaceAll("  - \\{ name: cpu.*\n", "");
      assertThat(Refused.code(() -> home.activate(without))).isEqualTo("GRD-504");
      String noCalls = TestPolicy.YAML.replaceAll("  - \\{ name: calls.*\n", "");
      assertThat(Refused.code(() -> home.activate(noCalls))).isEqualTo("GRD-511");
      String unknown = TestPolicy.YAML.replace("limits: {", "limits: { more: 1,");
      assertThat(Refused.code(() -> home.activate(unknown))).isEqualTo("GRD-502");
      assertThat(home.policy().version()).isEqualTo(1);
    }
  }

  @Test
  void without_the_keys_it_signs_with_enrolled_a_kernel_serves_nothing() {
    try (TestHome home = TestHome.create(dir)) {
      home.revoke("guardian");
      assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("EXE-912");
      assertThat(home.driver.runs()).isEmpty();
      assertThat(home.rows("account")).isEmpty();
    }
  }

  @Test
  void a_kernel_whose_key_was_revoked_signs_no_more_and_still_gives_back_what_it_signed() {
    try (TestHome home = TestHome.create(dir)) {
      Envelope request = home.ask("alice").sign();
      Answer first = home.submit(request);
      home.revoke("executor");
      assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("EXE-912");
      assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "alice"))))
          .isEqualTo("EXE-912");
      Answer repeat = home.submit(request);
      assertThat(repeat.served().orElseThrow().envelope().toBytes())
          .isEqualTo(first.served().orElseThrow().envelope().toBytes());
      assertThat(home.driver.runs()).hasSize(1);
    }
  }

  /** No verifier would take such a checkpoint, so no run is closed by it. */
  @Test
  void a_log_key_that_is_not_in_force_signs_no_checkpoint() {
    try (TestHome home = TestHome.create(dir)) {
      home.submit(home.ask("alice"));
      home.enrol(
          new TrustedKey(
              TestKeys.key("log").verifyingKey(),
              KeyRole.LOG,
              Optional.empty(),
              "log",
              TestHome.START.minusSeconds(1),
              Optional.of(TestHome.START.plusSeconds(600)),
              Optional.empty()));
      home.kernel().checkpoint();
      home.clock.forward(Duration.ofSeconds(600));
      home.kernel().checkpoint(); // of a log whose last event is from before
      long size = home.ledger().treeSize();
      assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "alice"))))
          .isEqualTo("EXE-912");
      assertThat(home.ledger().treeSize()).isEqualTo(size);
      assertThat(home.submit(home.ask("alice")).served()).isPresent();
      assertThat(Refused.code(() -> home.kernel().checkpoint())).isEqualTo("EXE-912");
    }
  }

  /**
   * A key file that was damaged, or put back from before an exchange of the key, is another key.
   */
  @Test
  void a_log_key_that_is_not_enrolled_where_another_one_is_signs_no_checkpoint() {
    try (TestHome home = TestHome.create(dir)) {
      home.submit(home.ask("alice"));
      home.kernel().checkpoint(); // nobody has stated which key the log's is
      home.kernel().requireKeys();
      home.enrol(
          new TrustedKey(
              TestKeys.key("other-log").verifyingKey(),
              KeyRole.LOG,
              Optional.empty(),
              "log",
              TestHome.START.minusSeconds(1),
              Optional.empty(),
              Optional.empty()));
      long size = home.ledger().treeSize();
      assertThat(Refused.code(() -> home.kernel().requireKeys())).isEqualTo("EXE-912");
      assertThat(Refused.code(() -> home.kernel().closeRun(home.close("acme", "run-1", "alice"))))
          .isEqualTo("EXE-912");
      assertThat(Refused.code(() -> home.kernel().checkpoint())).isEqualTo("EXE-912");
      assertThat(home.ledger().treeSize()).isEqualTo(size);
      assertThat(home.ledger().head(new RunId("acme", "run-1")).orElseThrow().kind())
          .isNotEqualTo(EventKind.RUN_CLOSED);
    }
  }
}
