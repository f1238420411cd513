package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ mcp} in a process of its own: with the official client, line by line, to its end. */
class AnAgentSpeaksMcpOverStdioTest {
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n";

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

  @TempDir Path dir;
  private String home;

  @BeforeEach
  void init() throws IOException {
    home = dir.resolve("home").toString();
    assertThat(Run.of("init", "--home", home).status()).isZero();
    Path policy = Path.of(home, "policy.yaml");
    String small = "effect.resources.output_bytes <= 1048576";
    String text = Files.readString(policy);
    assertThat(text).contains(small); // MCP declares no more: one query has to wait all the same
    Files.writeString(policy, text.replace(small, "params.sql != \\\"select 'reviewed'\\\""));
    assertThat(Run.of("policy", "activate", policy.toString(), "--home", home).status()).isZero();
  }

  private List<String> command(String... arguments) {
    List<String> command = OwnProcess.writ("--home", home);
    command.addAll(List.of(arguments));
    return command;
  }

  private Process start(String... arguments) throws Exception {
    return new ProcessBuilder(command(arguments))
        .redirectError(ProcessBuilder.Redirect.appendTo(dir.resolve("stderr").toFile()))
        .start();
  }

  private McpSyncClient client(String... arguments) {
    List<String> command = command(arguments);
    McpSyncClient client =
        McpClient.sync(
                new StdioClientTransport(
                    ServerParameters.builder(command.getFirst())
                        .args(command.subList(1, command.size()))
                        .build(),
                    McpJsonDefaults.getMapper()))
            .requestTimeout(Duration.ofSeconds(60))
            .initializationTimeout(Duration.ofSeconds(60))
            .build();
    client.initialize();
    return client;
  }

  private static CallToolResult call(McpSyncClient client, String tool, String key, String value) {
    return client.callTool(
        CallToolRequest.builder(tool).arguments(Map.<String, Object>of(key, value)).build());
  }

  private static String text(CallToolResult result) {
    return ((TextContent) result.content().getFirst()).text();
  }

  private static String meta(CallToolResult result, String key) {
    return (String) result.meta().get("dev.writ/" + key);
  }

  @Test
  void theOfficialClientCallsAndAnApprovalIsGivenBesideIt() {
    McpSyncClient client = client("mcp");
    try {
      assertThat(client.listTools().tools()).extracting(t -> t.name()).contains("js", "sql");
      CallToolResult sum = call(client, "js", "source", "6*7");
      assertThat(text(sum)).isEqualTo("42");
      CallToolResult denied = call(client, "js", "source", " ".repeat(20_001));
      assertThat(denied.isError()).isTrue();
      assertThat(text(denied)).startsWith("DENIED GRD-102");

      CallToolResult waits = call(client, "sql", "sql", "select 'reviewed'");
      assertThat(meta(waits, "verdict")).isEqualTo("ESCALATE");
      String approve =
          text(waits).lines().filter(l -> l.contains("writ approve")).findFirst().get();
      String request = approve.strip().split(" ")[2];
      // The very command that the result shows, while this session lives.
      assertThat(Run.of("approve", request, "--yes", "--home", home).status()).isZero();
      CallToolResult served = call(client, "sql", "sql", "select 'reviewed'");
      assertThat(served.isError()).as(text(served)).isFalse();
      assertThat(meta(served, "request")).isEqualTo(request);
      assertThat(client.listResources().resources()).hasSize(3);

      String receipt = meta(served, "receipt");
      assertThat(Run.of("show", receipt, "--home", home).out()).contains("sql");
    } finally {
      assertThat(client.closeGracefully()).isTrue();
    }
    assertThat(Run.of("audit", "--home", home).status()).isZero();
  }

  @Test
  void onlyTheProtocolIsOnStdoutAndTheEndOfTheInputIsItsEnd() throws Exception {
    Process process = start("mcp");
    String[] lines = {
      INITIALIZE.strip(),
      "",
      "garbage",
      "[]",
      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
      "x".repeat(3 << 20),
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"js\",\"arguments\":{\"source\":\"console.log('to"
          + " stdout'); 1\"},\"_meta\":{\"traceparent\":\"00-"
          + TRACE
          + "-00f067aa0ba902b7-01\"}}}"
    };
    try (var in = process.getOutputStream()) {
      in.write(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
    }
    List<String> said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .toList();
    assertThat(process.waitFor()).as(Files.readString(dir.resolve("stderr"))).isZero();
    assertThat(said)
        .hasSize(6)
        .allSatisfy(line -> {
          JsonValue.Obj message = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
          assertThat(message.get("jsonrpc")).isEqualTo(JsonValue.of("2.0"));
        });
    assertThat(said).filteredOn(line -> line.contains("GWY-151")).hasSize(3);
    assertThat(Files.readString(dir.resolve("stderr"))).doesNotContain("\tat ");
    assertThat(Run.of("runs", "--home", home).out()).contains("closed");
    Matcher request =
        Pattern.compile("dev.writ/request\":\"(sha256:[0-9a-f]{64})").matcher(said.toString());
    assertThat(request.find()).as(said.toString()).isTrue();
    assertThat(Run.of("show", request.group(1), "--home", home, "--json").out())
        .as("the trace that the message stated")
        .contains("00-" + TRACE);
  }

  private static String stateless(String id, String source) {
    return "{\"jsonrpc\":\"2.0\",\"id\":\""
        + id
        + "\",\"method\":\"tools/call\",\"params\":{\"name\":\"js\",\"arguments\":{\"source\":\""
        + source
        + "\"},\"_meta\":{\"progressToken\":\"t-"
        + id
        + "\",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        + "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n";
  }

  /** The version without sessions: no initialize, and a run that outlives the process. */
  @Test
  void aCallThatIsCancelledEndsInItsSandboxAndLeavesAReceipt() throws Exception {
    Process process = start("mcp");
    OutputStream in = process.getOutputStream();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      in.write(stateless("long", "for(;;);").getBytes(StandardCharsets.UTF_8));
      in.flush();
      String line = out.readLine();
      while (!line.contains("and runs")) {
        assertThat(line).contains("notifications/progress", "t-long");
        line = out.readLine();
      }
      in.write(
          ("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"long\"}}\n"
                  + stateless("next", "6*7"))
              .getBytes(StandardCharsets.UTF_8));
      in.close();
      List<String> rest = out.lines().filter(l -> !l.contains("notifications/")).toList();
      assertThat(rest).as("the cancelled call has no response").hasSize(1);
      assertThat(rest.getFirst()).contains("\"id\":\"next\"", "42", "\"resultType\":\"complete\"");
    }
    assertThat(process.waitFor()).isZero();
    assertThat(Run.of("receipts", "--home", home).out()).contains("killed", "succeeded");
    assertThat(Run.of("runs", "--home", home).out()).contains("open");
    assertThat(Run.of("audit", "--home", home).status()).isZero();
  }

  @Test
  void aSignalEndsItAndWhatIsAtWorkIsAnswered() throws Exception {
    Process process = start("mcp");
    process
        .getOutputStream()
        .write(
            (INITIALIZE
                    + "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"js\",\"arguments\":{\"source\":\"1\"}}}\n")
                .getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      out.readLine();
      out.readLine();
      process.toHandle().destroy(); // which leaves the streams open
      assertThat(out.readLine()).isNull();
    }
    assertThat(process.waitFor()).isEqualTo(143);
    assertThat(Run.of("runs", "--home", home).out()).contains("closed");
  }

  @Test
  void aHomeThatAServerHasIsReachedThroughTheServer() throws Exception {
    Process server = start("serve", "--port", "0");
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      String url = out.readLine().replace("listening on ", "");
      McpSyncClient through = client("mcp");
      McpSyncClient named = client("mcp", "--url", url);
      try {
        for (McpSyncClient client : List.of(through, named)) {
          CallToolResult sum = call(client, "js", "source", "6*7");
          assertThat(text(sum)).isEqualTo("42");
          assertThat(client.listTools().tools()).extracting(t -> t.name()).contains("writ_outcome");
        }
        CallToolResult waits = call(through, "sql", "sql", "select 'reviewed'");
        String request = meta(waits, "request");
        assertThat(text(waits)).contains("writ approve " + request);
        assertThat(Run.of("approve", request, "--yes", "--home", home).status()).isZero();
        CallToolResult served = call(through, "sql", "sql", "select 'reviewed'");
        assertThat(meta(served, "request")).isEqualTo(request);
        assertThat(served.isError()).isFalse();
        assertThat(Run.of("approve", request, "--yes", "--home", home).err()).contains("EXE-908");
      } finally {
        through.closeGracefully();
        named.closeGracefully();
      }
    } finally {
      server.destroy();
      server.waitFor();
    }
    assertThat(Path.of(home, "serving.json")).doesNotExist();
  }

  @Test
  void whatCannotWorkIsSaidAtOnce() {
    Run none = Run.of("mcp", "--home", dir.resolve("none").toString());
    assertThat(none.err()).contains("CLI-010");
    assertThat(none.out()).isEmpty();
    Run open = Run.of("mcp", "--home", home, "--url", "http://example.org");
    assertThat(open.err()).contains("CLI-001");
    assertThat(Run.of("mcp", "--home", home, "--token", "x").err()).contains("CLI-001");
    Run key = Run.of("mcp", "--home", home, "--as", "nobody");
    assertThat(key.status()).isNotZero();
  }
}
