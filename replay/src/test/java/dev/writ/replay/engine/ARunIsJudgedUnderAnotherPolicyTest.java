package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.PolicyCounterfactual.Answer;
import dev.writ.replay.engine.PolicyCounterfactual.Judged;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * One run, judged under policies that differ from its own in one place: what was recorded counts
 * where it is the same count, and is unknown, never zero, where it is not.
 */
class ARunIsJudgedUnderAnotherPolicyTest {
  private static final String YAML =
      TestPolicy.YAML.replace(
          "requirements:",
          """
            - { name: spent, scope: tenant, unit: cost, limit: 1000, window_s: 86400 }
          prices: { calc: 3, mail: 5, pay: 7, sim: 2 }
          temporal:
            rates:
              - { name: quick, scope: subject, limit: 50, per_s: 600 }
            order:
              - { effect: { tool: sim, operation: do }, after: { tool: calc, operation: do } }
          requirements:\
          """);

  @TempDir static Path dir;
  private static TestHome home;
  private static RecordedRun recording;

  /** Five decisions: calc, mail, a mail that is denied, sim after calc, an approved payment. */
  @BeforeAll
  static void record() {
    home = TestHome.create(dir, YAML);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.clock.stepping(Duration.ofMillis(7));
    home.submit(home.ask("alice"));
    home.submit(home.ask("alice").tool("mail").params("{\"text\":\"a longer request\"}"));
    home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    home.submit(home.ask("alice").tool("sim"));
    var pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    home.approve(pay, "rita");
    home.driver.does("mail", Behaviours.fails());
    home.submit(home.ask("alice").tool("mail"));
    recording = Sample.recording(home, Sample.RUN);
  }

  @AfterAll
  static void close() {
    home.close();
  }

  private static List<Judged> under(RecordedRun run, String yaml) {
    return PolicyCounterfactual.judge(run, TestPolicy.after(home.policy(), yaml, home.tools));
  }

  private static List<Judged> under(String... replaced) {
    String yaml = YAML;
    for (int i = 0; i < replaced.length; i += 2) {
      assertThat(yaml).contains(replaced[i]);
      yaml = yaml.replace(replaced[i], replaced[i + 1]);
    }
    return under(recording, yaml);
  }

  private static List<Answer> answers(List<Judged> judged) {
    return judged.stream().map(Judged::answer).toList();
  }

  @Test
  void under_its_own_policy_nothing_changes() {
    List<Judged> judged = under();
    assertThat(answers(judged))
        .containsExactly(
            Answer.ALLOW,
            Answer.ALLOW,
            Answer.DENY,
            Answer.ALLOW,
            Answer.ESCALATE,
            Answer.ALLOW,
            Answer.ALLOW);
    assertThat(judged).noneMatch(Judged::changes);
    assertThat(judged.getFirst().toJson().toString()).doesNotContain("recorded_code");
  }

  @Test
  void limits_may_differ_since_what_was_used_is_known() {
    // 3, 5 and 2 are spent before the payment, which costs 7.
    List<Judged> judged = under("cost, limit: 1000", "cost, limit: 12");
    assertThat(answers(judged))
        .containsExactly(
            Answer.ALLOW,
            Answer.ALLOW,
            Answer.DENY,
            Answer.ALLOW,
            Answer.ESCALATE,
            Answer.DENY,
            Answer.DENY);
    assertThat(judged.get(4).changes()).as("it would wait, and then be denied").isFalse();
    assertThat(judged.get(5).code()).contains("GRD-201");
    assertThat(judged.get(5).changes()).isTrue();
    assertThat(answers(under("cost, limit: 1000", "cost, limit: unlimited")))
        .isEqualTo(answers(under()));
    assertThat(answers(under("limit: 50, per_s", "limit: 1, per_s")))
        .startsWith(Answer.ALLOW, Answer.DENY);
  }

  static Stream<Arguments> otherCounts() {
    return Stream.of(
        arguments("a new budget", "name: calls,", "name: other-calls,"),
        arguments("another scope", "name: calls, scope: subject", "name: calls, scope: tenant"),
        arguments("another unit", "scope: tenant, unit: cpu_ms", "scope: tenant, unit: calls"),
        arguments(
            "another window", "limit: 100000, window_s: 86400", "limit: 100000, window_s: 43200"),
        arguments(
            "another match",
            "limit: 100000, window_s: 86400 }",
            "limit: 100000, window_s: 86400, match: { role: worker } }"),
        arguments("other prices", "calc: 3,", "calc: 4,"),
        arguments("a new rate", "name: quick", "name: quicker"),
        arguments(
            "another scope of a rate", "name: quick, scope: subject", "name: quick, scope: tool"),
        arguments("another span", "per_s: 600", "per_s: 60"),
        arguments(
            "another match of a rate", "per_s: 600 }", "per_s: 600, match: { tenant: acme } }"));
  }

  /** One that counts something else is not compared with what the first one counted. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("otherCounts")
  void what_was_not_counted_is_unknown(String what, String from, String to) {
    List<Judged> judged = under(from, to);
    assertThat(judged.getFirst().answer()).as(what).isEqualTo(Answer.UNKNOWN);
    assertThat(judged.getFirst().changes()).as("nobody knows").isFalse();
    assertThat(judged.getFirst().code()).isPresent();
  }

  @Test
  void a_budget_without_a_limit_needs_no_balance() {
    assertThat(
            answers(
                under(
                    "name: calls, scope: subject, unit: calls, limit: 100000",
                    "name: all-calls, scope: tool, unit: calls, limit: unlimited")))
        .isEqualTo(answers(under()));
  }

  @Test
  void what_had_to_run_before_follows_from_the_receipts() {
    List<Judged> judged =
        under("after: { tool: calc, operation: do }", "after: { tool: pay, operation: do }");
    assertThat(judged.get(3).answer()).as("pay had not run yet").isEqualTo(Answer.DENY);
    judged = under("after: { tool: calc, operation: do }", "after: { tool: mail, operation: do }");
    assertThat(judged.get(3).answer()).as("mail had").isEqualTo(Answer.ALLOW);
  }

  @Test
  void an_effect_that_failed_has_not_run() {
    home.driver.does("mail", Behaviours.fails());
    home.submit(home.ask("alice").run("failing").tool("mail"));
    home.submit(home.ask("alice").run("failing"));
    home.submit(home.ask("alice").run("failing").tool("sim"));
    List<Judged> judged =
        under(
            Sample.recording(home, new RunId("acme", "failing")),
            YAML.replace(
                "after: { tool: calc, operation: do }", "after: { tool: mail, operation: do }"));
    assertThat(answers(judged)).containsExactly(Answer.ALLOW, Answer.ALLOW, Answer.DENY);
  }

  @Test
  void an_approval_counts_for_who_may_give_it_and_was_not_withdrawn() {
    int approved = 5;
    assertThat(under().get(approved).recorded()).isEqualTo(Verdict.ALLOW);
    assertThat(
            under("subject: rita, roles: [reviewer]", "subject: rita, roles: [auditor]")
                .get(approved)
                .answer())
        .isEqualTo(Answer.ESCALATE);
    String id =
        home.events("acme", "run-1").stream()
            .filter(event -> event.kind().equals(EventKind.APPROVAL_RECEIVED))
            .findFirst()
            .orElseThrow()
            .body()
            .toString();
    assertThat(under(recording, YAML + "revoked: [ \"" + id + "\" ]\n").get(approved).answer())
        .isEqualTo(Answer.ESCALATE);
  }

  @Test
  void a_request_that_the_policy_would_not_let_in() {
    List<Judged> judged = under("request_bytes_max: 1000000", "request_bytes_max: 100");
    assertThat(answers(judged)).containsOnly(Answer.NOT_ADMITTED);
    Judged first = judged.getFirst();
    assertThat(first.changes()).isTrue();
    assertThat(first.code()).contains("GRD-002");
    assertThat(first.check()).isEmpty();
    assertThat(first.explained()).isEmpty();
    assertThat(first.why()).contains("at most 100");
    assertThat(first.toJson().toString()).contains("NOT_ADMITTED");
  }

  @Test
  void a_decision_that_rests_on_a_tool_that_is_not_in_the_bundle_is_unknown() {
    RecordedRun toolless = Sample.recording(home, Sample.RUN, true, false);
    List<Judged> judged = under(toolless, YAML);
    assertThat(answers(judged))
        .as("a denial by an earlier check needs no tool")
        .containsExactly(
            Answer.UNKNOWN,
            Answer.UNKNOWN,
            Answer.DENY,
            Answer.UNKNOWN,
            Answer.ESCALATE,
            Answer.UNKNOWN,
            Answer.UNKNOWN);
    assertThat(judged.getFirst().why()).isEqualTo("the tool's manifest is not in the bundle");
    assertThat(judged.getFirst().code()).isEmpty();
  }

  @Test
  void a_tool_that_the_policy_does_not_list_is_judged_by_the_package_of_then() {
    String entries =
        home.tools
            .policyEntries()
            .replace("name: calc, version: 1.0.0", "name: calc, version: 2.0.0");
    List<Judged> judged = under(recording, YAML.replace("TOOLS\n", entries));
    assertThat(judged.getFirst().answer()).isEqualTo(Answer.DENY);
    assertThat(judged.getFirst().why()).doesNotContain("not in the bundle");
  }
}
