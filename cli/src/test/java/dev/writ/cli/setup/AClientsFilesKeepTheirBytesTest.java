package dev.writ.cli.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of clients, as people have them: only Writ's entry comes and goes. */
class AClientsFilesKeepTheirBytesTest {
  private static final ClientPlaces LINUX =
      new ClientPlaces(ClientPlaces.Platform.LINUX, Map.of("HOME", "/home/ann"));
  private static final ClientEntries ENTRIES =
      new ClientEntries(LINUX, "/opt/writ/writ", "/home/ann/data");

  private static final String VSCODE =
      """
      {
      \t// servers that the team uses
      \t"inputs": [
      \t\t{ "type": "promptString", "id": "key", "password": true }, // asked once
      \t],
      \t"servers": {
      \t\t"github": {
      \t\t\t"url": "https://api.example.com/mcp/" /* remote */
      \t\t}, // the last one
      \t},
      }
      """;

  private static final String CLAUDE =
      """
      {
        "numStartups": 42,
        "projects": {"/home/ann/shop": {"allowedTools": [], "mcpServers": {"writ": {"command": "other"}}}},
        "mcpServers": {
          "fs": {"command": "npx", "args": ["-y", "@example/fs"], "env": {"A": "ü"}}
        },
        "unknown": 1.50
      }
      """;

  private static final String CODEX =
      """
      model = "gpt-5"  # "[mcp_servers.writ]" in a comment is none
      notify = ["sh", "-c", "echo [mcp_servers.writ]"]

      [mcp_servers.docs]
      command = "npx"
      args = [
        "-y",   # yes
        "docs ] ''' ",
      ]

      [profiles."my.profile"]
      text = \"""
      [mcp_servers.writ]
      \"""
      """;

  static List<String> samples() {
    return List.of(
        VSCODE,
        CLAUDE,
        VSCODE.replace("\n", "\r\n"),
        "{}",
        "{ }\n",
        "{\n}\n",
        "",
        "{\"mcpServers\":{},\"servers\":{}}",
        "{\"a\":1}",
        "{\"servers\": {\"x\": {}}, \"b\": []}",
        "\uFEFF{\n  \"a\": 1\n}\n",
        "{\n  \"a\": 1 // one\n}\n",
        "{\n    \"hooks\": {}\n}");
  }

  private static void comesAndGoes(ClientFile file, String before) {
    String after = file.applied(before);
    assertThat(file.isIn(after)).isTrue();
    assertThat(file.isIn(before)).isFalse();
    assertThat(file.applied(after)).as("again").isEqualTo(after);
    // Nothing of what was there is lost, and nothing moved: the old text is the new one with holes.
    int at = 0;
    for (char c : before.strip().toCharArray()) {
      at = after.indexOf(c, at);
      assertThat(at).as("%s", c).isNotNegative();
      at++;
    }
    String gone = file.removed(after);
    assertThat(file.isIn(gone)).isFalse();
    assertThat(solid(file.applied(gone))).isEqualTo(solid(after));
  }

  /** Without blanks and commas: one that trailed may come back at another place. */
  private static String solid(String text) {
    return text.replaceAll("[\\s,]", "");
  }

  @ParameterizedTest
  @MethodSource("samples")
  void anEntryOfJsonComesAndGoes(String before) {
    for (SetupClient client : List.of(SetupClient.CLAUDE_CODE, SetupClient.VSCODE)) {
      comesAndGoes(ENTRIES.servers(client), before);
    }
    for (SetupClient client : List.of(SetupClient.CLAUDE_CODE, SetupClient.CODEX)) {
      comesAndGoes(ENTRIES.hooks(client, true).getFirst(), before);
    }
  }

  /** Texts that nobody writes, but an editor would read. */
  @ParameterizedTest
  @MethodSource("seeds")
  void anyTextThatCanBeReadKeepsItsBytes(long seed) {
    Random random = new Random(seed);
    String before = gap(random) + object(random, 0, List.of("servers", "hooks")) + gap(random);
    comesAndGoes(ENTRIES.servers(SetupClient.VSCODE), before);
    comesAndGoes(ENTRIES.hooks(SetupClient.CODEX, false).getFirst(), before);
  }

  static LongStream seeds() {
    return LongStream.range(0, 200);
  }

  private static String gap(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> " ";
      case 1 -> "\n  ";
      case 2 -> "\r\n";
      case 3 -> "// , } ] \" \n";
      case 4 -> "/* , } ] \" */";
      case 5 -> "\t\n\n";
      default -> "";
    };
  }

  private static String object(Random random, int depth, List<String> names) {
    StringBuilder out = new StringBuilder("{").append(gap(random));
    int members = random.nextInt(4);
    for (int i = 0; i < members; i++) {
      String name = i < names.size() && random.nextBoolean() ? names.get(i) : "n\\u0041" + i;
      String value =
          names.contains(name) ? object(random, depth + 1, List.of()) : value(random, depth + 1);
      out.append('"').append(name).append('"').append(gap(random)).append(':').append(gap(random));
      out.append(value).append(gap(random));
      if (i < members - 1 || random.nextInt(3) == 0) {
        out.append(',').append(gap(random));
      }
    }
    return out.append('}').toString();
  }

  private static String value(Random random, int depth) {
    return switch (random.nextInt(depth > 3 ? 3 : 5)) {
      case 0 -> "-1.5e+3";
      case 1 -> "\"a \\\" // } ü\"";
      case 2 -> "null";
      case 3 -> "[" + gap(random) + value(random, depth + 1) + gap(random) + "]";
      default -> object(random, depth + 1, List.of());
    };
  }

  @Test
  void commentsAndTrailingCommasStayWhereTheyAre() {
    assertThat(ENTRIES.servers(SetupClient.VSCODE).applied(VSCODE))
        .isEqualTo(
            VSCODE.replace(
                "\t\t}, // the last one\n",
                """
                \t\t}, // the last one
                \t\t"writ": {
                \t\t\t"args": ["--home", "/home/ann/data", "mcp"],
                \t\t\t"command": "/opt/writ/writ",
                \t\t\t"type": "stdio"
                \t\t}
                """));
  }

  /** An entry of one project, which is also named writ, is somebody else's. */
  @Test
  void onlyTheUsersOwnServersAreChanged() {
    String after = ENTRIES.servers(SetupClient.CLAUDE_CODE).applied(CLAUDE);
    assertThat(after)
        .contains("{\"writ\": {\"command\": \"other\"}}")
        .contains("\"unknown\": 1.50");
    assertThat(ENTRIES.servers(SetupClient.CLAUDE_CODE).removed(after)).isEqualTo(CLAUDE);
  }

  @Test
  void whatTheUserAddedToTheEntryStays() {
    ClientFile file = ENTRIES.servers(SetupClient.CURSOR);
    String mine =
        file.applied("{}")
            .replace("\"command\":", "\"env\": {\"WRIT_PASSPHRASE\": \"…\"}, \"command\":");
    ClientFile moved =
        new ClientEntries(LINUX, "/usr/bin/writ", "/srv/data").servers(SetupClient.CURSOR);
    assertThat(moved.applied(mine))
        .contains("WRIT_PASSPHRASE", "/usr/bin/writ", "/srv/data")
        .doesNotContain("/opt/writ");
  }

  @Test
  void aTableOfTomlComesAndGoes() {
    ClientFile file = ENTRIES.servers(SetupClient.CODEX);
    String after = file.applied(CODEX);
    assertThat(after)
        .isEqualTo(
            CODEX
                + """

                # begin: writ setup
                [mcp_servers.writ]
                args = ["--home","/home/ann/data","mcp"]
                command = "/opt/writ/writ"
                # end: writ setup
                """);
    assertThat(file.applied(after)).isEqualTo(after);
    assertThat(file.removed(after)).isEqualTo(CODEX);
    assertThat(file.removed(file.applied(""))).isEmpty();
    String windows = CODEX.replace("\n", "\r\n");
    assertThat(file.removed(file.applied(windows))).isEqualTo(windows);
    assertThat(file.applied(windows).replace("\r\n", "")).doesNotContain("\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[mcp_servers.writ]\ncommand = 'x'\n",
        "[mcp_servers.writ.env]\nA = 'x'\n",
        "[ mcp_servers . \"writ\" ]\n",
        "[mcp_servers]\nwrit = { command = 'x' }\n",
        "[mcp_servers]\nwrit.command = 'x'\n",
        "mcp_servers.writ.command = 'x'\n",
        "mcp_servers = { writ = { command = 'x' } }\n",
      })
  void aTableThatSomebodyElseWroteIsRefusedInEveryForm(String text) {
    assertThatThrownBy(() -> ENTRIES.servers(SetupClient.CODEX).applied(text))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("CLI-036");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a = ",
        "a",
        "[a",
        "a = \"x",
        "a = [1, 2",
        "a = '''x",
        "a = 1 b = 2",
        "[a] b",
        "\"a\\u0041\" = 1",
        "# begin: writ setup\n[mcp_servers.writ]\n",
      })
  void tomlThatCannotBeFollowedIsRefused(String text) {
    assertThatThrownBy(() -> ENTRIES.servers(SetupClient.CODEX).applied(text))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("CLI-035");
  }

  /** Taken out, the region would leave the key to the table before it. */
  @Test
  void aKeyBehindTheRegionIsNotGivenToAnotherTable() {
    ClientFile file = ENTRIES.servers(SetupClient.CODEX);
    String after = file.applied(CODEX) + "enabled = true\n";
    assertThatThrownBy(() -> file.removed(after))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("CLI-035");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{",
        "{\"a\":1,\"a\":2}",
        "{\"a\" 1}",
        "{\"a\":01}",
        "{\"a\":\"\n\"}",
        "{a:1}",
        "{\"a\":1}}",
        "{\"a\":1 /* }",
        "{,}",
        "{\"mcpServers\":[]}",
        "{\"mcpServers\":null}",
      })
  void jsonThatIsNoneIsRefused(String text) {
    assertThatThrownBy(() -> ENTRIES.servers(SetupClient.CLAUDE_DESKTOP).applied(text))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("CLI-035");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"mcpServers\":{\"writ\":{\"command\":\"x\"}}}",
        "{\"mcpServers\":{\"writ\":7}}",
        "{\"mcpServers\":{\"writ\":{\"command\":\"x\",\"args\":[\"mcp\"]}}}",
      })
  void aServerThatSomebodyElseWroteIsRefused(String text) {
    ClientFile file = ENTRIES.servers(SetupClient.CLAUDE_DESKTOP);
    assertThatThrownBy(() -> file.applied(text))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("CLI-036");
    assertThat(file.removed(text)).isEqualTo(text);
  }

  @Test
  void otherHooksStayBesideWrits() {
    ClientFile file = ENTRIES.hooks(SetupClient.CLAUDE_CODE, false).getFirst();
    String before =
        """
        {
          "permissions": {"allow": ["Bash(npm test)"]},
          "hooks": {
            "PreToolUse": [
              {"matcher": "Bash", "hooks": [{"type": "command", "command": "lint"}]}
            ]
          }
        }
        """;
    String after = file.applied(before);
    assertThat(after)
        .contains("\"command\": \"lint\"")
        .contains("\"/opt/writ/writ --home /home/ann/data hook claude-code\"")
        .contains("\"onFailure\": \"block\"");
    assertThat(file.removed(after)).isEqualTo(before);
    ClientFile moved =
        new ClientEntries(LINUX, "/opt/writ/writ", "/srv/data")
            .hooks(SetupClient.CLAUDE_CODE, false)
            .getFirst();
    assertThat(moved.applied(after)).contains("/srv/data").doesNotContain("/home/ann/data");
  }

  @ParameterizedTest
  @EnumSource(SetupClient.class)
  void eachClientsPlacesAreThoseOfItsSystem(SetupClient client) {
    ClientPlaces mac = new ClientPlaces(ClientPlaces.Platform.MACOS, Map.of("HOME", "/Users/ann"));
    assertThat(mac.servers(client)).startsWith("/Users/ann/").doesNotContain("\\");
    ClientPlaces windows =
        new ClientPlaces(
            ClientPlaces.Platform.WINDOWS,
            Map.of("USERPROFILE", "C:\\Users\\ann", "APPDATA", "C:\\Users\\ann\\AppData\\Roaming"));
    assertThat(windows.servers(client)).startsWith("C:\\Users\\ann\\").doesNotContain("/");
    assertThatThrownBy(
            () -> new ClientPlaces(ClientPlaces.Platform.LINUX, Map.of()).servers(client))
        .hasMessageContaining("CLI-037");
  }

  @ParameterizedTest
  @CsvSource({
    "LINUX, CLAUDE_DESKTOP, /home/ann/.config/Claude/claude_desktop_config.json",
    "LINUX, VSCODE, /home/ann/.config/Code/User/mcp.json",
    "LINUX, CODEX, /home/ann/.codex/config.toml",
    "LINUX, CURSOR, /home/ann/.cursor/mcp.json",
    "LINUX, CLAUDE_CODE, /home/ann/.claude.json",
    "MACOS, VSCODE, /home/ann/Library/Application Support/Code/User/mcp.json",
  })
  void thePlacesAreThoseOfThePage(
      ClientPlaces.Platform platform, SetupClient client, String place) {
    assertThat(new ClientPlaces(platform, Map.of("HOME", "/home/ann")).servers(client))
        .isEqualTo(place);
  }

  @Test
  void variablesOfTheClientsAreHeeded() {
    ClientPlaces places =
        new ClientPlaces(
            ClientPlaces.Platform.LINUX,
            Map.of("HOME", "/h", "CODEX_HOME", "/c", "CLAUDE_CONFIG_DIR", "/d"));
    assertThat(places.servers(SetupClient.CODEX)).isEqualTo("/c/config.toml");
    assertThat(places.hooks(SetupClient.CODEX)).contains("/c/hooks.json");
    assertThat(places.servers(SetupClient.CLAUDE_CODE)).isEqualTo("/d/.claude.json");
    assertThat(places.hooks(SetupClient.CLAUDE_CODE)).contains("/d/settings.json");
  }

  @Test
  void pathsWithBlanksAreQuotedForTheShellOfTheSystem() {
    ClientEntries blanks = new ClientEntries(LINUX, "/opt/my writ/writ", "/home/ann/it's");
    assertThat(blanks.hooks(SetupClient.CURSOR, false).getFirst().applied("{}"))
        .contains("'/opt/my writ/writ' --home '/home/ann/it'\\\\''s' hook cursor");
    ClientPlaces windows =
        new ClientPlaces(ClientPlaces.Platform.WINDOWS, Map.of("USERPROFILE", "C:\\Users\\ann"));
    assertThat(
            new ClientEntries(windows, "C:\\my writ\\writ.exe", "C:\\data")
                .hooks(SetupClient.CURSOR, false)
                .getFirst()
                .applied("{}"))
        .contains("\\\"C:\\\\my writ\\\\writ.exe\\\" --home \\\"C:\\\\data\\\" hook cursor");
  }
}
