package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static dev.writ.cli.PassingServer.call;
import static dev.writ.cli.PassingServer.request;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ mcp}: what it tells of lists that another process changed while it ran. */
@Timeout(120)
class AClientOnStandardIoIsToldOfChangedListsTest {
  private static final String TOOLS =
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}";
  private static final String LIST = request(1, "tools/list", "");
  private static final String OUTCOME = call(2, "writ_outcome", ""); // refused, and nothing is done
  private static final String SQL = "sql, web_browser";

  @TempDir Path dir;
  private String home;

  private void init() {
    home = dir.resolve("home").toString();
    assertThat(Run.of("init", "--home", home).status()).isZero();
  }

  /** Puts a policy in force in which a text is another. */
  private void activate(String from, String to, String... more) throws IOException {
    Path policy = Path.of(home, "policy.yaml");
    String text = Files.readString(policy);
    assertThat(text).contains(from);
    Files.writeString(policy, text.replace(from, to));
    List<String> command =
        new ArrayList<>(List.of("policy", "activate", policy.toString(), "--home", home));
    command.addAll(List.of(more));
    Run run = Run.of(command.toArray(String[]::new));
    assertThat(run.status()).as(run.err()).isZero();
  }

  private McpProcess client(String... more) throws IOException {
    return new McpProcess(home, dir.resolve("log"), more);
  }

  @Test
  void beforeTheNextAnswerAndOnceAndNotOfWhatItListsItself() throws Exception {
    init();
    try (McpProcess client = client()) {
      assertThat(client.says(INITIALIZE).getLast()).contains("\"tools\":{\"listChanged\":true}");
      assertThat(client.says(LIST)).hasSize(1);
      activate(SQL, "web_browser");
      List<String> heard = client.says(OUTCOME);
      assertThat(heard).hasSize(2);
      assertThat(heard.getFirst()).isEqualTo(TOOLS);
      assertThat(client.says(OUTCOME)).as("told once").hasSize(1);
      activate("limit: 1000,", "limit: 999,");
      assertThat(client.says(OUTCOME)).as("no list shows that").hasSize(1);
      activate("word-count]", "word-count, sql]");
      assertThat(client.says(LIST)).as("it gets the list").hasSize(1);
      assertThat(client.says(OUTCOME)).hasSize(1);
      activate(", sql]", "]");
      assertThat(client.says("[" + request(7, "ping", "") + "]").getLast()).contains("GWY-151");
      assertThat(client.says(request(8, "ping", ""))).as("opens no directory").hasSize(1);
      assertThat(client.says(OUTCOME)).hasSize(2);
    }
  }

  @Test
  void aSubscriptionIsToldUntilItIsCancelled() throws Exception {
    init();
    String meta =
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}";
    String outcome = request(3, "tools/call", "\"name\":\"writ_outcome\",\"arguments\":{}," + meta);
    try (McpProcess client = client()) {
      client.tells(
          request(
              9,
              "subscriptions/listen",
              "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true}," + meta));
      assertThat(client.out.readLine())
          .contains(
              "notifications/subscriptions/acknowledged",
              "\"notifications\":{\"toolsListChanged\":true}");
      assertThat(client.says(outcome)).hasSize(1);
      activate(SQL, "web_browser");
      List<String> heard = client.says(outcome);
      assertThat(heard).hasSize(2);
      assertThat(heard.getFirst())
          .contains(
              "notifications/tools/list_changed", "\"io.modelcontextprotocol/subscriptionId\":9");
      client.tells(
          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}");
      assertThat(client.says(request(4, "server/discover", meta)).getLast())
          .contains("\"listChanged\":true");
      activate("word-count]", "word-count, sql]");
      assertThat(client.says(outcome)).as("it asked for no more").hasSize(1);
    }
  }

  @Test
  void throughAServerAsSoonAsItChanges() throws Exception {
    init();
    Process server =
        new ProcessBuilder(OwnProcess.writ("--home", home, "serve", "--port", "0"))
            .redirectError(ProcessBuilder.Redirect.appendTo(dir.resolve("log").toFile()))
            .start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      String url = out.readLine().replace("listening on ", "");
      try (McpProcess client = client()) {
        assertThat(client.says(INITIALIZE).getLast()).contains("\"tools\":{\"listChanged\":true}");
        assertThat(client.says(LIST)).hasSize(1);
        activate(SQL, "web_browser", "--server", url);
        assertThat(client.out.readLine()).isEqualTo(TOOLS);
        assertThat(client.says(OUTCOME)).hasSize(1);
      }
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  @Test
  void thePromptsOfOneServerAreOthersWhenPolicyApprovesThem() throws Exception {
    home = dir.resolve("home").toString();
    PassingServer server = PassingServer.in(dir, "--pass", "prompts");
    try (McpProcess client = client("--server", "notes")) {
      assertThat(client.says(INITIALIZE).getLast()).contains("\"prompts\":{\"listChanged\":true}");
      assertThat(Run.of("mcp", "remove", "notes", "--home", home).status()).isZero();
      Path other = dir.resolve("passing.py");
      Files.writeString(
          other,
          Files.readString(
                  Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/passing.py"))
              .replace("Greets.", "Welcomes."));
      Run added =
          Run.of(
              "mcp",
              "add",
              "notes",
              "--home",
              home,
              "--pass",
              "prompts",
              "--file",
              other.toString(),
              "--",
              "python3",
              "/tool/passing.py");
      assertThat(added.status()).as(added.err()).isZero();
      server.activate();
      List<String> heard = client.says(request(5, "resources/templates/list", ""));
      assertThat(heard)
          .contains(
              TOOLS.replace("tools", "prompts"), // and the tools, of another version
              TOOLS)
          .hasSize(3);
      assertThat(client.says(request(6, "prompts/list", "")).getLast()).contains("Welcomes.");
    }
  }
}
