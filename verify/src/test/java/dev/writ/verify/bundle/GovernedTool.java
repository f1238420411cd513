package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Refused;
import dev.writ.fixture.RuntimeDriver;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestRequest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** An installation whose policy governs tools, and closed runs that use one of them. */
public final class GovernedTool implements AutoCloseable {
  public final TestHome home;
  final TestGovernance governance;
  ToolRef words;

  public GovernedTool(Path dir) {
    home = TestHome.create(dir, TestGovernance.YAML);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.clock.stepping(Duration.ofMillis(3));
    governance = new TestGovernance(home).enrol();
  }

  TestRequest ask(String agent) {
    return home.ask(agent).tool("words").version(words.version());
  }

  String code(TestRequest request) {
    return home.submit(request).decision().code().orElse("allowed");
  }

  /** From draft to revoked, with what it may and may not do in each stage; run-1 is closed. */
  public void wholeWay() {
    words = governance.registered("1.1.0");
    assertThat(code(ask("alice"))).isEqualTo("GRD-401");
    governance.approved("1.1.0");
    assertThat(code(ask("alice"))).isEqualTo("GRD-416");
    governance.take(governance.canary(words, List.of("other"), 0));
    assertThat(code(ask("alice"))).isEqualTo("GRD-416");
    home.clock.forward(Duration.ofMinutes(3));
    governance.take(governance.canary(words, List.of("acme"), 0));
    home.clock.forward(Duration.ofMinutes(3));
    assertThat(home.submit(ask("alice")).served()).isPresent();
    assertThat(home.submit(ask("eve")).decision().code()).contains("GRD-416");
    home.clock.forward(Duration.ofMinutes(3));
    governance.stage(words, RolloutStage.ACTIVE);
    assertThat(home.submit(ask("alice")).served()).isPresent();
    assertThat(home.submit(ask("eve")).served()).isPresent();
    governance.stage(words, RolloutStage.DEPRECATED);
    assertThat(home.submit(ask("alice")).served()).isPresent();
    Answer decided = home.decide(ask("alice").sign());
    assertThat(decided.decision().verdict()).isEqualTo(Verdict.ALLOW);
    home.prohibit("words", "1.1.0");
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-303");
    assertThat(code(ask("alice"))).isEqualTo("GRD-416");
    home.clock.forward(Duration.ofMinutes(3));
    Sample.close(home, "run-1");
  }

  /** A runtime that is refused, then approved; the host has another one when run-1 is closed. */
  public void refusedRuntime() {
    RuntimeDriver driver = new RuntimeDriver(home.driver);
    home.drivers.set(0, driver);
    home.restart();
    words = governance.approved("1.1.0");
    governance.stage(words, RolloutStage.ACTIVE);
    home.tools.remove("words", "1.1.0");
    home.activate(TestGovernance.YAML + "  runtimes: true\n");
    governance.registered("1.1.0");
    assertThat(Refused.code(() -> home.submit(ask("alice")))).isEqualTo("EXE-312");
    governance.take(governance.runtime(EventKind.RUNTIME_APPROVED, "python", "3.13.5"));
    assertThat(home.submit(ask("alice")).served()).isPresent();
    Sample.close(home, "run-1");
    driver.has("3.99");
  }

  @Override
  public void close() {
    home.close();
  }
}
