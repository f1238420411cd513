package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.operations.OperationsFiles;
import dev.writ.cli.operations.PrometheusServer;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ serve} in a process of its own, and {@code writ config}. */
class TheServersDemoIsReadyToPasteTest {
  @TempDir Path dir;

  /** Its stderr goes to a file, which is there after its end too. */
  private Process writ(String... arguments) throws Exception {
    List<String> command = OwnProcess.writ(arguments);
    return new ProcessBuilder(command).redirectError(dir.resolve("stderr").toFile()).start();
  }

  @Test
  void everyExampleIsPlayedAsTheSeedsHaveItAndWorksAgainWhenPasted() throws Exception {
    Process server = writ("serve", "--demo", "--json");
    JsonValue.Obj said;
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      said = object(out.readLine());
      TreeMap<String, String> commands = new TreeMap<>();
      SeedAnswers seeds = SeedAnswers.read();
      for (JsonValue item : ((JsonValue.Arr) said.get("try")).items()) {
        JsonValue.Obj example = (JsonValue.Obj) item;
        commands.put(string(example, "what"), string(example, "command"));
        if (example.get("played").equals(JsonValue.of(true))) {
          JsonValue.Obj played = object(out.readLine());
          assertThat(string(played, "command")).isEqualTo(string(example, "command"));
          seeds.compare(string(played, "what"), ((JsonValue.Arr) played.get("answers")).items());
        }
      }
      assertThat(seeds.left()).as("examples of the seeds that were not played").isEmpty();
      TreeMap<String, String> answers = new TreeMap<>();
      for (var each : commands.entrySet()) {
        if (!each.getValue().contains("event-stream")) { // it has no end while the run is open
          answers.put(each.getKey(), Pasted.into(dir, each.getValue()));
        }
      }
      assertThat(answers.get("native API: an effect that the agent has signed"))
          .contains("\"verdict\":\"ALLOW\"")
          .contains("42");
      assertThat(answers.get("the same with a longer program than policy allows"))
          .contains("\"verdict\":\"DENY\"");
      assertThat(startingWith(answers, "execute (seed 000)"))
          .contains("\"status\":\"success\"", "\"exit_code\":0", "\"stdout\":\"hello\\n\"");
      seedOneAsItIsWritten(
          startingWith(answers, "logline (seed 001)"),
          startingWith(answers, "logline: a page"),
          startingWith(answers, "logline: a repository"));
      assertThat(
              Files.readString(
                  Path.of(string(said, "home")).resolveSibling("sandbox/workspaces/wiped.jsonl")))
          .as("the runs whose end was asked for, played and pasted, and no other")
          .containsPattern(
              "\"reason\":\"run-closed\",\"run\":\"run_[0-9]{19}\",\"tenant\":\"tenant_abc\"")
          .satisfies(wiped -> assertThat(wiped.split("\"run\":", -1)).hasSize(3));
      assertThat(startingWith(answers, "tools (seed 002)"))
          .contains(
              "\"exit_code\":0",
              "2 passed",
              "\"stderr_tail\":\"\"",
              "\"artifacts\":[{\"path\":\"/artifacts/junit.xml\",\"type\":\"junit_xml\"}]",
              "\"analysis\":{\"test_count\":2}",
              "\"logged_to\":\"swe:tools:exec:stream\"");
      assertThat(startingWith(answers, "engine (seed 004)"))
          .contains("\"status\":\"Succeeded\"", "\"words\":4", "\"toolVersion\":\"1.0.0\"");
      everyViewHasTheSamePackage(
          string(said, "url"),
          string(said, "token"),
          Path.of(string(said, "home")),
          startingWith(answers, "engine (seed 004)"));
      artifactsOfSeedTwo(
          string(said, "url"), string(said, "token"), startingWith(answers, "tools (seed 002)"));
      commandsOfSeedTwo(string(said, "url"), string(said, "token"));
      assertThat(startingWith(answers, "vouched: "))
          .contains("\"verdict\":\"ALLOW\"", "\"request\":{");
      assertThat(startingWith(answers, "mcp: a session"))
          .contains("\"text\":\"42\"", "\"isError\":false", "dev.writ/receipt");
      // Operations and seed 000 both answer /health, and say the same.
      assertThat(Pasted.into(dir, "curl -sS -f " + string(said, "url") + "/health"))
          .isEqualTo("{\"status\":\"healthy\"}");
      // Its tools are processes: it is ready once the sandbox was looked for, in the background.
      assertThat(
              Pasted.into(
                  dir,
                  "until curl -sS -f " + string(said, "url") + "/ready; do :; done 2> /dev/null"))
          .contains("{\"name\":\"sandbox\",\"ok\":true}");
      String metrics = Pasted.into(dir, "curl -sS " + string(said, "url") + "/metrics");
      assertThat(metrics)
          .contains("writ_sandboxes_running 0.0", "writ_guests_waiting 0.0")
          .containsPattern("writ_sandboxes_started_total [1-9]")
          .containsPattern("writ_sandbox_commands_total\\{reason=\"exited\"} [1-9]");
      whatOperatorsWatchIsThere(metrics, string(said, "url"));
      assertThat(answers.get("the run, as its agent sees it")).contains("\"receipts\":1");
      assertThat(answers.get("metrics"))
          .contains("writ_effects_total", "surface=\"mcp\"", "surface=\"engine\"");
      assertThat(Run.of("verify", dir.resolve("demo.writ").toString()).status())
          .isEqualTo(ExitCode.INTEGRITY_ONLY.status());
    } finally {
      server.destroy();
    }
    assertThat(server.waitFor()).isEqualTo(143);
    assertThat(Path.of(string(said, "home")).getParent()).doesNotExist();
    assertThat(auditLines()).as("one allowed and one refused, played and pasted").hasSize(4);
    assertThat(auditLines().getFirst().members()).hasSize(10).containsKey("sandbox_profile");
    assertThat(Files.readString(dir.resolve("stderr")))
        .as("seed 000's states, in the log of calls")
        .contains(
            "\"states\":[\"REQUEST_RECEIVED\",\"VALIDATION\",\"SANDBOX_CREATED\",\"EXECUTION\","
                + "\"SANDBOX_DESTROYED\",\"RESPONSE\"]");
  }

  /** A page as html, picture and document; git's state until its end. */
  private static void seedOneAsItIsWritten(String code, String page, String git) {
    JsonValue.Obj answer = object(code);
    JsonValue.Obj result = (JsonValue.Obj) answer.get("result");
    assertThat(string(result, "stdout")).isEqualTo("Hello from Railway\n");

    assertThat(string(object(page), "status")).as(page).isEqualTo("success");
    JsonValue.Obj visited = (JsonValue.Obj) object(page).get("result");
    assertThat(string(visited, "html")).contains("<li>a loom</li><li>forty cards</li>");
    TreeMap<String, byte[]> files = new TreeMap<>();
    ((JsonValue.Arr) visited.get("artifacts"))
        .items().stream()
            .map(JsonValue.Obj.class::cast)
            .forEach(file ->
                files.put(
                    string(file, "name") + " " + string(file, "media_type"),
                    Base64.getDecoder().decode(string(file, "content"))));
    assertThat(files.keySet())
        .containsExactly("page.pdf application/pdf", "screenshot.png image/png");
    assertThat(files.get("page.pdf application/pdf")).startsWith('%', 'P', 'D', 'F', '-');
    assertThat(files.get("screenshot.png image/png")).startsWith(0x89, 'P', 'N', 'G');

    List<JsonValue.Obj> steps = git.lines().map(TheServersDemoIsReadyToPasteTest::object).toList();
    assertThat(steps).as(git).hasSize(4);
    assertThat(steps).as(git).allMatch(step -> string(step, "status").equals("success"));
    JsonValue.Obj cloned = (JsonValue.Obj) steps.get(0).get("result");
    JsonValue.Obj committed = (JsonValue.Obj) steps.get(2).get("result");
    assertThat(string(cloned, "branch")).isEqualTo("main");
    assertThat(string(committed, "commit")).isNotEqualTo(string(cloned, "commit"));
    assertThat(steps.get(3).get("run")).isEqualTo(JsonValue.object().put("ended", true).build());
  }

  private static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.strip().getBytes(StandardCharsets.UTF_8));
  }

  /** MCP, the native API, the CLI and the engine: one registry, one version, one digest. */
  private void everyViewHasTheSamePackage(String url, String token, Path home, String executed)
      throws Exception {
    JsonValue.Obj result = (JsonValue.Obj) Jcs.parse(executed.getBytes(StandardCharsets.UTF_8));
    String digest = string((JsonValue.Obj) result.get("tool"), "packageDigest");
    String curl =
        "curl -sS -H 'Authorization: Bearer "
            + token
            + "' -H 'Content-Type: application/json' "
            + url;
    assertThat(Pasted.into(dir, curl + string(result, "logsRef"))).contains("\"metrics\"");
    JsonValue.Obj listed =
        ((JsonValue.Arr)
                ((JsonValue.Obj)
                        Jcs.parse(
                            Pasted.into(dir, curl + "/v1/tools").getBytes(StandardCharsets.UTF_8)))
                    .get("tools"))
            .items().stream()
                .map(JsonValue.Obj.class::cast)
                .filter(tool -> string(tool, "toolId").equals("word-stats"))
                .findFirst()
                .orElseThrow();
    assertThat(string(listed, "packageDigest")).isEqualTo(digest);
    assertThat(string(listed, "toolVersion")).isEqualTo("1.0.0");
    assertThat(
            Run.on(
                    "",
                    "",
                    Map.of("WRIT_HOME", home.toString()),
                    Commands.ALL,
                    "--json",
                    "tool",
                    "list")
                .out())
        .contains(
            "\"tool\":{\"name\":\"word-stats\",\"package\":\""
                + digest
                + "\",\"version\":\"1.0.0\"}");
    String session =
        "s=$("
            + curl
            + "/mcp -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
            + "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":"
            + "{\"name\":\"c\",\"version\":\"1\"}}}' -o /dev/null -D - | tr -d '\\r'"
            + " | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p'); ";
    assertThat(
            Pasted.into(
                dir,
                session
                    + curl
                    + "/mcp -H \"Mcp-Session-Id: $s\""
                    + " -d '{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}'"))
        .contains("\"name\":\"word-stats\"", "word-stats 1.0.0, operation count");
    String called =
        Pasted.into(
            dir,
            session
                + curl
                + "/mcp -H \"Mcp-Session-Id: $s\""
                + " -d '{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":"
                + "{\"name\":\"word-stats\",\"arguments\":{\"text\":\"one two\"}}}'");
    assertThat(called).contains("\"isError\":false");
    Matcher receipt = Pattern.compile("dev.writ/receipt\":\"(sha256:[0-9a-f]{64})").matcher(called);
    assertThat(receipt.find()).as(called).isTrue();
    JsonValue.Obj envelope =
        (JsonValue.Obj)
            Jcs.parse(
                Pasted.into(dir, curl + "/v1/receipts/" + receipt.group(1))
                    .getBytes(StandardCharsets.UTF_8));
    assertThat(
            new String(
                Base64.getDecoder().decode(string(envelope, "payload")), StandardCharsets.UTF_8))
        .contains("\"package\":\"" + digest + "\"");
  }

  /** The path in the answer leads to the report that pytest wrote, in the demo's repository too. */
  private void artifactsOfSeedTwo(String url, String token, String answer) throws Exception {
    JsonValue.Obj told = (JsonValue.Obj) Jcs.parse(answer.getBytes(StandardCharsets.UTF_8));
    String curl = "curl -sS -f -H 'Authorization: Bearer " + token + "' " + url;
    String exec = "/v1/tools/exec/" + string(told, "exec_id");
    assertThat(Pasted.into(dir, curl + exec + "/artifacts/junit.xml"))
        .contains("<testsuite ", "tests=\"2\"", "test_a_discount");
    assertThat(Pasted.into(dir, curl + "'/v1/streams/swe:tools:exec:stream?follow=false'"))
        .contains("\"cmd\":\"pytest -q\"", "\"subtask_id\":\"DEV-123\"");
  }

  /** What a role has not does not exist, and what its tests report is told in the seed's words. */
  private void commandsOfSeedTwo(String url, String token) throws Exception {
    Files.writeString(
        dir.resolve("cmd.json"),
        """
        {"role":"developer","case_id":"case-9","cwd":"/workspace/repo","cmd":"mkdir test-results; \
        echo '<testsuite tests=\\"3\\" failures=\\"1\\"/>' > junit.xml; echo log > test-results/log; \
        echo done; git; kubectl"}\
        """);
    String answer =
        Pasted.into(
            dir,
            "curl -sS -H 'Authorization: Bearer "
                + token
                + "' -H 'Content-Type: application/json' "
                + url
                + "/v1/tools/exec -d @cmd.json");
    assertThat(answer)
        .contains(
            "\"analysis\":{\"test_count\":3}",
            "{\"path\":\"/artifacts/junit.xml\",\"type\":\"junit_xml\"}",
            "{\"path\":\"/artifacts/test-results.tar\",\"type\":\"test_results\"}",
            "\"exit_code\":127",
            "\"image\":\"exec@sha256:",
            "\"stdout_tail\":\"done\\n\"")
        .containsPattern("\"stderr_tail\":\"[^\"]*git: not found[^\"]*kubectl: not found");
    Files.writeString(
        dir.resolve("cmd.json"),
        "{\"role\":\"developer\",\"case_id\":\"case-9\",\"cmd\":\"kubectl get pods\"}");
    assertThat(
            Pasted.into(
                dir,
                "curl -sS -H 'Authorization: Bearer "
                    + token
                    + "' -H 'Content-Type: application/json' "
                    + url
                    + "/v1/tools/exec -d @cmd.json"))
        .contains("GRD-714");
  }

  /** Rules and dashboards name nothing that the server does not measure; Prometheus reads it. */
  private void whatOperatorsWatchIsThere(String metrics, String url) throws Exception {
    OperationsFiles.requireAllIn(metrics);
    OperationsFiles.requireAsSpecified(metrics);
    OperationsFiles.promtool(metrics, "check", "metrics");
    try (PrometheusServer prometheus =
        new PrometheusServer(dir, url.substring("http://".length()))) {
      assertThat(prometheus.value("up{job=\"writ\"}")).isEqualTo("1");
      assertThat(prometheus.value("writ:slo_objective:ratio{workload=\"cpu\"}")).isEqualTo("0.99");
      assertThat(
              prometheus.value(
                  "sum(writ_executions_total{role=\"developer\", command=\"pytest\","
                      + " outcome=\"success\", exit=\"0\"}) > bool 0"))
          .isEqualTo("1");
    }
  }

  private static String startingWith(TreeMap<String, String> answers, String what) {
    String key = answers.ceilingKey(what);
    assertThat(key).startsWith(what);
    return answers.get(key);
  }

  /** Of the server's log, each line of which is JSON, the lines that are seed 000's. */
  private List<JsonValue.Obj> auditLines() throws Exception {
    return Files.readAllLines(dir.resolve("stderr")).stream()
        .filter(line -> line.startsWith("{"))
        .map(line -> (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
        .filter(line -> line.get("execution_request_id") != null)
        .toList();
  }

  private static String string(JsonValue.Obj object, String key) {
    return ((JsonValue.Str) object.get(key)).value();
  }

  @Test
  void aConfigurationIsCheckedAndATokenIsMadeForIt() throws Exception {
    Run made = Run.of("--json", "config", "token", "ci", "--tenant", "acme", "--subject", "a");
    JsonValue.Obj token =
        (JsonValue.Obj) Jcs.parse(made.out().strip().getBytes(StandardCharsets.UTF_8));
    assertThat(string(token, "token")).startsWith("writ_");
    Path file =
        Files.writeString(
            dir.resolve("gateway.yaml"),
            "writ_gateway: 1\ntokens:\n"
                + Run.of("config", "token", "ci").out().lines().toList().getLast()
                + "\n");
    Run checked = Run.of("config", "check", file.toString());
    assertThat(checked.status()).isZero();
    assertThat(checked.out()).contains("127.0.0.1:8181").contains("tokens: 1");

    for (String odd : List.of("a\nb", "a\u202Eb", "x".repeat(257))) {
      Run refused = Run.of("config", "token", "ci", "--subject", odd);
      assertThat(refused.err()).as(odd).contains("CLI-001");
      assertThat(refused.out()).isEmpty();
    }

    Files.writeString(file, "writ_gateway: 1\nlisten: { host: 0.0.0.0 }\n");
    Run open = Run.of("config", "check", file.toString());
    assertThat(open.err()).contains("GWY-003");
    assertThat(open.status()).isEqualTo(ExitCode.REFUSED.status());
    Run overridden =
        Run.on(
            "", "", Map.of("WRIT_TLS", "proxy"), Commands.ALL, "config", "check", file.toString());
    assertThat(overridden.status()).isZero();
    Run none = Run.of("config", "check", dir.resolve("none").toString());
    assertThat(none.err()).contains("GWY-001");
    assertThat(none.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
  }
}
