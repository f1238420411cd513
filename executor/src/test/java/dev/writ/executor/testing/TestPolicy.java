package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.guardian.policy.Policy;
import java.nio.charset.StandardCharsets;

/** The policy of {@link TestHome}, as YAML that a test can change by replacing text. */
public final class TestPolicy {
  public static final String YAML =
      """
      writ_policy: 1
      name: test
      version: VERSION
      PREVIOUS
      limits: { request_age_max_s: 300, pending_max_s: 86400, request_bytes_max: 1000000 }
      principals:
        - { tenant: acme, subject: alice, roles: [worker] }
        - { tenant: acme, subject: bob, roles: [worker] }
        - { tenant: acme, subject: deputy, roles: [stand-in, worker] }
        - { tenant: acme, subject: nobody, roles: [] }
        - { tenant: other, subject: eve, roles: [worker] }
      roles:
        worker:
          tools: [calc, mail, pay, sim]
          resources: { cpu_ms: 50000, memory_bytes: 1073741824, output_bytes: 33554432, wall_ms: 60000 }
          sandboxes: [box, missing-box]
        stand-in:
          tools: []
          resources: { cpu_ms: 0, memory_bytes: 0, output_bytes: 0, wall_ms: 0 }
          sandboxes: []
      tools:
      TOOLS
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 100000, window_s: 86400 }
        - { name: cpu, scope: tenant, unit: cpu_ms, limit: 1000000000, window_s: 86400 }
      requirements:
        - { effect: { tool: calc }, require: { cel: 'true' } }
        - { effect: { tool: sim }, require: { cel: 'true' } }
        - { effect: { tool: mail }, require: { cel: '!has(params.forbidden)' } }
        - { effect: { tool: pay, operation: do }, require: { approvals: { role: reviewer, count: 1 } } }
        - { effect: { tool: pay, operation: twice }, require: { approvals: { role: reviewer, count: 2 } } }
      approvers:
        - { tenant: acme, subject: rita, roles: [reviewer] }
        - { tenant: acme, subject: roy, roles: [reviewer] }
        - { tenant: acme, subject: alice, roles: [reviewer] }
        - { tenant: other, subject: otto, roles: [reviewer] }
      execute_for: [stand-in]
      """;

  /**
   * The same where the tenant's subjects may read each other's runs and consume what is in them.
   */
  public static final String SHARED =
      YAML + "runs: { idle_max_s: 86400, shared_by: [ { tenant: acme, everybody: true } ] }\n";

  /** The same with the tools of {@link TestTools#withWorkspaces}; {@code vault} needs approval. */
  public static final String WORKSPACES =
      YAML.replace("[calc, mail, pay, sim]", "[calc, desk, lathe, mail, pay, sim, slate, vault]")
          .replace(
              "requirements:",
              """
              requirements:
                - { effect: { tool: desk }, require: { cel: 'true' } }
                - { effect: { tool: lathe }, require: { cel: 'true' } }
                - { effect: { tool: slate }, require: { cel: 'true' } }
                - { effect: { tool: vault }, require: { approvals: { role: reviewer, count: 1 } } }\
              """);

  private TestPolicy() {}

  /** The first policy of an installation. */
  public static Policy first(String yaml, TestTools tools) {
    return parse(yaml, tools, 1, "");
  }

  /** The policy that follows another one. */
  public static Policy after(Policy before, String yaml, TestTools tools) {
    return parse(yaml, tools, before.version() + 1, previous(before.digest()));
  }

  private static String previous(Digest digest) {
    return "previous: \"" + digest + "\"";
  }

  private static Policy parse(String yaml, TestTools tools, long version, String previous) {
    String text =
        yaml.replace("VERSION", String.valueOf(version))
            .replace("PREVIOUS", previous)
            .replace("TOOLS\n", tools.policyEntries());
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }
}
