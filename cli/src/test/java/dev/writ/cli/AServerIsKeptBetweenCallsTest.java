package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static dev.writ.cli.PassingServer.call;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ mcp} without a server of Writ's: spec/tool-mcp.md, A server's life. */
class AServerIsKeptBetweenCallsTest {
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

  private McpProcess agent() throws IOException {
    return new McpProcess(home, dir.resolve("stderr"), "--server", "counter");
  }

  @Test
  void itGoesOnWhileOthersUseTheHomeAndEndsWithItsAgent() throws Exception {
    try (McpProcess agent = agent();
        McpProcess other = agent()) {
      agent.answer(INITIALIZE);
      assertThat(agent.answer(call(1, "count", ""))).contains("call number 1");
      assertThat(Run.of("run", "counter/count", "--home", home).out())
          .as("a command has the home meanwhile, and a server of its own")
          .contains("call number 1");
      other.answer(INITIALIZE);
      assertThat(other.answer(call(1, "count", "")))
          .as("another agent's")
          .contains("call number 1");
      assertThat(agent.answer(call(2, "count", ""))).contains("call number 2");
      assertThat(other.answer(call(2, "count", ""))).contains("call number 2");
      List<ProcessHandle> servers = agent.process.descendants().toList();
      assertThat(servers).isNotEmpty();
      agent.end();
      assertThat(servers)
          .as("none has a command line any more, as a process that ended and waits for init")
          .noneMatch(server -> server.info().commandLine().isPresent());
    }
    assertThat(Run.of("audit", "--home", home).status()).isZero();
  }
}
