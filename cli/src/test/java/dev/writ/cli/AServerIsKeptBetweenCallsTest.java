package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ mcp} without a server of Writ's: spec/tool-mcp.md, A server's life. */
class AServerIsKeptBetweenCallsTest {
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}";

  @TempDir Path dir;
  private String home;

  @BeforeEach
  void addAServerThatCounts() throws IOException {
    Path script = dir.resolve("counter.py");
    Files.writeString(
        script,
        """
        import json, sys
        calls = 0
        for line in sys.stdin:
            asked = json.loads(line)
            if "id" not in asked:
                continue
            answer = {"jsonrpc": "2.0", "id": asked["id"]}
            if asked["method"] == "initialize":
                answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            elif asked["method"] == "tools/list":
                answer["result"] = {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}
            elif asked["method"] == "tools/call":
                calls += 1
                text = "call number " + str(calls)
                answer["result"] = {"content": [{"type": "text", "text": text}]}
            else:
                answer["error"] = {"code": -32601, "message": "no"}
            print(json.dumps(answer), flush=True)
        """);
    home = AddedServer.in(dir, "counter", script);
  }

  private Process agent() throws IOException {
    return new ProcessBuilder(OwnProcess.writ("--home", home, "mcp", "--server", "counter"))
        .redirectError(ProcessBuilder.Redirect.appendTo(dir.resolve("stderr").toFile()))
        .start();
  }

  /** One call and its answer. */
  private static String call(Process agent, BufferedReader from, int id) throws IOException {
    send(
        agent,
        "{\"jsonrpc\":\"2.0\",\"id\":"
            + id
            + ",\"method\":\"tools/call\",\"params\":{\"name\":\"count\",\"arguments\":{}}}");
    return from.readLine();
  }

  private static void send(Process agent, String line) throws IOException {
    OutputStream to = agent.getOutputStream();
    to.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    to.flush();
  }

  @Test
  void itGoesOnWhileOthersUseTheHomeAndEndsWithItsAgent() throws Exception {
    Process agent = agent();
    Process other = agent();
    try (BufferedReader said = agent.inputReader(StandardCharsets.UTF_8);
        BufferedReader saidToOther = other.inputReader(StandardCharsets.UTF_8)) {
      send(agent, INITIALIZE);
      said.readLine();
      assertThat(call(agent, said, 1)).contains("call number 1");
      assertThat(Run.of("run", "counter/count", "--home", home).out())
          .as("a command has the home meanwhile, and a server of its own")
          .contains("call number 1");
      send(other, INITIALIZE);
      saidToOther.readLine();
      assertThat(call(other, saidToOther, 1)).as("another agent's").contains("call number 1");
      assertThat(call(agent, said, 2)).contains("call number 2");
      assertThat(call(other, saidToOther, 2)).contains("call number 2");
      List<ProcessHandle> servers = agent.descendants().toList();
      assertThat(servers).isNotEmpty();
      agent.getOutputStream().close();
      assertThat(agent.waitFor()).as(Files.readString(dir.resolve("stderr"))).isZero();
      assertThat(servers)
          .as("none has a command line any more, as a process that ended and waits for init")
          .noneMatch(server -> server.info().commandLine().isPresent());
      other.destroy();
      other.waitFor();
    } finally {
      agent.destroyForcibly();
      other.destroyForcibly();
    }
    assertThat(Run.of("audit", "--home", home).status()).isZero();
  }
}
