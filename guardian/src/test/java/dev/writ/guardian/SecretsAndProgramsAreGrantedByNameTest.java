package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What may exist in a sandbox beside the tool is named in the effect and judged by policy. */
class SecretsAndProgramsAreGrantedByNameTest {
  private static final String SECRETS =
      """
      secrets:
        - { name: token, match: { tenant: acme, role: analyst, tool: js } }
        - { name: shared, match: { tenant: acme, tool: js } }
        - { name: foreign, match: { tenant: globex, tool: js } }
        - { name: of-root, match: { tenant: acme, subject: root, tool: js } }
      """;

  private static ToolManifest manifest() {
    return manifest(List.of());
  }

  private static ToolManifest manifest(List<String> own) {
    ToolManifest m = World.manifest("{\"type\":\"object\"}");
    return new ToolManifest(
        m.name(),
        m.version(),
        m.driver(),
        m.determinism(),
        m.operations(),
        new ToolManifest.Capabilities(
            List.of(),
            List.of(),
            List.of(),
            List.of("/commands"),
            List.of("/secrets"),
            List.of(),
            own,
            false),
        m.resourcesMax(),
        m.sandboxes(),
        m.files());
  }

  private static Policy policy() {
    String text =
        World.POLICY.replace(
            "    environment: [LANG]", "    environment: [LANG]\n    commands: [git, python3]");
    return parse(text + SECRETS);
  }

  private static Policy parse(String text) {
    return parse(text, manifest());
  }

  private static Policy parse(String text, ToolManifest tool) {
    return Policy.parse(
        text.replace("PACKAGE", tool.packageDigest().toString()).getBytes(StandardCharsets.UTF_8),
        "policy.yaml");
  }

  private static Decision judge(Policy policy, String params) {
    return judge(policy, params, manifest());
  }

  private static Decision judge(Policy policy, String params, ToolManifest tool) {
    Admitted a = World.request().params("{\"source\":\"1\"," + params.substring(1)).admit(policy);
    JudgeInputs in =
        World.accounts(policy).look(a, World.circumstances(), policy, World.trust(), World.NOW);
    return Judge.judge(a, tool, policy, in, World.SNAPSHOT, Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"n\":1}",
        "{\"secrets\":[]}",
        "{\"secrets\":[\"token\"]}",
        "{\"secrets\":[\"shared\",\"token\"]}",
        "{\"commands\":[\"git\"],\"secrets\":\"shared\"}",
        "{\"commands\":[\"git\",\"python3\"]}"
      })
  void whatPolicyGrantsIsLetThrough(String params) {
    assertThat(judge(policy(), params).verdict()).isEqualTo(Verdict.ALLOW);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      value = {
        "{\"secrets\":[\"unknown\"]} GRD-412",
        "{\"secrets\":[\"foreign\"]} GRD-412",
        "{\"secrets\":[\"of-root\"]} GRD-412",
        "{\"secrets\":[\"token\",\"foreign\"]} GRD-412",
        "{\"secrets\":[\"Token\"]} GRD-412",
        "{\"secrets\":[\"../token\"]} GRD-412",
        "{\"secrets\":[1]} GRD-412",
        "{\"secrets\":{\"0\":\"token\"}} GRD-412",
        "{\"secrets\":null} GRD-412",
        "{\"commands\":[\"kubectl\"]} GRD-413",
        "{\"commands\":[\"git\",\"sh\"]} GRD-413",
        "{\"commands\":[\"/usr/bin/git\"]} GRD-413",
        "{\"commands\":[[\"git\"]]} GRD-413"
      })
  void whatPolicyDoesNotGrantIsRefused(String params, String code) {
    Decision decision = judge(policy(), params);
    assertThat(decision.verdict()).isEqualTo(Verdict.DENY);
    assertThat(decision.code()).contains(code);
  }

  @Test
  void aToolsOwnSecretsAreGrantedLikeThoseThatACallNames() {
    ToolManifest granted = manifest(List.of("shared", "token"));
    assertThat(judge(parse(World.POLICY + SECRETS, granted), "{\"n\":1}", granted).verdict())
        .isEqualTo(Verdict.ALLOW);
    for (String name : List.of("foreign", "of-root", "unknown")) {
      ToolManifest tool = manifest(Stream.of(name, "token").sorted().toList());
      assertThat(judge(parse(World.POLICY + SECRETS, tool), "{\"n\":1}", tool).code())
          .as(name)
          .contains("GRD-412");
    }
  }

  /** spec/policy.md, Observing, 2: what a secret opens is not known, so it is not let through. */
  @Test
  void underAPolicyThatOnlyObservesSecretsAreGrantedAllTheSame() {
    String observing = World.POLICY.replace("name: test\n", "name: test\nmode: observe\n");
    String nobody = observing.replace("roles: [analyst], surfaces", "roles: [], surfaces");
    ToolManifest own = manifest(List.of("shared", "token"));
    assertThat(judge(parse(observing + SECRETS, own), "{\"n\":1}", own).verdict())
        .isEqualTo(Verdict.ALLOW);
    for (String name : List.of("foreign", "of-root", "unknown")) {
      ToolManifest tool = manifest(Stream.of(name, "token").sorted().toList());
      assertThat(judge(parse(observing + SECRETS, tool), "{\"n\":1}", tool).code())
          .as(name)
          .contains("GRD-412");
      assertThat(judge(parse(observing + SECRETS), "{\"secrets\":[\"" + name + "\"]}").code())
          .contains("GRD-412");
    }
    Decision without = judge(parse(nobody + SECRETS, own), "{\"n\":1}", own);
    assertThat(without.code()).as("in no role").contains("GRD-412");
    assertThat(judge(parse(nobody + SECRETS), "{\"secrets\":[\"token\"]}").code())
        .contains("GRD-412");
    assertThat(judge(parse(nobody + SECRETS), "{\"n\":1}").verdict())
        .as("what asks for no secret is let through")
        .isEqualTo(Verdict.ALLOW);
  }

  @Test
  void withoutASectionNothingIsGranted() {
    Policy none = parse(World.POLICY);
    assertThat(judge(none, "{\"secrets\":[\"token\"]}").code()).contains("GRD-412");
    assertThat(judge(none, "{\"commands\":[\"git\"]}").code()).contains("GRD-413");
    assertThat(none.secretNames()).isEmpty();
  }

  @Test
  void theCommandsOfSeedTwoAreTheRolesToo() {
    Policy both =
        parse(
            World.POLICY
                + """
                commands:
                  workspace_root: /workspace
                  sandbox: wasm
                  output_bytes: 1000
                  roles:
                    analyst:
                      commands: [pytest]
                      limits: { cpu: 1.0, mem_mb: 64, timeout_sec: 10 }
                  images: {}
                  effect: { tool: js, version: 1.0.0, operation: eval, params: {} }
                """);
    assertThat(both.commandsOf("analyst")).containsExactly("pytest");
    assertThat(both.commandsOf("nobody")).isEmpty();
    assertThat(judge(both, "{\"commands\":[\"pytest\"]}").verdict()).isEqualTo(Verdict.ALLOW);
  }

  @Test
  void theOrderOfGrantsSaysNothingAndOldPoliciesKeepTheirBytes() {
    Policy policy = policy();
    String[] lines = SECRETS.split("\n");
    String turned =
        lines[0] + "\n" + lines[4] + "\n" + lines[2] + "\n" + lines[3] + "\n" + lines[1];
    assertThat(policy.secretNames()).containsExactly("foreign", "of-root", "shared", "token");
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    assertThat(parse(World.POLICY + turned).secretNames()).isEqualTo(policy.secretNames());
    String old = new String(Jcs.write(parse(World.POLICY).toJson()), StandardCharsets.UTF_8);
    assertThat(old).doesNotContain("\"secrets\"").doesNotContain("\"commands\"");
    String older = new String(Jcs.write(World.manifest().toJson()), StandardCharsets.UTF_8);
    assertThat(older).doesNotContain("\"secrets\"").doesNotContain("\"commands\"");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{ name: token, match: { tenant: acme } };GRD-505",
        "{ name: token, match: { tool: js } };GRD-505",
        "{ name: ../x, match: { tenant: acme, tool: js } };GRD-505",
        "{ name: .hidden, match: { tenant: acme, tool: js } };GRD-505",
        "{ name: token };GRD-503",
        "{ name: token, match: { tenant: acme, tool: other } };GRD-510",
        "{ name: token, match: { tenant: acme, tool: js, role: other } };GRD-510",
        "{ name: token, value: hunter2, match: { tenant: acme, tool: js } };GRD-502"
      })
  void aGrantSaysWhomItIsFor(String grant, String code) {
    assertThatThrownBy(() -> parse(World.POLICY + "secrets:\n  - " + grant + "\n"))
        .hasMessageContaining(code);
  }

  @Test
  void aGrantIsWrittenOnce() {
    String twice = "  - { name: a, match: { tenant: acme, tool: js } }\n".repeat(2);
    assertThatThrownBy(() -> parse(World.POLICY + "secrets:\n" + twice))
        .hasMessageContaining("GRD-506");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/usr/bin/git", "..", "-x", "a b", "", "a/b"})
  void aCommandIsAPlainName(String name) {
    String text =
        World.POLICY.replace(
            "    environment: [LANG]", "    environment: [LANG]\n    commands: [\"" + name + "\"]");
    assertThatThrownBy(() -> parse(text)).hasMessageContaining("GRD-505");
  }

  @Test
  void aListOfCapabilitiesHasOneForm() {
    var json = manifest().toJson();
    assertThat(ToolManifest.read(json)).isEqualTo(manifest());
    String text = new String(Jcs.write(World.manifest().toJson()), StandardCharsets.UTF_8);
    String empty = text.replace("\"workspace\":false", "\"secrets\":[],\"workspace\":false");
    assertThatThrownBy(() -> ToolManifest.read(World.json(empty))).hasMessageContaining("CAN-02");
  }
}
