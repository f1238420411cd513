package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.Behaviours;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The SDK's own client over real HTTP; it validates outputs by the schemas that were listed. */
class TheOfficialClientSpeaksToTheServerTest {
  @TempDir static Path dir;
  private static McpTestServer server;

  @BeforeAll
  static void start() {
    server = new McpTestServer(dir);
  }

  @AfterAll
  static void stop() {
    assertThat(server.failures).isEmpty();
    server.close();
  }

  private static McpSyncClient client(String token) {
    McpSyncClient client =
        McpClient.sync(
                HttpClientStreamableHttpTransport.builder(server.url())
                    .addHttpRequestCustomizer((request, _, _, _, _) ->
                        request.header("Authorization", "Bearer " + McpTestServer.tokenOf(token)))
                    .build())
            .requestTimeout(Duration.ofSeconds(30))
            .enableCallToolSchemaCaching(true)
            .build();
    client.initialize();
    return client;
  }

  @Test
  void initializesListsCallsReadsAndCloses() {
    try (McpSyncClient client = client("alice")) {
      assertThat(client.getServerInfo().name()).isEqualTo("writ");
      assertThat(client.getServerInstructions()).contains("signed receipt");
      client.ping();
      List<McpSchema.Tool> tools = client.listTools().tools();
      assertThat(tools).hasSize(13);
      assertThat(tools)
          .allSatisfy(t -> {
            assertThat(t.name()).matches("[A-Za-z0-9_-]{1,64}");
            assertThat(t.inputSchema()).containsEntry("type", "object");
            assertThat(t.description()).isNotBlank();
          });

      CallToolResult result = client.callTool(call("calc_do", Map.of("n", 1)));
      assertThat(result.isError()).isFalse();
      assertThat(result.structuredContent())
          .asInstanceOf(InstanceOfAssertFactories.map(String.class, Object.class))
          .containsEntry("ok", true);
      String receipt = (String) result.meta().get("dev.writ/receipt");
      McpSchema.ReadResourceResult read =
          client.readResource(
              McpSchema.ReadResourceRequest.builder("writ://receipts/" + receipt).build());
      assertThat(read.contents()).hasSize(1);
      assertThat(client.listResources().resources()).hasSize(2);
      assertThat(client.listResourceTemplates().resourceTemplates()).hasSize(3);

      CallToolResult denied = client.callTool(call("mail_do", Map.of("forbidden", true)));
      assertThat(denied.isError()).isTrue();
      assertThat(denied.meta()).containsEntry("dev.writ/verdict", "DENY");
      server.home.driver.does("sim", Behaviours.fails());
      assertThat(client.callTool(call("sim_do", Map.of())).isError()).isTrue();
      assertThatThrownBy(() ->
              client.readResource(
                  McpSchema.ReadResourceRequest.builder("writ://receipts/none").build()))
          .isInstanceOf(McpError.class);
      assertThat(client.closeGracefully()).isTrue();
    }
  }

  @Test
  void manyCallsAtOnceEachGetTheirOwnAnswer() throws Exception {
    try (McpSyncClient client = client("alice")) {
      List<Thread> threads = new ArrayList<>();
      var answers = new ConcurrentHashMap<Integer, String>();
      for (int i = 0; i < 24; i++) {
        int n = i;
        threads.add(
            Thread.ofVirtual()
                .start(() ->
                    answers.put(
                        n,
                        String.valueOf(
                            client
                                .callTool(call("calc_do", Map.of("n", n)))
                                .structuredContent()))));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(answers).hasSize(24);
      answers.forEach((n, answer) -> assertThat(answer).contains("params={n=" + n + "}"));
    }
  }

  private static CallToolRequest call(String tool, Map<String, Object> arguments) {
    return CallToolRequest.builder(tool).arguments(arguments).build();
  }
}
