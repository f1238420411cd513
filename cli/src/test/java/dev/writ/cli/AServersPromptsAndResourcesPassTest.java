package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static dev.writ.cli.PassingServer.call;
import static dev.writ.cli.PassingServer.request;
import static dev.writ.cli.PassingServer.response;
import static dev.writ.cli.PassingServer.text;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** spec/tool-mcp-passing.md: prompts, resources and completion of one server, in its view. */
class AServersPromptsAndResourcesPassTest {
  private static final String READ = "\"uri\":\"note:///1\"";

  @TempDir Path dir;

  @Test
  void whatPassesIsListedAsPinnedAndReadWithADecisionAndAReceipt() {
    PassingServer server = PassingServer.in(dir, "--pass", "resources,prompts,completion");
    List<String> said =
        server.says(
            INITIALIZE,
            request(1, "prompts/list", ""),
            request(2, "resources/templates/list", ""),
            request(3, "resources/list", ""),
            request(4, "resources/read", READ),
            request(5, "prompts/get", "\"name\":\"greet\",\"arguments\":{\"whom\":\"Ada\"}"),
            request(
                6,
                "completion/complete",
                "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"greet\"},\"argument\":{\"name\":\"whom\",\"value\":\"x\"}"),
            request(7, "prompts/get", "\"name\":\"nobody\",\"arguments\":{}"),
            request(8, "resources/read", "\"uri\":\"file:///etc/passwd\""),
            request(9, "tools/list", ""));
    assertThat(text(response(said, 0)))
        .contains("\"prompts\":{", "\"resources\":{", "\"completions\":{")
        .doesNotContain("\"logging\"");
    assertThat(text(response(said, 1))).contains("\"name\":\"greet\"", "\"required\":true");
    assertThat(text(response(said, 2))).contains("note:///{id}");
    assertThat(text(response(said, 3)))
        .contains("\"uri\":\"note:///1\"", "dev.writ/receipt")
        .doesNotContain("\"x\":1");
    assertThat(text(response(said, 4))).contains("the note of nobody", "dev.writ/receipt");
    assertThat(text(response(said, 5))).contains("Hello Ada", "dev.writ/decision");
    assertThat(text(response(said, 6))).contains("[\"xa\",\"xb\"]", "dev.writ/receipt");
    assertThat(text(response(said, 7))).contains("DENIED GRD-403", "\"code\":-32000");
    assertThat(text(response(said, 8)))
        .as("the server's own error, with the receipt of the effect")
        .contains("\"code\":-32002", "Resource not found", "dev.writ/receipt");
    assertThat(text(response(said, 9))).contains("\"steps\"").doesNotContain("prompts/get");
    assertThat(Run.of("receipts", "--home", server.home).out()).contains("notes");
    assertThat(Run.of("mcp", "show", "notes", "--home", server.home).out())
        .contains("passes  completion, prompts, resources", "prompt greet");
    assertThat(Run.of("audit", "--home", server.home).status()).isZero();
  }

  @Test
  void whatDoesNotPassIsAnnouncedToNobody() {
    PassingServer server = PassingServer.in(dir);
    List<String> said =
        server.says(
            INITIALIZE,
            request(1, "prompts/list", ""),
            request(2, "resources/read", READ),
            request(3, "logging/setLevel", "\"level\":\"debug\""),
            call(4, "steps", ""));
    assertThat(text(response(said, 0))).doesNotContain("prompts", "resources", "logging");
    for (int id : new int[] {1, 3}) {
      assertThat(text(response(said, id))).contains("-32601");
    }
    assertThat(text(response(said, 2))).contains("\"error\"").doesNotContain("the note of");
    assertThat(text(response(said, 4))).contains("no token");
    assertThat(Run.of("mcp", "test", "notes", "--home", server.home, "--json").out())
        .as("what the server was told that its client can")
        .contains("\"name\":\"{}\"");
  }

  @Test
  void anAddressThatMeansAnotherIsRefusedBeforeTheServerSeesIt() {
    PassingServer server = PassingServer.in(dir, "--pass", "resources");
    String[] addresses = {
      "note:///a/../../etc/passwd",
      "note:///a/%2e%2E/b",
      "note:///a/%252e%252e/b",
      "note:///a\\\\..\\\\b",
      "note:..",
      "etc/passwd",
      "WRIT://receipts/x",
      "note:///\\u202eb"
    };
    String[] lines = new String[addresses.length + 1];
    lines[0] = INITIALIZE;
    for (int i = 0; i < addresses.length; i++) {
      lines[i + 1] = request(i + 1, "resources/read", "\"uri\":\"" + addresses[i] + "\"");
    }
    List<String> said = server.says(lines);
    for (int i = 1; i <= addresses.length; i++) {
      assertThat(text(response(said, i)))
          .as(addresses[i - 1])
          .contains("TOL-245", "dev.writ/receipt")
          .doesNotContain("the note of");
    }
  }

  @Test
  void aPromptThatIsAnotherThanTheApprovedOneRefusesTheServer() {
    PassingServer server = PassingServer.in(dir, "--pass", "prompts", "--env", "CHANGED=");
    List<String> said =
        server.says(
            INITIALIZE,
            request(1, "prompts/get", "\"name\":\"greet\",\"arguments\":{\"whom\":\"Ada\"}"));
    assertThat(text(response(said, 1))).contains("Hello Ada");
    Run other = server.add("other", "--pass", "prompts", "--env", "CHANGED=more");
    assertThat(other.status()).as(other.err()).isZero();
    assertThat(Run.of("mcp", "show", "other", "--home", server.home).out())
        .contains("prompt second");
  }

  @Test
  void whatIsUnknownOrNotOfferedOrHiddenIsNotAdded() {
    PassingServer server = PassingServer.in(dir);
    assertThat(server.add("two", "--pass", "everything").err()).contains("TOL-243");
    String script =
        dev.writ.cli.rules.Project.root()
            .resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py")
            .toString();
    Run lacking =
        Run.of(
            "mcp",
            "add",
            "three",
            "--home",
            server.home,
            "--pass",
            "prompts,sampling",
            "--file",
            script,
            "--",
            "python3",
            "/tool/server.py");
    assertThat(lacking.err()).contains("TOL-244", "prompts").doesNotContain("sampling");
  }
}
