package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The file is for people; its meaning has one canonical form. */
class PolicyFileTest {

  private static Policy parse(String text) {
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  @Test
  void yamlJsonAndTheCanonicalFormAreOnePolicy() {
    Policy yaml = World.policy();
    byte[] canonical = Jcs.write(yaml.toJson());
    assertThat(Policy.parse(canonical, "policy.json").digest()).isEqualTo(yaml.digest());
    assertThat(Policy.ofCanonical(Jcs.parse(canonical)).digest()).isEqualTo(yaml.digest());
  }

  @Test
  void whatHasNoOrderHasNoOrder() {
    String swapped =
        World.POLICY
            .replace(
                "  - { tenant: acme, subject: owner, roles: [] }\n"
                    + "  - { tenant: acme, subject: lead, roles: [] }\n",
                "  - { roles: [], subject: lead, tenant: acme }\n"
                    + "  - { tenant: acme, subject: owner, roles: [], surfaces: [] }\n")
            .replace(
                "[\"api.example.org:443\", \"*.example.com:443\"]",
                "[\"*.example.com:443\", \"api.example.org:443\"]");
    assertThat(swapped).isNotEqualTo(World.POLICY);
    assertThat(World.policy(swapped).digest()).isEqualTo(World.policy().digest());
  }

  @Test
  void theOrderOfRequirementsIsMeant() {
    String two =
        World.POLICY.replace(
            "requirements:\n",
            "requirements:\n"
                + "  - effect: { tool: js, operation: lint }\n"
                + "    require: { cel: 'true' }\n");
    String other =
        World.POLICY.replace(
            "approvers:",
            "  - effect: { tool: js, operation: lint }\n    require: { cel: 'true' }\napprovers:");
    assertThat(World.policy(two).digest()).isNotEqualTo(World.policy(other).digest());
  }

  @Test
  void whatSandboxesMayDoWithoutIsNamedAndNothingThatConfines() {
    Policy without = World.policy();
    assertThat(without.waived()).isEmpty();
    assertThat(without.toJson().get("sandbox")).isNull();
    Policy policy =
        World.policy(World.POLICY + "\nsandbox: { waived: [pids-limit, memory-limit] }\n");
    assertThat(policy.waived()).containsExactly("memory-limit", "pids-limit");
    assertThat(policy.digest()).isNotEqualTo(without.digest());
    assertThat(Policy.ofCanonical(policy.toJson()).waived()).isEqualTo(policy.waived());
    for (String no :
        new String[] {
          "sandbox: { waived: [seccomp] }", // confinement itself
          "sandbox: { waived: [namespaces, memory-limit] }",
          "sandbox: { waived: [landlock] }", // needs no waiving
          "sandbox: { waived: [memory] }",
          "sandbox: { waived: [memory-limit, memory-limit] }",
          "sandbox: { waived: memory-limit }",
          "sandbox: { waive: [memory-limit] }",
          "sandbox: {}",
        }) {
      assertThatThrownBy(() -> World.policy(World.POLICY + "\n" + no + "\n"))
          .as(no)
          .isInstanceOfSatisfying(
              WritException.class, e -> assertThat(e.code().code()).startsWith("GRD-5"))
          .hasMessageContaining("field /sandbox");
    }
  }

  @Test
  void everyErrorNamesFileLineColumnAndField() {
    assertThatThrownBy(() -> World.policy(World.POLICY.replace("wall_ms: 5000", "wall_ms: soon")))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GuardianError.POLICY_TYPE))
        .hasMessageContaining(
            "policy.yaml line 12, column 89, field /roles/analyst/resources/wall_ms");
  }

  /** The form that a value has to have is told with it: the page is not where one types. */
  @ParameterizedTest
  @CsvSource({
    "network: [\"https://api.example.org\"], like api.example.org:443",
    "network: [api.example.org], like api.example.org:443",
    "network: [\"API.example.org:443\"], small letters",
    "paths: [/srv], relative",
    "paths: [../up], relative",
    "commands: [/bin/git], without a folder",
  })
  void aPlaceThatIsNoneIsToldHowItIsWritten(String member, String told) {
    String role = "sandboxes: [wasm]";
    assertThat(World.POLICY).contains(role);
    String name = member.substring(0, member.indexOf(':'));
    String policy =
        World.POLICY
            .replaceAll("(?m)^    " + name + ": .*\n", "")
            .replaceFirst("sandboxes: \\[wasm]", "$0\n    " + member);
    assertThatThrownBy(() -> World.policy(policy))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(GuardianError.POLICY_VALUE))
        .hasMessageContaining("/roles/analyst/" + name)
        .hasMessageContaining(told);
  }

  @Test
  void bombsAndOtherFilesAreRefusedWithACode() {
    String laughs = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n";
    for (String text :
        new String[] {
          "",
          "\u0000",
          "[]",
          "- a\n- b\n",
          "a: b: c",
          "%TAG ! x\n---\na: 1\n",
          "? [a]\n: b\n",
          laughs,
          "<<: {a: 1}\n",
          "a: !!java.net.URL x\n",
          "\"\\ud800\": 1\n",
          "a: .inf\n",
          "a: 1e400\n",
          "a: 99999999999999999999\n",
          "1: a\n",
          "a:\n\t- b\n",
          "{\"a\":1,\"a\":2}",
          "{".repeat(5_000),
          "a: |\n" + "  x\n".repeat(10)
        }) {
      assertThatThrownBy(() -> parse(text))
          .as(text.length() > 40 ? text.substring(0, 40) : text)
          .isInstanceOfSatisfying(
              WritException.class, e -> assertThat(e.code().code()).startsWith("GRD-50"));
    }
    assertThatThrownBy(() -> Policy.parse(new byte[(1 << 20) + 1], "p"))
        .hasMessageContaining("GRD-508");
    assertThatThrownBy(() -> Policy.parse(new byte[] {(byte) 0xC3, 0x28}, "p"))
        .hasMessageContaining("GRD-501");
  }

  /** Whatever one byte becomes: another policy, or a refusal of ours; never another exception. */
  @Test
  void aDamagedFileIsAnotherPolicyOrARefusal() {
    long seed = Long.getLong("writ.seed", 20261121L);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    byte[] good =
        World.POLICY
            .replace("PACKAGE", World.manifest().packageDigest().toString())
            .getBytes(StandardCharsets.UTF_8);
    int refused = 0;
    for (int i = 0; i < Integer.getInteger("writ.rounds", 150); i++) {
      byte[] bad = good.clone();
      for (int k = 0; k <= random.nextInt(3); k++) {
        bad[random.nextInt(bad.length)] = (byte) (32 + random.nextInt(95));
      }
      try {
        Policy policy = Policy.parse(bad, "policy.yaml");
        assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
      } catch (WritException e) {
        assertThat(e.code().code()).startsWith("GRD-5");
        refused++;
      }
    }
    assertThat(refused).isPositive();
  }
}
