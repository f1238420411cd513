package dev.writ.console.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.PolicyTest;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** What {@code writ policy check} and {@code writ policy test} say of a text. */
final class PolicyTrial {
  private static final String FILE = "policy";
  private static final String CASES = "cases";

  private final Function<ToolRef, Optional<ToolManifest>> manifests;

  PolicyTrial(Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.manifests = manifests;
  }

  /**
   * @throws WritException {@code GRD-5xx}
   */
  static Policy parse(String text) {
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), FILE);
  }

  /** Faults of the text, or else what would be put in force after the policy in force. */
  JsonValue.Obj check(String text, Optional<String> cases, Policy inForce) {
    ObjectBuilder json = JsonValue.object();
    List<WritException> faults = Policy.faults(text.getBytes(StandardCharsets.UTF_8), FILE);
    json.putList("faults", faults, TextFault::json);
    if (!faults.isEmpty()) {
      return json.build();
    }
    Policy policy = parse(text);
    json.put("policy", policy(policy, inForce));
    cases.ifPresent(given -> cases(policy, given, json));
    return json.build();
  }

  private static JsonValue.Obj policy(Policy policy, Policy inForce) {
    Policy next = policy.following(inForce);
    return JsonValue.object()
        .put("name", policy.name())
        .put("version", policy.version())
        .put("digest", policy.digest())
        .put("in_force", rules(policy).equals(rules(inForce)))
        .putList("advice", PolicyVersions.advice(policy), JsonValue::of)
        .put(
            "next",
            JsonValue.object()
                .put("version", next.version())
                .put("digest", next.digest())
                .put("document", next.toJson())
                .put("text", PolicyVersions.text(next))
                .build())
        .build();
  }

  /** Without what is set at activation. */
  private static TreeMap<String, JsonValue> rules(Policy policy) {
    TreeMap<String, JsonValue> members = new TreeMap<>(policy.toJson().members());
    members.remove("version");
    members.remove("previous");
    return members;
  }

  private void cases(Policy policy, String cases, ObjectBuilder json) {
    try {
      List<PolicyTest.CaseResult> results =
          PolicyTest.run(policy, cases.getBytes(StandardCharsets.UTF_8), CASES, manifests);
      json.putList("case_faults", List.<WritException>of(), TextFault::json)
          .putList("cases", results, PolicyTrial::result);
    } catch (WritException fault) {
      json.putList("case_faults", List.of(fault), TextFault::json)
          .putList("cases", List.<PolicyTest.CaseResult>of(), PolicyTrial::result);
    }
  }

  private static JsonValue result(PolicyTest.CaseResult result) {
    return JsonValue.object()
        .put("name", result.name())
        .put("passed", result.passed())
        .put("expected_verdict", result.expectedVerdict().name())
        .putIfPresent("expected_code", result.expectedCode(), JsonValue::of)
        .put("verdict", result.verdict().name())
        .putIfPresent("code", result.code(), JsonValue::of)
        .put("explanation", result.explain().render())
        .build();
  }
}
