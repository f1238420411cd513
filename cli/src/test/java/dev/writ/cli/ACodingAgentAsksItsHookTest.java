package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.LedgerView;
import dev.writ.tools.registry.BuiltinTools;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code writ hook}, under the policy that spec/hooks.md shows, with what the agents send. */
class ACodingAgentAsksItsHookTest {
  @TempDir Path folder;
  private String home;
  private Path project;

  @BeforeEach
  void init() throws IOException {
    home = folder.resolve("home").toString();
    project = Files.createDirectories(folder.resolve("project"));
    assertThat(Run.of("--home", home, "init").status()).isZero();
    Path file = Path.of(home).resolve("policy.yaml");
    String page =
        Files.readString(
            Path.of(System.getProperty("writ.root", "..")).resolve("spec/hooks.md"),
            StandardCharsets.UTF_8);
    String rules = fenced(page, "yaml rules");
    Files.writeString(
        file,
        Files.readString(file)
                .replace("word-count]", "word-count, agent-hook]")
                .replace(
                    "budgets:\n",
                    "  - { name: agent-hook, version: \"1.0.0\", package: \""
                        + BuiltinTools.manifest("agent-hook", "1.0.0").orElseThrow().packageDigest()
                        + "\", stage: active }\n\nbudgets:\n")
            + rules.substring(rules.indexOf('\n') + 1));
    Run activated = Run.of("--home", home, "policy", "activate", file.toString());
    assertThat(activated.status()).as(activated.err()).isZero();
  }

  private static String fenced(String page, String info) {
    int begin = page.indexOf("```" + info + "\n") + info.length() + 4;
    return page.substring(begin, page.indexOf("```", begin));
  }

  private Run hook(String agent, String input, String... more) {
    String[] all = new String[4 + more.length];
    all[0] = "--home";
    all[1] = home;
    all[2] = "hook";
    all[3] = agent;
    System.arraycopy(more, 0, all, 4, more.length);
    return Run.withInput(input, all);
  }

  private String claude(String tool, String toolInput) {
    return event("PreToolUse", tool, toolInput);
  }

  private String event(String event, String tool, String toolInput) {
    return """
    {"session_id":"s-1","transcript_path":"/t.jsonl","cwd":"%s","permission_mode":"default",\
    "hook_event_name":"%s","tool_name":"%s","tool_input":%s,"tool_use_id":"toolu_1"}\
    """
        .formatted(project, event, tool, toolInput);
  }

  private static JsonValue.Obj specific(Run run) {
    assertThat(run.status()).as(run.err()).isZero();
    return (JsonValue.Obj) json(run.out()).get("hookSpecificOutput");
  }

  private static JsonValue.Obj json(String text) {
    return (JsonValue.Obj) Jcs.parse(text.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static String text(JsonValue.Obj object, String name) {
    return ((JsonValue.Str) object.get(name)).value();
  }

  private String receipts() {
    return Run.of("--home", home, "receipts", "--json").out();
  }

  @Test
  void aPermissionIsAReceiptOfTheAnswerAndADenialADecisionWithWhatWouldHelp() {
    JsonValue.Obj allowed =
        specific(hook("claude-code", claude("Read", "{\"file_path\":\"a.txt\"}")));
    assertThat(text(allowed, "hookEventName")).isEqualTo("PreToolUse");
    assertThat(text(allowed, "permissionDecision")).isEqualTo("allow");
    assertThat(receipts()).containsOnlyOnce("\"status\":\"succeeded\"");
    assertThat(Run.of("--home", home, "runs").out()).contains("claude-code-s-1");

    JsonValue.Obj denied =
        specific(hook("claude-code", claude("Read", "{\"file_path\":\"/etc/passwd\"}")));
    assertThat(text(denied, "permissionDecision")).isEqualTo("deny");
    assertThat(text(denied, "permissionDecisionReason"))
        .contains("GRD-102", "Work in the project's folder", "Request: sha256:");
    assertThat(receipts()).containsOnlyOnce("\"status\":\"succeeded\"");
    assertThat(Run.of("--home", home, "audit").status()).isZero();
  }

  /** A link that leads out of the folder does not make what it leads to part of it. */
  @Test
  void aPathIsJudgedByWhereItLeads() throws IOException {
    Files.createSymbolicLink(project.resolve("out"), folder);
    Run run =
        hook("claude-code", claude("Write", "{\"file_path\":\"out/new/x\",\"content\":\"c\"}"));
    assertThat(text(specific(run), "permissionDecision")).isEqualTo("deny");
    Files.createSymbolicLink(project.resolve("dangling"), folder.resolve("not-yet"));
    Run dangling =
        hook("claude-code", claude("Write", "{\"file_path\":\"dangling\",\"content\":\"c\"}"));
    assertThat(text(specific(dangling), "permissionDecision")).isEqualTo("deny");
    Run dots = hook("claude-code", claude("Write", "{\"file_path\":\"../x\",\"content\":\"c\"}"));
    assertThat(text(specific(dots), "permissionDecision")).isEqualTo("deny");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "claude-code |"
            + " {\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"",
        "vscode      |"
            + " {\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\"",
        "codex       |"
            + " {\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\"",
      })
  void whatNeedsAnApprovalIsAskedWhereTheAgentCanAskAndDeniedWhereItCannot(
      String agent, String answer) {
    Run run = hook(agent, claude("Bash", "{\"command\":\"rm -rf build\"}"));
    assertThat(run.status()).isZero();
    assertThat(run.out()).startsWith(answer).contains("approvers in the role");
    assertThat(receipts()).doesNotContain("succeeded");
  }

  /** Codex takes no word for an answer that allows, and refuses the hook that says one. */
  @Test
  void codexIsToldNothingWhereItIsAllowed() {
    Run run = hook("codex", claude("Read", "{\"file_path\":\"a.txt\"}"));
    assertThat(run.status()).isZero();
    assertThat(run.out()).isEmpty();
  }

  /** The name could be that of the tool {@code x} of a server that is named {@code writ__evil}. */
  @Test
  void aServerWhoseNameIsNotSureIsNotWrit() {
    Run sure = hook("claude-code", claude("mcp__writ__x", "{}"));
    assertThat(text(specific(sure), "permissionDecision")).isEqualTo("allow");
    Run unsure = hook("claude-code", claude("mcp__writ__evil__x", "{}"));
    assertThat(text(specific(unsure), "permissionDecision")).isEqualTo("deny");
  }

  @Test
  void cursorsOwnEventsAreAnsweredInItsForm() {
    String head =
        "{\"conversation_id\":\"c-1\",\"generation_id\":\"g-1\",\"workspace_roots\":[\""
            + project
            + "\"],\"hook_event_name\":";
    Run shell =
        hook("cursor", head + "\"beforeShellExecution\",\"command\":\"make\",\"cwd\":\"\"}");
    assertThat(text(json(shell.out()), "permission")).isEqualTo("ask");
    Run read =
        hook(
            "cursor",
            head
                + "\"beforeReadFile\",\"file_path\":\""
                + project
                + "/a\",\"content\":\"s3cret\"}");
    assertThat(text(json(read.out()), "permission")).isEqualTo("allow");
    Run mcp =
        hook(
            "cursor",
            head + "\"beforeMCPExecution\",\"tool_name\":\"q\",\"tool_input\":\"{\\\"a\\\":1}\"}");
    assertThat(text(json(mcp.out()), "permission")).isEqualTo("deny");
    Run any =
        hook(
            "cursor",
            head + "\"preToolUse\",\"tool_name\":\"Shell\",\"tool_input\":{\"command\":\"make\"}}");
    assertThat(text(json(any.out()), "permission")).isEqualTo("deny"); // it could not ask there
    assertThat(receipts()).doesNotContain("s3cret");
  }

  /** What is in files is in no request: the ledger has its digest. */
  @Test
  void whatIsWrittenIntoAFileIsInTheLedgerByItsDigestAlone() throws IOException {
    Run run =
        hook(
            "claude-code",
            claude("Write", "{\"file_path\":\"a.txt\",\"content\":\"password is hunter2\"}"));
    assertThat(text(specific(run), "permissionDecision")).isEqualTo("allow");
    Path bundle = folder.resolve("run.writ");
    Run.of("--home", home, "export", "claude-code-s-1", "-o", bundle.toString());
    String explained = Run.of("--home", home, "receipts", "--json").out();
    assertThat(explained).doesNotContain("hunter2");
    assertThat(Run.of("verify", bundle.toString()).err()).doesNotContain("RPL-");
  }

  @Test
  void aReportIsRecordedAndAnswersNothing() {
    Run run =
        hook(
            "claude-code",
            event("PostToolUse", "Bash", "{\"command\":\"make\"}")
                .replace(
                    "\"tool_use_id\"", "\"tool_response\":{\"stdout\":\"ok\"},\"tool_use_id\""));
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).isEmpty();
    assertThat(receipts()).containsOnlyOnce("\"status\":\"succeeded\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "{\"hook_event_name\":\"PreToolUse\"}",
        "{\"hook_event_name\":\"Stop\",\"session_id\":\"s\"}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\","
            + "\"tool_input\":{}}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\","
            + "\"tool_input\":{\"command\":7}}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Write\","
            + "\"tool_input\":{\"content\":\"x\"}}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"apply_patch\","
            + "\"tool_input\":{\"command\":\"no patch\"}}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"WebFetch\","
            + "\"tool_input\":{\"url\":\"nowhere\"}}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\","
            + "\"tool_name\":\"Read\",\"tool_input\":{\"command\":\"x\"}}",
        "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\","
            + "\"tool_input\":\"text\"}",
      })
  void whatIsNotUnderstoodIsDeniedWithAReason(String input) {
    Run run = hook("claude-code", input);
    assertThat(run.status()).isEqualTo(2); // agents take it as a denial
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("Writ could not judge this, so it is denied: CLI-03");
    assertThat(receipts()).doesNotContain("succeeded");
  }

  @Test
  void aBrokenHookDeniesOrAsksWhereThatIsAskedFor() {
    String nowhere = folder.resolve("nowhere").toString();
    String input = claude("Read", "{\"file_path\":\"a\"}");
    Run denied = Run.withInput(input, "--home", nowhere, "hook", "claude-code");
    assertThat(denied.status()).isEqualTo(2);
    assertThat(denied.err()).contains("denied: CLI-");
    Run asked = Run.withInput(input, "--home", nowhere, "hook", "claude-code", "--on-error", "ask");
    assertThat(text(specific(asked), "permissionDecision")).isEqualTo("ask");
    Run codex = Run.withInput(input, "--home", nowhere, "hook", "codex", "--on-error", "ask");
    assertThat(codex.status()).isEqualTo(2);
    Run unknown =
        Run.withInput(input, "--home", nowhere, "hook", "claude-code", "--on-error", "allow");
    assertThat(unknown.status()).as("a word that it does not know opens nothing").isEqualTo(2);
    assertThat(unknown.out()).isEmpty();
    assertThat(unknown.err()).contains("CLI-001", "\"allow\" is none of deny, ask");
  }

  @Test
  void aToolThatNobodyKnowsIsJudgedByItsArguments() {
    Run run = hook("claude-code", claude("Teleport", "{\"to\":\"prod\"}"));
    assertThat(text(specific(run), "permissionDecision")).isEqualTo("deny");
    assertThat(text(specific(run), "permissionDecisionReason")).contains("GRD-10");
  }

  @Test
  void whatPolicyAllowsCanBeLeftToTheAgentsOwnRules() {
    Run run = hook("claude-code", claude("Read", "{\"file_path\":\"a\"}"), "--defer");
    assertThat(run.status()).isZero();
    assertThat(run.out()).isEmpty();
  }

  @Test
  void aRunningServerAnswersAndKeepsTheSameRecord() throws Exception {
    Path config =
        Files.writeString(
            folder.resolve("gateway.yaml"),
            "writ_gateway: 1\nlisten: { host: 127.0.0.1, port: 0, tls: none }\n");
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home, "serve", "--json", "--config", config.toString()));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    Process server = builder.redirectError(folder.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader()) {
      assertThat(out.readLine()).contains("url");
      JsonValue.Obj allowed =
          specific(hook("claude-code", claude("Read", "{\"file_path\":\"a.txt\"}")));
      assertThat(text(allowed, "permissionDecision")).isEqualTo("allow");
      Run asked = hook("claude-code", claude("Bash", "{\"command\":\"make\"}"));
      assertThat(text(specific(asked), "permissionDecision")).isEqualTo("ask");
      assertThat(asked.out()).contains("approvers in the role");

      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        CompletableFuture<Run> waits =
            CompletableFuture.supplyAsync(
                () ->
                    hook(
                        "claude-code",
                        claude("Bash", "{\"command\":\"make test\"}"),
                        "--wait",
                        "120"),
                threads);
        List<String> waiting = List.of();
        while (waiting.size() < 2) { // the one that asked before waits, too
          assertThat(waits).isNotDone();
          waiting = waiting();
        }
        for (String request : waiting) {
          assertThat(Run.of("--home", home, "approve", request, "--yes").status()).isZero();
        }
        assertThat(text(specific(waits.get()), "permissionDecision")).isEqualTo("allow");
      }
    } finally {
      server.destroy();
      assertThat(server.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
    assertThat(receipts().split("\"status\":\"succeeded\"")).hasSize(3);
    assertThat(Run.of("--home", home, "audit").status()).isZero();
  }

  /** What waits for an approval, as it is on disk. */
  private List<String> waiting() {
    List<String> ids = new ArrayList<>();
    try (LedgerView view = OpenHome.read(new Home(Path.of(home), () -> null))) {
      view.scan(
          Tables.PENDING,
          Tables.prefix("local"),
          (key, _) -> ids.add("sha256:" + Tables.lastPart(key)));
    }
    return ids;
  }
}
