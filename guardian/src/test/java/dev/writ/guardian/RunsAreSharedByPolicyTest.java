package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code runs: shared_by} says, and what it may not say. */
class RunsAreSharedByPolicyTest {

  private static Policy sharing(String shares) {
    return World.policy(World.POLICY + "runs: { idle_max_s: 60, shared_by: [" + shares + "] }\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{ tenant: acme } | GRD-505",
        "{ tenant: acme, everybody: false } | GRD-505",
        "{ tenant: acme, everybody: true, roles: [analyst] } | GRD-505",
        "{ tenant: acme, roles: [nobodys] } | GRD-510",
        "{ tenant: acme, subjects: [stranger] } | GRD-510",
        "{ tenant: other, subjects: [owner] } | GRD-510",
        "{ roles: [analyst] } | GRD-503",
        "{ tenant: acme, roles: [analyst], who: me } | GRD-502",
        "'{ tenant: acme, everybody: true }, { tenant: acme, everybody: true }' | GRD-505"
      })
  void whatSharesNothingOrEverythingByMistakeIsRefused(String shares, String code) {
    assertThatThrownBy(() -> sharing(shares))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).isEqualTo(code));
  }

  @Test
  void theOrderOfSharesIsNothingAndAnEmptyListIsNone() {
    String one = "{ tenant: acme, subjects: [owner, researcher] }";
    String two = "{ tenant: acme, surfaces: [mcp], everybody: true }";
    Policy policy = sharing(one + ", " + two);
    assertThat(sharing(two + ", " + one).digest()).isEqualTo(policy.digest());
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    assertThat(sharing("").digest())
        .isEqualTo(World.policy(World.POLICY + "runs: { idle_max_s: 60 }\n").digest());
  }

  @Test
  void bothMustBeOfTheShare() {
    Policy policy =
        sharing(
            "{ tenant: acme, surfaces: [tools], runs: \"case-*\", roles: [analyst], subjects:"
                + " [owner] }");
    List<String> analyst = List.of("analyst");
    assertThat(policy.sharesRun("acme", "tools", "case-1", "owner", "researcher", analyst))
        .isTrue();
    assertThat(policy.sharesRun("acme", "tools", "case-1", "researcher", "owner", List.of()))
        .isTrue();
    assertThat(policy.sharesRun("acme", "tools", "case-1", "owner", "researcher", List.of()))
        .isFalse(); // its credential is narrowed to other roles
    assertThat(policy.sharesRun("acme", "tools", "case-1", "lead", "researcher", analyst))
        .isFalse();
    assertThat(policy.sharesRun("acme", "tools", "case-1", "owner", "lead", List.of())).isFalse();
    assertThat(policy.sharesRun("acme", "tools", "cases", "owner", "researcher", analyst))
        .isFalse();
    assertThat(policy.sharesRun("acme", "engine", "case-1", "owner", "researcher", analyst))
        .isFalse();
    assertThat(policy.sharesRun("other", "tools", "case-1", "owner", "researcher", analyst))
        .isFalse();
  }
}
