package dev.writ.cli.hook;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code inside} and {@code server} hold for every way in which an agent may read what its tool is
 * given: through links, homes, URIs, patterns and blanks.
 */
class WhatAnAgentMayReadAsOutsideIsOutsideTest {
  @TempDir Path folder;
  private Path shop;

  @BeforeEach
  void init() throws Exception {
    shop = Files.createDirectories(folder.resolve("shop"));
    Path outside = Files.createDirectories(folder.resolve("outside/deep"));
    Files.writeString(folder.resolve("outside/secret.txt"), "s");
    Files.createDirectories(shop.resolve("src/deep"));
    Files.writeString(shop.resolve("src/a.txt"), "a");
    link("link", outside);
    link("dangling", folder.resolve("outside/not-yet"));
    link("chain", Path.of("src/../dangling"));
    link("within", Path.of("src/deep"));
    link("new-within", Path.of("src/not-yet"));
    link("round", Path.of("round"));
    link(" blank", outside);
  }

  private void link(String name, Path target) throws Exception {
    Files.createSymbolicLink(shop.resolve(name), target);
  }

  private JsonValue.Obj params(String agent, String tool, String input) {
    JsonValue.Obj event =
        JsonValue.object()
            .put("hook_event_name", "PreToolUse")
            .put("session_id", "s-1")
            .put("cwd", shop.toString())
            .put("tool_name", tool)
            .put("tool_input", Jcs.parse(input.getBytes(StandardCharsets.UTF_8)))
            .build();
    return AgentCall.effect(HookEvent.read(HookAgent.of(agent), Jcs.write(event)), shop).params();
  }

  private boolean isInside(String agent, String tool, String input) {
    String here = input.replace("OUTSIDE", folder + "/outside").replace("SHOP", shop.toString());
    return params(agent, tool, here).get("inside").equals(JsonValue.TRUE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "OUTSIDE/secret.txt",
        "../outside/secret.txt",
        "dangling",
        "SHOP/dangling",
        "chain",
        "link/x",
        "link/../secret.txt",
        "SHOP/link/../secret.txt",
        "within/../../dangling",
        "within/../link/x", // for an agent that takes .. off the text
        "round",
        "/proc/self/cwd/a.txt",
        "~",
        "~/.ssh/id_ed25519",
        "~ann/x",
        "file:///etc/passwd",
        "C:/x",
        " /etc/passwd",
        "\u00a0/etc/passwd",
        "\ufeff~/x",
        " ../outside/secret.txt",
        " blank/x",
      })
  void aPathThatLeadsOutside(String path) {
    String input = "{\"file_path\":\"" + path + "\"}";
    assertThat(isInside("claude-code", "Read", input)).isFalse();
    assertThat(isInside("claude-code", "Write", input)).isFalse();
    String patch = "{\"input\":\"*** Begin Patch\\n*** Update File: " + path + "\\n\"}";
    assertThat(isInside("codex", "apply_patch", patch)).isFalse();
  }

  /** There, each process finds something else: its own working directory, for one. */
  @Test
  void aLinkThatLeadsEachProcessElsewhere() throws Exception {
    link("process", Path.of("/proc/self/cwd"));
    assertThat(isInside("claude-code", "Read", "{\"file_path\":\"process/a.txt\"}")).isFalse();
    Files.delete(shop.resolve("process"));
    assertThat(isInside("claude-code", "Read", "{\"file_path\":\"process/a.txt\"}")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "src/a.txt",
        "SHOP/src/a.txt",
        ".",
        "src/../src/new/file.txt",
        "within/x",
        "within/../a.txt",
        "new-within",
        "a~",
        "src/~/x",
        "src/b:c",
        "src/a..b",
        "src/a b.txt",
      })
  void aPathThatLeadsInside(String path) {
    String input = "{\"file_path\":\"" + path + "\"}";
    assertThat(isInside("claude-code", "Read", input)).isTrue();
    assertThat(isInside("claude-code", "Write", input)).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "claude-code | Glob | {\"pattern\":\"OUTSIDE/**\"}",
        "claude-code | Glob | {\"pattern\":\"/**\"}",
        "claude-code | Glob | {\"pattern\":\"../outside/*\"}",
        "claude-code | Glob | {\"pattern\":\"src/../../outside/*\"}",
        "claude-code | Glob | {\"pattern\":\"link/*\"}",
        "claude-code | Glob | {\"pattern\":\"~/*\"}",
        "claude-code | Glob | {\"pattern\":\" /etc/*\"}",
        "claude-code | Glob | {\"pattern\":\"{src,/etc}/*\"}",
        "claude-code | Glob | {\"pattern\":\"{src,.{x,.}}/*\"}",
        "claude-code | Glob | {\"pattern\":\"{a,li{x,nk}}/*\"}",
        "claude-code | Glob | {\"pattern\":\"[.][.]/*\"}",
        "claude-code | Glob | {\"pattern\":\".\\\\./*\"}",
        "claude-code | Glob | {\"pattern\":\"lin[k]/*\"}",
        "claude-code | Glob | {\"path\":\"src\",\"pattern\":\"../link/*\"}",
        "claude-code | Glob | {\"path\":\"OUTSIDE\",\"pattern\":\"*\"}",
        "claude-code | Grep | {\"pattern\":\"x\",\"glob\":\"../outside/*\"}",
        "claude-code | Grep | {\"pattern\":\"x\",\"path\":\"~/x\"}",
        "claude-code | LS | {\"path\":\"link\"}",
        "vscode | file_search | {\"query\":\"OUTSIDE/**\"}",
        "vscode | grep_search | {\"query\":\"x\",\"includePattern\":\"OUTSIDE/**\"}",
        "vscode | list_dir | {\"path\":\"file:///etc\"}",
        "codex | list_dir | {\"dir_path\":\"/etc\"}",
        "cursor | Glob | {\"glob_pattern\":\"*\",\"target_directory\":\"/etc\"}",
        "cursor | codebase_search | {\"query\":\"x\",\"target_directories\":[\"src\",\"/etc\"]}",
        "vscode | multi_replace_string_in_file |"
            + " {\"replacements\":[{\"filePath\":\"src/a.txt\"},{\"filePath\":\"dangling\"}]}",
      })
  void aSearchThatLooksOutside(String agent, String tool, String input) {
    assertThat(isInside(agent, tool, input)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "claude-code | Glob | {\"pattern\":\"**/*.{ts,tsx}\"}",
        "claude-code | Glob | {\"pattern\":\"{src,test}/**\"}",
        "claude-code | Glob | {\"pattern\":\"SHOP/src/**\"}",
        "claude-code | Glob | {\"path\":\"src\",\"pattern\":\"within/*\"}",
        "claude-code | Grep | {\"pattern\":\"/api/.. ~/x\"}", // what is looked for in files
        "claude-code | Grep | {\"pattern\":\"x\",\"path\":\"src/a.txt\",\"glob\":\"src/*\"}",
        "vscode | file_search | {\"query\":\"a.txt\"}",
        "vscode | semantic_search | {\"query\":\"/etc/passwd is read ...\"}",
        "codex | list_dir | {\"dir_path\":\"src\"}",
        "cursor | codebase_search | {\"query\":\"x\",\"target_directories\":[]}",
        "vscode | grep_search | {\"query\":\"x\",\"includePattern\":null}",
      })
  void aSearchThatLooksInside(String agent, String tool, String input) {
    assertThat(isInside(agent, tool, input)).isTrue();
  }

  @Test
  void aPatternWithTooManyChoicesIsOutside() {
    String many = "{a,b}".repeat(12);
    assertThat(isInside("claude-code", "Glob", "{\"pattern\":\"" + many + "\"}")).isFalse();
    String longer = "a".repeat(5000);
    assertThat(isInside("claude-code", "Glob", "{\"pattern\":\"" + longer + "\"}")).isFalse();
  }

  /** A search's folder is among the paths, so that rules on paths see it. */
  @Test
  void theFolderOfAPatternIsAPathOfTheCall() {
    assertThat(params("claude-code", "Glob", "{\"pattern\":\"src/*.txt\"}").get("paths"))
        .isEqualTo(
            JsonValue.of(
                List.of(
                    JsonValue.of(shop.toString()), JsonValue.of(shop.resolve("src").toString()))));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        " *** Add File: OUTSIDE/x",
        "\\t*** Delete File: OUTSIDE/x\\t",
        "\\u00a0*** Update File: OUTSIDE/x",
        "*** Update File: b\\n*** Move to: OUTSIDE/x",
        "*** Update File: b\\n*** Move to:  OUTSIDE/x",
        "*** Add File: b\\r/../../outside/x",
        "*** Add File: ~/x",
      })
  void aHeaderOfAPatchThatCodexWouldTake(String header) {
    String input =
        "{\"command\":\"*** Begin Patch\\n*** Add File: a.txt\\n+a\\n"
            + header
            + "\\n+x\\n*** End Patch\\n\"}";
    assertThat(isInside("codex", "apply_patch", input)).isFalse();
    assertThat(isInside("codex", "apply_patch", input.replace(header, "+" + header)))
        .isEqualTo(!header.contains("\\n"));
  }

  /** An agent's tool may take another of the two than was judged. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Bash     | {\"command\":\"ls\",\"cmd\":\"rm\"}",
        "WebFetch | {\"urls\":[\"https://a.example\"],\"url\":\"https://b.example\"}",
        "Read     | {\"file_path\":7}",
        "Read     | {\"file_path\":{\"path\":\"/etc/passwd\"}}",
        "Grep     | {\"pattern\":\"x\",\"path\":{\"a\":\"/etc\"}}",
        "Glob     | {\"pattern\":7}",
      })
  void whatCanBeReadInTwoWaysIsRefused(String tool, String input) {
    assertThatThrownBy(() -> params("claude-code", tool, input)).hasMessageContaining("CLI-033");
  }

  @ParameterizedTest
  @CsvSource({
    "claude-code, mcp__writ__git_push, writ",
    "codex, mcp__writ__git_push, writ",
    "claude-code, mcp__other__x, other",
    "claude-code, mcp__writ__evil__x, ''", // of writ, or of a server that is named writ__evil
    "claude-code, mcp__writ___x, ''", // of writ, or of writ_
    "claude-code, mcp____writ__x, ''",
    "claude-code, mcp__writ__, ''",
    "claude-code, mcp__writ, ''",
    "vscode, mcp__writ__x, ''", // there it is mcp_SERVER_TOOL, of a server that is named _writ_
    "vscode, mcp_writ_x, ''",
    "cursor, MCP:mcp__writ__x, ''",
  })
  void aServerIsNamedWhereItsNameCanBeNoOther(String agent, String tool, String server) {
    assertThat(params(agent, tool, "{}").get("server")).isEqualTo(JsonValue.of(server));
  }
}
