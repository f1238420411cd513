package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Uploads cost room: who may run nothing may not put any, and a narrowed credential has less. */
class WhoMayStoreTest {
  private static final String YAML =
      """
      writ_policy: 1
      name: test
      version: 1
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: both, roles: [analyst, guest] }
        - { tenant: acme, subject: guest, roles: [guest] }
        - { tenant: acme, subject: nobody, roles: [] }
      roles:
        analyst:
          tools: [js]
          resources: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 }
          sandboxes: [wasm]
        guest:
          tools: []
          resources: { cpu_ms: 0, memory_bytes: 0, output_bytes: 0, wall_ms: 0 }
          sandboxes: []
      tools:
        - { name: js, version: 1.0.0, package: "sha256:4d310be90c62c4ba70518fabb51dbc06208e60b4a1bf879815e0687855efbfac" }
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 1000, window_s: 86400 }
      requirements:
        - { effect: { tool: js }, require: { cel: 'true' } }
      """;

  private static boolean mayStore(String more, String subject, String... narrowed) {
    return Policy.parse((YAML + more).getBytes(StandardCharsets.UTF_8), "policy.yaml")
        .mayStore("acme", subject, List.of(narrowed));
  }

  @Test
  void who_has_a_role_with_tools() {
    assertThat(mayStore("", "both")).isTrue();
    assertThat(mayStore("", "both", "analyst")).isTrue();
    assertThat(mayStore("", "both", "guest")).isFalse();
    assertThat(mayStore("", "both", "none")).isFalse();
    assertThat(mayStore("", "guest")).isFalse();
    assertThat(mayStore("", "nobody")).isFalse();
    assertThat(mayStore("", "stranger")).isFalse();
  }

  @Test
  void or_whom_policy_names() {
    String guests = "storage: { bytes_max: 1000, unnamed_s: 60, put_by: [guest] }\n";
    assertThat(mayStore(guests, "guest")).isTrue();
    assertThat(mayStore(guests, "both", "guest")).isTrue();
    assertThat(mayStore(guests, "both", "analyst")).isFalse();
    assertThat(mayStore(guests, "nobody")).isFalse();
  }
}
