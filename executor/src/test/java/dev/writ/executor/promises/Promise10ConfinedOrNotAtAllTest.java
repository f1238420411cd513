package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.Answer;
import dev.writ.executor.driver.Driver;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestTools;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Promise 10: tools run confined, or not at all: never on another driver or in another sandbox than
 * their own, and refused before anything is dispatched.
 */
class Promise10ConfinedOrNotAtAllTest {
  @TempDir Path dir;

  private static void refused(TestHome home, TestRequest request, String code) {
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo(code);
    assertThat(home.driver.runs()).isEmpty();
    assertThat(home.kinds("acme", "run-1"))
        .doesNotContain("effect.dispatched")
        .endsWith("effect.refused");
    assertThat(home.rows("dispatched")).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Determinism.class)
  void a_tool_whose_driver_is_not_there(Determinism determinism) {
    try (TestHome home = TestHome.create(dir)) {
      home.tools.register(TestTools.manifest("calc", determinism, "process", TestDriver.SANDBOX));
      home.activate(TestPolicy.YAML);
      refused(home, home.ask("alice").tool("calc"), "EXE-304");
    }
  }

  @ParameterizedTest
  @EnumSource(Determinism.class)
  void a_tool_whose_sandbox_is_not_there(Determinism determinism) {
    try (TestHome home = TestHome.create(dir)) {
      home.tools.register(TestTools.manifest("calc", determinism, TestDriver.NAME, "missing-box"));
      home.activate(TestPolicy.YAML);
      refused(home, home.ask("alice").tool("calc").sandbox("missing-box"), "EXE-305");
    }
  }

  @Test
  void a_package_whose_content_is_not_what_was_approved() {
    try (TestHome home = TestHome.create(dir)) {
      home.tools.corrupt(new byte[] {1});
      refused(home, home.ask("alice").tool("calc"), "EXE-308");
    }
  }

  @Test
  void a_driver_that_cannot_make_it_ready() {
    try (TestHome home = TestHome.create(dir)) {
      home.driver.refusesToPrepare(new UnsupportedOperationException("no engine"));
      refused(home, home.ask("alice").tool("mail"), "EXE-308");
    }
  }

  @Test
  void a_driver_that_went_away_after_the_decision() {
    try (TestHome home = TestHome.create(dir)) {
      Answer decided = home.decide(home.ask("alice").tool("mail").sign());
      home.drivers.clear();
      home.restart();
      assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-201");
      assertThat(home.driver.runs()).isEmpty();
    }
  }

  @Test
  void what_a_host_may_lack_is_what_the_policy_in_force_says() {
    try (TestHome home = TestHome.create(dir)) {
      home.submit(home.ask("alice").tool("mail"));
      Answer before = home.decide(home.ask("alice").tool("mail").sign());
      home.activate(TestPolicy.YAML + "\nsandbox: { waived: [pids-limit, memory-limit] }\n");
      assertThat(Refused.code(() -> home.execute(before, "alice"))).isEqualTo("EXE-201");
      home.submit(home.ask("alice").tool("mail"));
      home.activate(TestPolicy.YAML);
      home.submit(home.ask("alice").tool("mail"));
      List<List<String>> each =
          List.of(List.of(), List.of("memory-limit", "pids-limit"), List.of());
      assertThat(home.driver.waived()).isEqualTo(each);
      assertThat(home.driver.runs().stream().map(run -> run.invocation().host().waived()))
          .containsExactlyElementsOf(each);
    }
  }

  @Test
  void a_manifest_cannot_promise_more_than_its_driver() {
    try (TestHome home = TestHome.create(dir)) {
      home.drivers.clear();
      home.drivers.add(new Modest(home.driver));
      home.restart();
      List<List<String>> whileRunning = new ArrayList<>();
      home.driver.does(
          "calc",
          invocation -> {
            whileRunning.add(home.kinds("acme", "run-1"));
            return Behaviours.echo(invocation);
          });
      home.submit(home.ask("alice").tool("calc"));
      // Its dispatch was durable before it ran: it was not taken for pure.
      assertThat(whileRunning).hasSize(1);
      assertThat(whileRunning.getFirst()).endsWith("effect.dispatched");
    }
  }

  /** The same driver, which promises nothing. */
  private record Modest(TestDriver real) implements Driver {
    @Override
    public String name() {
      return real.name();
    }

    @Override
    public Determinism determinism() {
      return Determinism.RECORDED;
    }

    @Override
    public Digest sandboxProfile(String profile) {
      return real.sandboxProfile(profile);
    }

    @Override
    public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
      return real.prepare(manifest, operation, content);
    }
  }
}
