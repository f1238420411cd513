package dev.writ.cli.command.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.governance.Submitted;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A canary from before shares went by subjects: `writ tool status` says what is wrong with it. */
class ACanaryByRunIsStagedAgainTest {
  private static final Instant AT = Instant.parse("2026-11-21T12:00:00.000Z");
  private static final ToolRef TOOL = new ToolRef("word-stats", "1.0.0", Digest.sha256());
  private static final String POLICY =
      """
      writ_policy: 1
      name: test
      version: 1
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 1000000 }
      principals: []
      roles: {}
      tools: []
      budgets: []
      requirements: []
      """;

  private static ToolGoverning.Standing standing(Canary canary) {
    return new ToolGoverning.Standing(
        new Submitted(
            TOOL,
            "publisher",
            AT,
            Optional.of(new ToolValidation(TOOL, "writ lint", List.of())),
            new TreeMap<>(),
            RolloutStage.CANARY,
            Optional.of(canary),
            Optional.of(AT)),
        false,
        Policy.parse(POLICY.getBytes(StandardCharsets.UTF_8), "policy.yaml"),
        "writ");
  }

  @Test
  void callersChooseWhetherTheyMeetIt() {
    ToolGoverning.Standing old = standing(new Canary(List.of("acme", "other"), 10, false));
    assertThat(old.shown()).isEqualTo("canary 10 % of runs and acme, other");
    assertThat(old.next())
        .contains(
            "callers choose",
            "tool stage word-stats 1.0.0 canary --tenants acme,other --percent 10");
  }

  @Test
  void oneBySubjectsIsStagedOn() {
    ToolGoverning.Standing now = standing(new Canary(List.of(), 10, true));
    assertThat(now.shown()).isEqualTo("canary 10 %");
    assertThat(now.next()).doesNotContain("callers choose").contains("1.0.0 active");
  }
}
