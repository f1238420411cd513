package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The examples of the guardian's pages in spec/ are what the code writes, and the policy of
 * spec/policy.md loads and passes its own cases. {@code -Dwrit.update=true} writes the examples.
 */
class SpecPagesTest {
  static final Path SPEC = Path.of(System.getProperty("writ.root", "..")).resolve("spec");
  private static final String FENCE = "```json canonical\n";

  static TreeMap<String, JsonValue> examples() {
    Policy policy = World.policyRequiring("{ approvals: { role: reviewer, count: 1 } }");
    World.RequestBuilder request = World.request();
    request.delegations =
        List.of(World.signed(World.delegation(World.OWNER, World.AGENT, 0), World.OWNER));
    Admitted a = request.admit(policy);
    Envelope approval = World.approval(World.REVIEWER, "rita", a, policy, Approval.Verdict.APPROVE);
    Decision decision =
        World.accounts(policy)
            .judge(a, World.circumstances(approval), policy, World.trust(), World.NOW)
            .decision();
    Guardian guardian = new Guardian(World.key("guardian"), new Audience("log.example/writ", 1));
    Intent intent =
        guardian.intentFor(
            decision,
            guardian.sign(decision).envelope().id(),
            World.manifest().ref(),
            new byte[32],
            World.NOW);
    TreeMap<String, JsonValue> examples = new TreeMap<>();
    examples.put("request", a.request().toJson());
    examples.put("delegation", World.delegation(World.OWNER, World.AGENT, 0).toJson());
    examples.put("approval", approval.document());
    examples.put("decision", decision.toJson());
    examples.put("intent", intent.toJson());
    examples.put("tool-manifest", World.manifest().toJson());
    return examples;
  }

  @TestFactory
  List<DynamicTest> everyPageBeginsWithWhatTheCodeWrites() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    for (var example : examples().entrySet()) {
      Path page = SPEC.resolve(example.getKey() + ".md");
      tests.add(DynamicTest.dynamicTest(example.getKey(), () -> check(page, example.getValue())));
    }
    assertThat(tests).hasSize(6);
    return tests;
  }

  private static void check(Path page, JsonValue example) throws IOException {
    String text = Files.readString(page);
    int begin = text.indexOf(FENCE) + FENCE.length();
    int end = text.indexOf("```", begin);
    if (Boolean.getBoolean("writ.update")) {
      text = text.substring(0, begin) + pretty(example, "") + "\n" + text.substring(end);
      Files.writeString(page, text);
      end = text.indexOf("```", begin);
    }
    String shown = text.substring(begin, end);
    assertThat(Jcs.parse(shown.getBytes(StandardCharsets.UTF_8))).isEqualTo(example);
    assertThat(shown.strip()).isEqualTo(pretty(example, ""));
  }

  /** Canonical but for spaces and line breaks between tokens. */
  private static String pretty(JsonValue value, String indent) {
    String one = new String(Jcs.write(value), StandardCharsets.UTF_8);
    if (indent.length() + one.length() <= 92) {
      return one;
    }
    List<String> parts = new ArrayList<>();
    String deeper = indent + "  ";
    return switch (value) {
      case JsonValue.Obj object -> {
        object
            .members()
            .forEach((key, member) ->
                parts.add(
                    deeper
                        + new String(Jcs.write(JsonValue.of(key)), StandardCharsets.UTF_8)
                        + ": "
                        + pretty(member, deeper)));
        yield "{\n" + String.join(",\n", parts) + "\n" + indent + "}";
      }
      case JsonValue.Arr array -> {
        array.items().forEach(item -> parts.add(deeper + pretty(item, deeper)));
        yield "[\n" + String.join(",\n", parts) + "\n" + indent + "]";
      }
      default -> one;
    };
  }

  private static String fenced(String page, String info, int number) throws IOException {
    String text = Files.readString(SPEC.resolve(page));
    int begin = 0;
    for (int i = 0; i <= number; i++) {
      begin = text.indexOf("```" + info + "\n", begin) + info.length() + 4;
    }
    return text.substring(begin, text.indexOf("```", begin));
  }

  /** A tool of the example policy; its package digest there is that of these bytes. */
  private static ToolManifest manifest(String name) {
    ToolManifest m = World.manifest();
    return new ToolManifest(
        name,
        "1.0.0",
        name,
        m.determinism(),
        List.of(
            new ToolManifest.Operation(
                name.equals("js") ? "eval" : "query",
                (JsonValue.Obj) World.json("{\"type\":\"object\"}"),
                Optional.empty(),
                "application/json")),
        ToolManifest.Capabilities.none(),
        m.resourcesMax(),
        m.sandboxes(),
        List.of());
  }

  @Test
  void theExamplePolicyLoadsAndPassesItsOwnCases() throws IOException {
    String text = fenced("policy.md", "yaml", 0);
    for (String tool : List.of("js", "sql")) {
      assertThat(text).contains(manifest(tool).packageDigest().toString());
    }
    Policy policy = Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    byte[] cases = fenced("policy.md", "yaml", 1).getBytes(StandardCharsets.UTF_8);
    List<PolicyTest.CaseResult> results =
        PolicyTest.run(policy, cases, "cases.yaml", ref -> Optional.of(manifest(ref.name())));
    assertThat(results).hasSizeGreaterThanOrEqualTo(5);
    for (PolicyTest.CaseResult result : results) {
      assertThat(result.passed())
          .as(
              result.name()
                  + ": "
                  + result.verdict()
                  + " "
                  + result.code()
                  + "\n"
                  + result.explain().render())
          .isTrue();
    }
    assertThat(results).extracting(PolicyTest.CaseResult::verdict).contains(Verdict.values());
  }

  @Test
  void aCaseThatDoesNotHoldIsReportedAsSuch() throws IOException {
    Policy policy =
        Policy.parse(
            fenced("policy.md", "yaml", 0).getBytes(StandardCharsets.UTF_8), "policy.yaml");
    String cases = fenced("policy.md", "yaml", 1).replace("verdict: ALLOW", "verdict: ESCALATE");
    List<PolicyTest.CaseResult> results =
        PolicyTest.run(
            policy,
            cases.getBytes(StandardCharsets.UTF_8),
            "cases.yaml",
            ref -> Optional.of(manifest(ref.name())));
    assertThat(results).extracting(PolicyTest.CaseResult::passed).contains(false);
  }

  @Test
  void explainShowsWhatTheRequirementSaysToItsCallers() {
    Policy policy = World.policyRequiring("{ cel: 'params.x == 1' }\n    message: Only x is 1.");
    Admitted a = World.request().admit(policy);
    JudgeInputs in =
        World.accounts(policy).look(a, World.circumstances(), policy, World.trust(), World.NOW);
    PolicyExplain explain = PolicyExplain.of(a, World.manifest(), policy, in, World.SNAPSHOT);
    assertThat(explain.render()).contains("requirement 1\n      says \"Only x is 1.\"\n");
    assertThat(explain.toJson().get("message")).isEqualTo(JsonValue.of("Only x is 1."));
  }

  @Test
  void explainShowsWhatEachNodeSaw() {
    Policy policy =
        World.policyRequiring(
            "{ all: [ { cel: 'true' }, { any: [ { cel: 'params.x == 1' }, { approvals: { role:"
                + " reviewer, count: 1 } } ] } ] }");
    Admitted a = World.request().admit(policy);
    JudgeInputs in =
        World.accounts(policy).look(a, World.circumstances(), policy, World.trust(), World.NOW);
    PolicyExplain explain = PolicyExplain.of(a, World.manifest(), policy, in, World.SNAPSHOT);
    assertThat(explain.render())
        .isEqualTo(
            """
            ESCALATE GRD-104
              prg — escalate: approvals are missing: requirement 1 (js/eval): approvals 1 × reviewer 0 of 1 approved: []
                requirement 1
                  all — awaits approval: 1 of 2 hold
                    cel true — holds: gives true
                    any — awaits approval: 0 of 2 hold
                      cel params.x == 1 — error: failed: attribute not found
                      approvals 1 × reviewer — awaits approval: 0 of 1 approved: []
              budget — not reached
              temporal — not reached
              envelope — not reached
            """);
    assertThat(explain.toJson().get("tree")).isNotNull();
  }
}
