package dev.writ.guardian.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a person writes into a policy by mistake: the value is refused with its code, and the
 * message has the field, so that nothing is read as something else.
 */
class EachOddValueIsRefusedAtItsPlaceTest {
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
        - { effect: { tool: js }, require: { cel: 'true' } }
      revoked: []
      engine:
        flags: [ { match: { tool: js }, enabled: false } ]
      retention:
        rules:
          - { name: logs, contents: [outputs, observations], match: { tool: js }, keep_s: 60 }
      reads:
        - { tenant: acme, what: [bundles, reports] }
      """;

  private static Policy parse(String yaml) {
    return Policy.parse(yaml.getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        // Times of day.
        "\"08:00\" | \"8:00\" | GRD-505 | /temporal/hours/0/from",
        "\"08:00\" | \"08-00\" | GRD-505 | /temporal/hours/0/from",
        "\"08:00\" | \"0a:00\" | GRD-505 | /temporal/hours/0/from",
        "\"08:00\" | \"08:60\" | GRD-505 | /temporal/hours/0/from",
        "\"18:00\" | \"24:01\" | GRD-505 | /temporal/hours/0/to",
        "\"18:00\" | \"08:00\" | GRD-505 | /temporal/hours/0/to",
        "\"08:00\" | 800 | GRD-504 | /temporal/hours/0/from",
        // Offsets: no names of zones, whose rules change.
        "\"+00:00\" | \"UTC\" | GRD-505 | /temporal/hours/0/offset",
        "\"+00:00\" | \"+1:00\" | GRD-505 | /temporal/hours/0/offset",
        "\"+00:00\" | \"+19:00\" | GRD-505 | /temporal/hours/0/offset",
        // Lists.
        "[mon, fri] | [] | GRD-505 | /temporal/hours/0/days",
        "[mon, fri] | mon | GRD-504 | /temporal/hours/0/days",
        "[mon, fri] | [monday] | GRD-505 | /temporal/hours/0/days",
        "[outputs, observations] | [] | GRD-505 | /retention/rules/0/contents",
        "[outputs, observations] | [outputs, outputs] | GRD-506 | /retention/rules/0/contents",
        "[bundles, reports] | [] | GRD-505 | /reads/0/what",
        "[bundles, reports] | [bundles, bundles] | GRD-506 | /reads/0/what",
        "[bundles, reports] | [policies] | GRD-505 | /reads/0/what",
        "[bundles, reports] } | [bundles], match: {} } | GRD-502 | /reads/0/match",
        "tool: js }, keep_s | role: analyst }, keep_s | GRD-505 | /retention/rules/0/match",
        // Numbers and words.
        "limit: 1000, | limit: none, | GRD-504 | /budgets/0/limit",
        "limit: 1000, | limit: 1.5, | GRD-504 | /budgets/0/limit",
        "limit: 1000, | limit: -1, | GRD-505 | /budgets/0/limit",
        "limit: 1000, | limit: [1], | GRD-504 | /budgets/0/limit",
        "window_s: 86400 | window_s: 0 | GRD-505 | /budgets/0/window_s",
        "unit: calls | unit: requests | GRD-505 | /budgets/0/unit",
        "enabled: false | enabled: 0 | GRD-504 | /engine/flags/0/enabled",
        "enabled: false | enabled: no | GRD-504 | /engine/flags/0/enabled",
        "enabled: false | enabled: [] | GRD-504 | /engine/flags/0/enabled",
        // Names.
        "name: logs | name: \"\" | GRD-505 | /retention/rules/0/name",
        "name: logs | name: \"a\\x7fb\" | GRD-505 | /retention/rules/0/name",
        "name: logs | name: \"a\\tb\" | GRD-505 | /retention/rules/0/name",
        "name: logs | name: LONG | GRD-505 | /retention/rules/0/name",
        "name: logs | name: 7 | GRD-504 | /retention/rules/0/name",
        // Mappings with exactly one key.
        "{ cel: 'true' } | {} | GRD-502 | /requirements/0/require",
        "{ cel: 'true' } | { cel: 'true', all: [] } | GRD-502 | /requirements/0/require",
        "{ cel: 'true' } | { python: 'True' } | GRD-502 | /requirements/0/require",
        "{ cel: 'true' } | { all: [] } | GRD-505 | /requirements/0/require/all",
        "{ cel: 'true' } | [ 'true' ] | GRD-504 | /requirements/0/require",
        "revoked: [] | revoked: [\"sha256:12\"] | GRD-505 | /revoked/0",
        // Requirements within requirements.
        "{ cel: 'true' } | { none: [ { approvals: { role: reviewer, count: 1 } } ] } | GRD-505 |"
            + " /requirements/0/require/none",
        "{ cel: 'true' } | { none: [ { any: [ { approvals: { role: reviewer, count: 1 } } ] } ] } |"
            + " GRD-505 | /requirements/0/require/none",
        "{ cel: 'true' } | { artifact: { type: application/vnd.writ.receipt.v1+json, role: agent }"
            + " } | GRD-505 | /requirements/0/require/artifact/role",
        "{ cel: 'true' } | { approvals: { role: reviewer, count: 0 } } | GRD-505 |"
            + " /requirements/0/require/approvals/count",
      })
  void is_refused(String what, String instead, String code, String field) {
    assertThat(YAML).contains(what);
    String written = instead.replace("LONG", "n".repeat(257));
    assertThatThrownBy(() -> parse(YAML.replace(what, written)))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code().code()).isEqualTo(code))
        .hasMessageContaining("field " + field)
        .hasMessageContaining("policy.yaml line ");
  }

  @Test
  void what_looks_odd_and_is_right() {
    Policy policy =
        parse(
            YAML.replace("to: \"18:00\"", "to: \"24:00\"")
                .replace("offset: \"+00:00\"", "offset: \"-03:30\"")
                .replace("limit: 1000,", "limit: unlimited,")
                .replace("name: logs", "name: \"" + "n".repeat(256) + "\""));
    String canonical = new String(Jcs.write(policy.toJson()), StandardCharsets.UTF_8);
    assertThat(canonical)
        .contains("\"offset\":\"-03:30\"", "\"limit\":\"unlimited\"", "\"to\":\"24:00\"");
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
  }
}
