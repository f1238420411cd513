package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static dev.writ.cli.PassingServer.call;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ mcp add --state}: spec/tool-mcp.md, Its state. */
class AnMcpServerKeepsItsStateTest {
  @TempDir Path dir;
  private String home;

  @BeforeEach
  void begin() throws IOException {
    home = dir.resolve("home").toString();
    Files.writeString(
        dir.resolve("memory.py"),
        """
        import json, os, sys
        for line in sys.stdin:
            m = json.loads(line)
            if m.get("method") == "initialize":
                r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            elif m.get("method") == "tools/list":
                r = {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
            elif m.get("method") == "tools/call":
                with open(os.environ["MEMORY"], "a") as f:
                    f.write("x")
                with open(os.environ["MEMORY"]) as f:
                    r = {"content": [{"type": "text", "text": "has " + f.read() + "."}]}
            elif "id" in m:
                print(json.dumps({"jsonrpc": "2.0", "id": m["id"],
                                  "error": {"code": -32601, "message": "no"}}), flush=True)
                continue
            else:
                continue
            print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
        """);
    assertThat(writ("init").status()).isZero();
  }

  @AfterEach
  void deleteIt() {
    writ("mcp", "remove", "memory", "--delete-state");
  }

  private Run writ(String... words) {
    String[] all = new String[words.length + 2];
    all[0] = words[0];
    System.arraycopy(words, 1, all, 1, words.length - 1);
    all[words.length] = "--home";
    all[words.length + 1] = home;
    return Run.of(all);
  }

  private Run add(String... options) {
    String[] all = Arrays.copyOf(options, options.length + 2);
    all[options.length] = "--env";
    all[options.length + 1] = "MEMORY=/state/memory.txt";
    Run added = AddedServer.add(home, "memory", dir.resolve("memory.py"), all);
    assertThat(added.status()).as(added.err()).isZero();
    AddedServer.activate(home);
    return added;
  }

  private McpProcess agent() throws IOException {
    return new McpProcess(home, dir.resolve("stderr"), "--server", "memory");
  }

  @Test
  void itStaysFromStartToStartUntilItIsDeleted() {
    assertThat(add("--state").out()).doesNotContain("earlier");
    assertThat(writ("mcp", "show", "memory", "--json").out()).contains("\"state_bytes\":268435456");
    assertThat(writ("run", "memory/add").out()).contains("has x.");
    assertThat(writ("mcp", "test", "memory").status()).isZero();
    Run second = writ("run", "memory/add", "--run", "other");
    assertThat(second.out()).as(second.err()).contains("has xx.");
    assertThat(writ("mcp", "show", "memory").out())
        .containsPattern("state   /state, 256 MiB at most, is /.*-state/memory-[0-9a-f]{12}/tree");
    assertThat(writ("close", "other").status()).isZero();
    String bundle = dir.resolve("run.writ").toString();
    assertThat(writ("export", "other", "-o", bundle).status()).isZero();
    assertThat(Run.of("verify", bundle, "--trust", home + "/trust.jwks").status()).isZero();
    assertThat(Run.of("replay", bundle, "--trust", home + "/trust.jwks").status()).isZero();

    assertThat(writ("mcp", "remove", "memory").out())
        .contains("its state stays in /", "mcp remove memory --delete-state");
    assertThat(add("--state-mb", "1").out())
        .contains("goes on with the state of an earlier memory");
    assertThat(writ("mcp", "show", "memory", "--json").out()).contains("\"state_bytes\":1048576");
    assertThat(writ("run", "memory/add").out())
        .as("and no replay has called it")
        .contains("has xxx.");
    assertThat(writ("mcp", "remove", "memory", "--delete-state").out())
        .contains("its state is deleted")
        .doesNotContain("stays");
    assertThat(add("--state").out()).doesNotContain("earlier");
    assertThat(writ("run", "memory/add").out()).contains("has x.");
  }

  @Test
  void anAgentHasItUntilItEndsHoweverThatIs() throws Exception {
    add("--state");
    try (McpProcess agent = agent();
        McpProcess next = agent()) {
      agent.answer(INITIALIZE);
      assertThat(agent.answer(call(1, "add", ""))).contains("has x.");
      assertThat(writ("run", "memory/add").err())
          .contains("TOL-307", "memory", "process " + agent.process.pid());
      assertThat(writ("mcp", "remove", "memory", "--delete-state").err()).contains("TOL-307");
      assertThat(writ("mcp", "test", "memory").err()).contains("TOL-307");
      assertThat(agent.answer(call(2, "add", ""))).contains("has xx.");
      agent.kill();
      next.answer(INITIALIZE);
      assertThat(next.answer(call(1, "add", ""))).as("after a kill").contains("has xxx.");
    }
    assertThat(writ("run", "memory/add", "--run", "last").err()).doesNotContain("TOL-307");
  }

  @Test
  void aServerElsewhereKeepsItsOwn() {
    assertThat(writ("mcp", "add", "far", "--state", "https://mcp.example.org/").err())
        .contains("--state is for a program");
  }
}
