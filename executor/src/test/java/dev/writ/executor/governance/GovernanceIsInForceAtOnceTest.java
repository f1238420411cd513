package dev.writ.executor.governance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Refused;
import dev.writ.fixture.RuntimeDriver;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.ApprovedTool;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.CanaryDraw;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a change of governance does to what was decided before, and to what is asked next. */
class GovernanceIsInForceAtOnceTest {
  @TempDir Path dir;
  private TestHome home;
  private TestGovernance governance;

  @BeforeEach
  void open() {
    home = TestHome.create(dir, TestGovernance.YAML);
    home.clock.stepping(Duration.ofMillis(2));
    governance = new TestGovernance(home).enrol();
  }

  @AfterEach
  void close() {
    home.close();
    assertThat(home.fsck().problems()).isEmpty();
  }

  private TestRequest ask(ToolRef tool) {
    return home.ask("alice").tool(tool.name()).version(tool.version());
  }

  private String code(TestRequest request) {
    return home.submit(request).decision().code().orElse("allowed");
  }

  @Test
  void a_change_of_stage_voids_what_was_decided_before() {
    ToolRef words = governance.approved("1.0.0");
    governance.stage(words, RolloutStage.ACTIVE);
    Answer decided = home.decide(ask(words).sign());
    governance.stage(words, RolloutStage.DEPRECATED);
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-201");
    // Asked again it is judged anew: a deprecated version runs where it is named.
    assertThat(code(ask(words))).isEqualTo("allowed");
    governance.stage(words, RolloutStage.RETIRED);
    assertThat(code(ask(words))).isEqualTo("GRD-416");
    assertThat(home.policy().tool("words", "1.0.0")).isEmpty();
  }

  @Test
  void a_trial_that_ends_for_a_tenant_ends_for_what_was_decided_too() {
    ToolRef words = governance.approved("1.0.0");
    governance.take(governance.canary(words, List.of("acme"), 0));
    Answer decided = home.decide(ask(words).sign());
    governance.take(governance.canary(words, List.of("other"), 0));
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-302");
    assertThat(home.driver.runs()).isEmpty();
  }

  /** The place of acme's alice among a hundred, for words 1.0.0. */
  private static final int ALICE_PLACE = 32;

  @Test
  void no_name_of_a_run_gets_a_caller_into_a_share() {
    ToolRef words = governance.approved("1.0.0");
    governance.take(governance.canary(words, List.of(), ALICE_PLACE));
    for (int i = 0; i < 200; i++) {
      assertThat(code(ask(words).run("run-" + i))).isEqualTo("GRD-416");
    }
    assertThat(home.driver.runs()).isEmpty();
    governance.take(governance.canary(words, List.of(), ALICE_PLACE + 1));
    for (int i = 0; i < 5; i++) {
      assertThat(home.submit(ask(words).run("run-" + i)).served()).isPresent();
    }
    Answer decided = home.decide(ask(words).run("run-0").sign());
    governance.take(governance.canary(words, List.of(), ALICE_PLACE));
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-302");
    assertThat(home.driver.runs()).hasSize(5);
  }

  @Test
  void a_share_that_callers_choose_to_be_in_is_not_staged() {
    ToolRef words = governance.approved("1.0.0");
    assertThat(refused(governance.canary(words, new Canary(List.of(), 1, false))))
        .isEqualTo("EXE-984");
    // Nothing is drawn here.
    governance.take(governance.canary(words, new Canary(List.of("other"), 0, false)));
    governance.take(governance.canary(words, new Canary(List.of(), 100, false)));
    governance.take(governance.canary(words, new Canary(List.of(), 50, true)));
    assertThat(refused(governance.canary(words, new Canary(List.of("acme"), 99, false))))
        .isEqualTo("EXE-984");
  }

  @Test
  void what_policy_no_longer_governs_is_gone_and_comes_back_with_it() {
    ToolRef words = governance.approved("1.0.0");
    governance.stage(words, RolloutStage.ACTIVE);
    home.tools.remove("words", "1.0.0");
    home.activate(
        TestGovernance.YAML
            .replace("[words, ", "[")
            .replace(", words]", "]")
            .replaceAll("(?m)^ *- . effect: . tool: words .*\\n", ""));
    governance.registered("1.0.0");
    assertThat(home.policy().tool("words", "1.0.0")).isEmpty();
    assertThat(code(ask(words))).startsWith("GRD-");
    home.tools.remove("words", "1.0.0");
    home.activate(TestGovernance.YAML);
    governance.registered("1.0.0");
    assertThat(code(ask(words))).isEqualTo("allowed");
  }

  @Test
  void the_default_version_is_the_trial_then_the_greatest_active_one() {
    ToolRef old = governance.approved("1.9.0");
    ToolRef now = governance.approved("1.10.0");
    ToolRef next = governance.approved("2.0.0-rc.1");
    governance.stage(old, RolloutStage.ACTIVE);
    assertThat(version("acme")).contains("1.9.0");
    governance.stage(now, RolloutStage.ACTIVE);
    assertThat(version("acme")).contains("1.10.0");
    governance.take(governance.canary(next, List.of("acme"), 0));
    assertThat(version("acme")).contains("2.0.0-rc.1");
    assertThat(version("other")).contains("1.10.0");
    home.prohibit("words", "2.0.0-rc.1");
    assertThat(version("acme")).contains("1.10.0");
    governance.stage(now, RolloutStage.DEPRECATED);
    assertThat(version("acme")).contains("1.9.0");
    governance.stage(old, RolloutStage.RETIRED);
    assertThat(version("acme")).isEmpty();
    assertThat(home.policy().defaultVersion("calc", draw("acme"))).isPresent();
    home.prohibit("calc", "1.0.0");
    assertThat(home.policy().defaultVersion("calc", draw("acme"))).isEmpty();
  }

  private Optional<String> version(String tenant) {
    return home.policy().defaultVersion("words", draw(tenant)).map(t -> t.ref().version());
  }

  private static CanaryDraw draw(String tenant) {
    return new CanaryDraw(tenant, "run-1", "alice");
  }

  @Test
  void each_step_needs_the_one_before_and_who_may() {
    ToolRef words = governance.registered("1.0.0");
    ToolRef other = TestGovernance.other(words);
    assertThat(refused(governance.validation(words))).isEqualTo("EXE-914");
    assertThat(refused(governance.submission(new ToolRef("calc", "9.0.0", other.packageDigest()))))
        .isEqualTo("EXE-915");
    assertThat(refused(governance.submission(words, "ada"))).isEqualTo("CAN-053");
    governance.take(governance.submission(words));
    assertThat(refused(governance.submission(words))).isEqualTo("EXE-914");
    assertThat(refused(governance.approval(words, "ada", "tool-reviewer"))).isEqualTo("EXE-917");
    governance.take(
        governance.validation(words, new ToolValidation.Finding("TOL-211", "a.py", "socket")));
    assertThat(refused(governance.approval(words, "ada", "tool-reviewer"))).isEqualTo("EXE-917");
    governance.take(governance.validation(words));
    assertThat(refused(governance.approval(other, "ada", "tool-reviewer"))).isEqualTo("EXE-915");
    assertThat(refused(governance.approval(words, "ada", "security"))).isEqualTo("EXE-916");
    assertThat(refused(governance.approval(words, "rita", "tool-reviewer"))).isEqualTo("CAN-053");
    governance.take(governance.approval(words, "ada", "tool-reviewer"));
    assertThat(refused(governance.approval(words, "ada", "tool-reviewer"))).isEqualTo("EXE-914");
    assertThat(refused(governance.validation(words))).isEqualTo("EXE-914");
    governance.take(governance.approval(words, "cyd", "security"));
    assertThat(refused(governance.staging(words, RolloutStage.ACTIVE))).isEqualTo("EXE-917");
    assertThat(refused(governance.canary(words, List.of(), 1))).isEqualTo("EXE-917");
    governance.take(governance.approval(words, "dan", "tool-reviewer"));
    home.revoke("dan");
    assertThat(refused(governance.staging(words, RolloutStage.ACTIVE))).isEqualTo("EXE-917");
    governance.take(governance.approval(words, "ben", "tool-reviewer"));
    Envelope active = governance.staging(words, RolloutStage.ACTIVE);
    governance.take(active);
    assertThat(refused(active)).isEqualTo("EXE-914");
    assertThat(refused(governance.canary(words, List.of(), 1))).isEqualTo("EXE-914");
    assertThat(code(ask(words))).isEqualTo("allowed");
  }

  @Test
  void a_rejection_is_final_for_that_package() {
    ToolRef words = governance.registered("1.0.0");
    governance.take(governance.submission(words));
    // Rejected before anybody looked at it further.
    governance.take(governance.word(words, "dan", "tool-reviewer", Approval.Verdict.REJECT));
    assertThat(refused(governance.validation(words))).isEqualTo("EXE-914");
    assertThat(refused(governance.approval(words, "ada", "tool-reviewer"))).isEqualTo("EXE-917");
    assertThat(refused(governance.submission(words))).isEqualTo("EXE-914");
    assertThat(refused(governance.staging(words, RolloutStage.ACTIVE))).isEqualTo("EXE-917");
    governance.take(governance.submission(TestGovernance.other(words)));
  }

  private String refused(Envelope document) {
    long size = home.ledger().treeSize();
    String code = Refused.code(() -> governance.take(document));
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    return code;
  }

  // Runtimes.

  @Test
  void a_tool_runs_on_an_approved_runtime_where_policy_asks_for_that() {
    RuntimeDriver driver = new RuntimeDriver(home.driver);
    home.drivers.set(0, driver);
    home.restart();
    TestRequest mail = home.ask("alice").tool("mail");
    assertThat(home.submit(mail).served()).isPresent();
    home.activate(TestGovernance.YAML + "  runtimes: true\n");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-312");
    governance.take(governance.runtime(EventKind.RUNTIME_APPROVED, "python", "3.13.5"));
    assertThat(refused(governance.runtime(EventKind.RUNTIME_APPROVED, "python", "3.13.5")))
        .isEqualTo("EXE-914");
    Answer decided = home.decide(home.ask("alice").tool("mail").sign());
    assertThat(home.submit(home.ask("alice").tool("mail")).served()).isPresent();
    governance.take(governance.runtime(EventKind.RUNTIME_WITHDRAWN, "python", "3.13.5"));
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-312");
    governance.take(governance.runtime(EventKind.RUNTIME_APPROVED, "python", "3.13.5"));
    driver.has("3.14.0");
    assertThat(Refused.code(() -> home.submit(home.ask("alice").tool("mail"))))
        .isEqualTo("EXE-312");
    assertThat(refused(governance.runtime("runtime.changed", "python", "1"))).isEqualTo("EXE-004");
  }

  @Test
  void a_tool_that_policy_lists_stays_the_owners_word() {
    ApprovedTool listed = home.policy().tool("calc", "1.0.0").orElseThrow();
    assertThat(listed.governed()).isEmpty();
    assertThat(home.policy().mayRun(listed, new CanaryDraw("any", "any run", "anybody"))).isTrue();
    JsonValue.Obj inputs = home.submit(home.ask("alice")).decision().inputs();
    assertThat(inputs.members()).doesNotContainKey("governed");
  }
}
