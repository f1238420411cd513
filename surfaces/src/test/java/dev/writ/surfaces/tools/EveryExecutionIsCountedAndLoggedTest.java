package dev.writ.surfaces.tools;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestDriver;
import dev.writ.surfaces.seed.SeedServer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 002's metrics and log, as an operator meets them after commands of a role. */
class EveryExecutionIsCountedAndLoggedTest {
  private static final String SECTION =
      """
      commands:
        workspace_root: /workspace
        sandbox: box
        output_bytes: 8388608
        roles:
          developer:
            commands: [pytest, python, bash, sh]
            limits: { cpu: 2.0, mem_mb: 4096, timeout_sec: 600 }
            environment: []
          qa:
            commands: [k6]
            limits: { cpu: 1.0, mem_mb: 512, timeout_sec: 60 }
            environment: []
        images: {}
        effect: { tool: exec, version: 1.0.0, operation: twice, params: { argv: $argv, cwd: $cwd, env: $env } }
      """;

  static final String POLICY = SeedServer.POLICY.replace("stand-in", "qa") + SECTION;

  @TempDir Path dir;
  private SeedServer server;

  @BeforeEach
  void start() {
    server =
        new SeedServer(
            dir, POLICY, pipeline -> List.of(new ToolsSurface(pipeline, Optional.empty())));
  }

  @AfterEach
  void stop() {
    server.close();
    assertThat(server.failures).isEmpty();
  }

  private static TestDriver.Behaviour exits(int code) {
    byte[] output =
        Jcs.write(
            JsonValue.object()
                .put("exit_code", code)
                .put("stdout", "a secret of the tool")
                .put("stderr", "")
                .build());
    return _ ->
        new DriverOutcome(
            DriverOutcome.End.SUCCEEDED,
            "ok",
            "",
            Optional.of(new DriverOutcome.Output(output, Behaviours.JSON)),
            List.of(),
            new Metrics(1_500, 300L << 20, 1_700, 0),
            JsonValue.object().build());
  }

  private void exec(String role, String command, int status) {
    var reply =
        server.post(
            "alice",
            "/v1/tools/exec",
            """
            {"role":"ROLE","case_id":"case-123","subtask_id":"DEV-123","cmd":"CMD",
             "timeout_sec":60,"limits":{"cpu":1.0,"mem_mb":512}}
            """
                .replace("ROLE", role)
                .replace("CMD", command));
    assertThat(reply.status()).as(reply.text()).isEqualTo(status);
  }

  /** The value of the series of that metric that has these labels. */
  private double value(String metric, String... labels) {
    List<String> found =
        server
            .metrics
            .text()
            .lines()
            .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
            .filter(line -> List.of(labels).stream().allMatch(line::contains))
            .toList();
    assertThat(found).as(metric + " " + List.of(labels)).hasSize(1);
    return Double.parseDouble(found.getFirst().substring(found.getFirst().lastIndexOf(' ') + 1));
  }

  @Test
  void successIsByTheRoleThatWasAskedByCommandAndByExitCode() {
    server.home.driver.does("exec", exits(0));
    exec("developer", "pytest -q", 200);
    exec("developer", "pytest -q tests", 200);
    server.home.driver.does("exec", exits(1));
    exec("developer", "pytest -q", 200);
    exec("developer", "python x.py", 200);
    String[] pytest = {"role=\"developer\"", "command=\"pytest\"", "tool=\"exec\""};
    assertThat(value("writ_executions_total", with(pytest, "outcome=\"success\"", "exit=\"0\"")))
        .isEqualTo(2);
    assertThat(value("writ_executions_total", with(pytest, "outcome=\"failure\"", "exit=\"1\"")))
        .as("exit 1 is no success")
        .isEqualTo(1);
    assertThat(value("writ_executions_failed_in_a_row", pytest)).isEqualTo(1);
    assertThat(value("writ_execution_time_seconds_count", "command=\"pytest\"")).isEqualTo(3);
    assertThat(value("writ_execution_cpu_seconds_max", "command=\"pytest\"")).isEqualTo(1.5);
    assertThat(value("writ_execution_memory_bytes_max", "command=\"python\"")).isEqualTo(300 << 20);
    assertThat(value("writ_execution_used_ratio_max", "tool=\"exec\"", "resource=\"memory\""))
        .isBetween(0.58, 0.59);
    server.home.driver.does("exec", exits(0));
    exec("developer", "pytest -q", 200);
    assertThat(value("writ_executions_failed_in_a_row", pytest)).isZero();
  }

  private static String[] with(String[] labels, String... more) {
    String[] all = List.of(labels).toArray(new String[labels.length + more.length]);
    System.arraycopy(more, 0, all, labels.length, more.length);
    return all;
  }

  @Test
  void aDenialIsCountedUnderTheRoleThatWasAskedAndItsCode() {
    assertThat(value("writ_commands_suspicious_total", "code=\"GRD-712\""))
        .as("alerts need a value before the first")
        .isZero();
    exec("qa", "k6 run", 403);
    exec("developer", "kubectl get pods", 403);
    exec("made-up-role", "sh", 403);
    assertThat(value("writ_commands_suspicious_total", "code=\"GRD-712\"")).isEqualTo(2);
    assertThat(value("writ_commands_suspicious_total", "code=\"GRD-714\"")).isEqualTo(1);
    assertThat(value("writ_policy_denials_total", "role=\"qa\"", "code=\"GRD-712\"")).isEqualTo(1);
    assertThat(value("writ_policy_denials_total", "role=\"other\"")).isEqualTo(1);
    assertThat(server.metrics.text()).doesNotContain("made-up").doesNotContain("kubectl");
    assertThat(server.metrics.text().lines().filter(l -> l.startsWith("writ_incidents_total")))
        .anyMatch(line -> line.contains("kind=\"PolicyDenied\"") && !line.endsWith(" 0.0"));
  }

  @Test
  void oneLineForEachExecutionWithIdsAndNoPayload() {
    server.home.driver.does("exec", exits(1));
    exec("developer", "pytest -q --token=hush", 200);
    exec("qa", "k6 run", 403);
    assertThat(server.executions()).hasSize(2);
    JsonValue.Obj ran = server.executions().getFirst();
    assertThat(ran.members())
        .containsEntry("event", JsonValue.of("execution"))
        .containsEntry("role", JsonValue.of("developer"))
        .containsEntry("case_id", JsonValue.of("case-123"))
        .containsEntry("subtask_id", JsonValue.of("DEV-123"))
        .containsEntry("command", JsonValue.of("pytest"))
        .containsEntry("exit_code", JsonValue.of(1))
        .containsEntry("outcome", JsonValue.of("failure"))
        .containsEntry("toolId", JsonValue.of("exec"))
        .containsEntry("toolVersion", JsonValue.of("1.0.0"))
        .containsEntry("cpu_ms", JsonValue.of(1500))
        .containsKeys("exec_id", "duration_ms", "receipt", "request", "tenantId");
    assertThat(server.executions().getLast().members())
        .containsEntry("outcome", JsonValue.of("denied"))
        .containsEntry("code", JsonValue.of("GRD-712"))
        .containsEntry("role", JsonValue.of("qa"))
        .containsEntry("case_id", JsonValue.of("case-123"))
        .doesNotContainKey("receipt");
    assertThat(server.executions().toString())
        .doesNotContain("hush")
        .doesNotContain("secret")
        .doesNotContain("-q");
  }
}
