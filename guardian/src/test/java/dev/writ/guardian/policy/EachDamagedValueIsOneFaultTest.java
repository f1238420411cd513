package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.error.GuardianError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Each value of a policy is damaged by itself, in three ways: the text is accepted or refused as
 * the parser says, and whoever made one mistake is told of one.
 */
class EachDamagedValueIsOneFaultTest {
  private static final String YAML =
      """
      writ_policy: 1
      name: test
      version: 3
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: researcher, roles: [analyst], surfaces: [mcp] }
      roles:
        analyst:
          tools: [js]
          resources: { cpu_ms: 5000, memory_bytes: 134217728, output_bytes: 1048576, wall_ms: 5000 }
          sandboxes: [wasm]
      tools:
        - { name: js, version: 1.0.0, package: "sha256:4d310be90c62c4ba70518fabb51dbc06208e60b4a1bf879815e0687855efbfac" }
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 1000, window_s: 86400 }
      temporal:
        hours:
          - { match: { tool: js }, days: [mon, fri], from: "08:00", to: "18:00", offset: "+00:00" }
      requirements:
        - { effect: { tool: js }, require: { all: [ { cel: 'true' }, { cel: 'has(params.to)' } ] } }
      approvers:
        - { tenant: acme, subject: rita, roles: [reviewer] }
      governance:
        tools: [lib-*]
        approvals: { tool-reviewer: 1 }
        approvers: { ada: [tool-reviewer] }
      engine:
        flags: [ { match: { tool: js }, enabled: false } ]
      retention:
        rules:
          - { name: logs, contents: [outputs, observations], match: { tool: js }, keep_s: 60 }
      reads:
        - { tenant: acme, what: [bundles, reports] }
      """;

  private static final List<JsonValue> DAMAGES =
      List.of(JsonValue.of(-1), JsonValue.of(List.of(JsonValue.of(List.of()))), JsonValue.of("\n"));

  /** The value, once for each value in it, with that one replaced. */
  private static List<JsonValue> damaged(JsonValue whole, JsonValue by) {
    List<JsonValue> all = new ArrayList<>();
    damage(whole, by, all, changed -> changed);
    return all;
  }

  private static void damage(
      JsonValue value, JsonValue by, List<JsonValue> all, Function<JsonValue, JsonValue> around) {
    if (value instanceof JsonValue.Obj object) {
      for (String key : object.members().keySet()) {
        Function<JsonValue, JsonValue> here = changed -> around.apply(with(object, key, changed));
        all.add(here.apply(by));
        damage(object.get(key), by, all, here);
      }
    } else if (value instanceof JsonValue.Arr array) {
      for (int i = 0; i < array.items().size(); i++) {
        int at = i;
        Function<JsonValue, JsonValue> here =
            changed -> {
              List<JsonValue> items = new ArrayList<>(array.items());
              items.set(at, changed);
              return around.apply(JsonValue.of(items));
            };
        all.add(here.apply(by));
        damage(array.items().get(i), by, all, here);
      }
    }
  }

  private static JsonValue with(JsonValue.Obj object, String key, JsonValue changed) {
    ObjectBuilder json = JsonValue.object();
    object.members().forEach((k, value) -> json.put(k, k.equals(key) ? changed : value));
    return json.build();
  }

  @Test
  void oneMistakeIsOneFault() {
    JsonValue whole = Policy.parse(YAML.getBytes(StandardCharsets.UTF_8), "policy.yaml").toJson();
    for (JsonValue by : DAMAGES) {
      List<JsonValue> texts = damaged(whole, by);
      assertThat(texts).hasSizeGreaterThan(90);
      for (JsonValue text : texts) {
        byte[] bytes = Jcs.write(text);
        List<WritException> faults = Policy.faults(bytes, "policy.json");
        try {
          Policy.parse(bytes, "policy.json");
          assertThat(faults).isEmpty();
        } catch (WritException first) {
          assertThat(faults).as(text.toString()).hasSize(1);
          assertThat(faults.getFirst()).hasMessage(first.getMessage());
        }
      }
    }
  }

  /** Who approves tools cannot be read: that nobody does is then no mistake. */
  @Test
  void aRoleIsNotMissedWhereItsHolderCannotBeRead() {
    String text = YAML.replace("ada: [tool-reviewer]", "ada: tool-reviewer");
    assertThat(Policy.faults(text.getBytes(StandardCharsets.UTF_8), "policy.yaml"))
        .extracting(WritException::code)
        .containsExactly(GuardianError.POLICY_TYPE);
    String nobody = YAML.replace("ada: [tool-reviewer]", "ada: [other]");
    assertThat(Policy.faults(nobody.getBytes(StandardCharsets.UTF_8), "policy.yaml"))
        .extracting(WritException::code)
        .containsExactly(GuardianError.POLICY_REFERENCE);
  }
}
