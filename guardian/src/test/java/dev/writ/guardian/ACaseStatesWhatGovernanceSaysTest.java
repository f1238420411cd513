package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A policy's own tests cover tools that governance brings: the stage is part of the state. */
class ACaseStatesWhatGovernanceSaysTest {
  private static final String GOVERNANCE =
      """
      governance:
        tools: [js]
        approvals: { tool-reviewer: 1 }
        approvers: { ada: [tool-reviewer] }
      """;

  private static final Policy GOVERNED =
      World.policy(
          World.POLICY
                  .replace(
                      "  - { name: js, version: 1.0.0, package: \"PACKAGE\", stage: active }\n", "")
                  .replace("tools:\nbudgets", "tools: []\nbudgets")
              + GOVERNANCE);

  private static List<PolicyTest.CaseResult> run(Policy policy, String state) {
    String cases =
        """
        writ_policy_cases: 1
        cases:
          - name: one
            request:
              tenant: acme
              subject: researcher
              tool: js
              version: 1.0.0
              operation: eval
              params: { source: "1 + 1" }
              resources: { cpu_ms: 1000, memory_bytes: 1048576, output_bytes: 1000, wall_ms: 1000 }
              sandbox: wasm
            state: { time: 2026-11-20T12:00:00.000Z, STATE }
            expect: { verdict: ALLOW }
        """
            .replace("STATE", state);
    return PolicyTest.run(
        policy,
        cases.getBytes(StandardCharsets.UTF_8),
        "cases.yaml",
        ref -> Optional.of(World.manifest()).filter(m -> m.ref().equals(ref)));
  }

  private static String governed(Digest digest, String more) {
    return "governed: { package: \"" + digest + "\", " + more + " }";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "stage: active; ALLOW;",
        "stage: deprecated; ALLOW;",
        "stage: 'canary', canary: { tenants: [acme], percent: 0 }; ALLOW;",
        "stage: 'canary', canary: { tenants: [other], percent: 0 }; DENY; GRD-416",
        "stage: draft; DENY; GRD-416",
        "stage: retired; DENY; GRD-416",
        "stage: active, revoked: true; DENY; GRD-416",
      },
      quoteCharacter = '"')
  void theStageDecides(String stage, Verdict verdict, String code) {
    PolicyTest.CaseResult result =
        run(GOVERNED, governed(World.manifest().packageDigest(), stage)).getFirst();
    assertThat(result.verdict()).isEqualTo(verdict);
    assertThat(result.code()).isEqualTo(Optional.ofNullable(code));
  }

  @Test
  void whatPolicyDoesNotGovernCannotBeStated() {
    String state = governed(World.manifest().packageDigest(), "stage: active");
    assertThatThrownBy(() -> run(World.policy(), state))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(GuardianError.POLICY_REFERENCE))
        .hasMessageContaining("does not govern js 1.0.0");
  }

  @Test
  void withoutItNoVersionIsThere() {
    assertThatThrownBy(() -> run(GOVERNED, "nonce_seen: false"))
        .isInstanceOfSatisfying(
            WritException.class,
            e -> assertThat(e.code()).isEqualTo(GuardianError.POLICY_REFERENCE));
  }
}
