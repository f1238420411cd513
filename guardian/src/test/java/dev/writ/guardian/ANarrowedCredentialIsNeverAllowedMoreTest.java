package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.limit.RunLimits;
import dev.writ.guardian.policy.limit.StorageLimits;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What origin says of the caller's credential only ever takes away. */
class ANarrowedCredentialIsNeverAllowedMoreTest {
  private static final String TWO_ROLES =
      World.POLICY
          .replace("roles: [analyst], surfaces", "roles: [analyst, guest], surfaces")
          .replace(
              "  analyst:\n",
              """
                guest:
                  tools: []
                  resources: { cpu_ms: 0, memory_bytes: 0, output_bytes: 0, wall_ms: 0 }
                  sandboxes: []
                analyst:
              """);

  private static World.RequestBuilder vouched(Optional<List<String>> roles) {
    World.RequestBuilder request = World.request();
    request.signer = World.SURFACE;
    request.origin =
        Optional.of(
            new Origin(
                "mcp",
                "bearer",
                "token-1",
                World.SNAPSHOT,
                Optional.empty(),
                Optional.empty(),
                roles));
    return request;
  }

  private static Decision judge(String policy, Optional<List<String>> roles) {
    return World.judge(World.policy(policy), vouched(roles));
  }

  @Test
  void onlyARoleThatTheCredentialNamesHoldsTheEffect() {
    assertThat(judge(TWO_ROLES, Optional.empty()).verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(judge(TWO_ROLES, Optional.of(List.of("analyst"))).verdict())
        .isEqualTo(Verdict.ALLOW);
    for (List<String> none : List.of(List.of("guest"), List.of("root"), List.<String>of())) {
      Decision decision = judge(TWO_ROLES, Optional.of(none));
      assertThat(decision.code()).as("%s", none).contains("GRD-405");
    }
    // A role that policy does not give the subject is none, whatever the credential says.
    assertThat(
            judge(World.POLICY.replace("[analyst]", "[]"), Optional.of(List.of("analyst"))).code())
        .contains("GRD-405");
  }

  @Test
  void whatLimitsTheSubjectGoesByAllOfItsRoles() {
    String closed =
        TWO_ROLES
            + """
            temporal:
              hours:
                - { match: { role: guest }, days: [mon], from: "08:00", to: "09:00", offset: "+00:00" }
            """;
    assertThat(judge(closed, Optional.of(List.of("analyst"))).code()).contains("GRD-302");
    String asking =
        TWO_ROLES.replace(
            "  - effect: { tool: js, operation: eval }\n",
            """
              - effect: { tool: js, operation: eval }
                match: { role: guest }
                require: { approvals: { role: reviewer, count: 1 } }
              - effect: { tool: js, operation: eval }
            """);
    assertThat(judge(asking, Optional.of(List.of("analyst"))).verdict())
        .isEqualTo(Verdict.ESCALATE);
  }

  @Test
  void theRolesAreSignedAndReadAgain() {
    Request narrowed = vouched(Optional.of(List.of("a", "b"))).request();
    assertThat(Request.read(narrowed.toJson())).isEqualTo(narrowed);
    Request none = vouched(Optional.of(List.of())).request();
    assertThat(Request.read(none.toJson()).origin().orElseThrow().roles()).contains(List.of());
    Request open = vouched(Optional.empty()).request();
    assertThat(open.toJson().toString()).doesNotContain("roles");
    assertThat(Request.read(open.toJson()).origin().orElseThrow().roles()).isEmpty();
  }

  @Test
  void aPolicySaysWhoStoresHowMuchAndForHowLong() {
    assertThat(World.policy().storage()).isEqualTo(StorageLimits.DEFAULT);
    Policy policy =
        World.policy(World.POLICY + "storage: { bytes_max: 5, unnamed_s: 60, put_by: [] }\n");
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    assertThat(policy.storage()).isEqualTo(new StorageLimits(5, 60, Optional.of(List.of())));
    String wrongs =
        "{ bytes_max: 1, unnamed_s: 60, put_by: [nobody-has-it] };{ bytes_max: -1, unnamed_s: 60"
            + " };{ bytes_max: 1, unnamed_s: 59 };{};{ b: 1 }";
    for (String wrong : List.of(wrongs.split(";"))) {
      assertThatThrownBy(() -> World.policy(World.POLICY + "storage: " + wrong + "\n"))
          .as(wrong)
          .isInstanceOf(WritException.class)
          .hasMessageContaining("storage");
    }
  }

  @Test
  void aPolicySaysWhenRunsOfSurfacesClose() {
    assertThat(World.policy().runs()).isEmpty();
    Policy policy = World.policy(World.POLICY + "runs: { idle_max_s: 60, life_max_s: 600 }\n");
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    RunLimits limits = policy.runs().orElseThrow();
    Instant t = World.NOW;
    assertThat(limits.isOver(t, t, t.plusSeconds(59))).isFalse();
    assertThat(limits.isOver(t, t, t.plusSeconds(60))).isTrue();
    assertThat(limits.isOver(t, t.plusSeconds(550), t.plusSeconds(599))).isFalse();
    assertThat(limits.isOver(t, t.plusSeconds(550), t.plusSeconds(600))).isTrue();
    for (String wrong : List.of("{ life_max_s: 600 }", "{ idle_max_s: 0 }", "{ idle: 1 }", "{}")) {
      assertThatThrownBy(() -> World.policy(World.POLICY + "runs: " + wrong + "\n"))
          .as(wrong)
          .isInstanceOf(WritException.class)
          .hasMessageContaining("runs");
    }
  }
}
