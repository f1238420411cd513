package dev.writ.cli;

import static dev.writ.cli.PassingServer.INITIALIZE;
import static dev.writ.cli.PassingServer.call;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The view of one server has its own names, also those that the SDK would refuse. */
class AToolsNameMayHaveASlashTest {
  private static final String LIST = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";

  @TempDir Path dir;
  private String home;

  @BeforeEach
  void addAServerWithAPath() throws IOException {
    Path script =
        Files.writeString(
            dir.resolve("odd.py"),
            """
            import json, sys
            for line in sys.stdin:
                asked = json.loads(line)
                if "id" not in asked:
                    continue
                answer = {"jsonrpc": "2.0", "id": asked["id"]}
                if asked["method"] == "initialize":
                    answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
                elif asked["method"] == "tools/list":
                    schema = {"type": "object"}
                    answer["result"] = {"tools": [{"name": n, "inputSchema": schema}
                                                  for n in ("files/read", "plain")]}
                elif asked["method"] == "tools/call":
                    answer["result"] = {"content": [{"type": "text", "text": "called " + asked["params"]["name"]}]}
                else:
                    answer["error"] = {"code": -32601, "message": "no"}
                print(json.dumps(answer), flush=True)
            """);
    home = AddedServer.in(dir, "odd", script);
  }

  private Run agent(String call, String... view) {
    String input = String.join("\n", INITIALIZE, LIST, call) + "\n";
    List<String> words = new ArrayList<>(List.of("mcp", "--home", home));
    words.addAll(List.of(view));
    return Run.withInput(input, words.toArray(String[]::new));
  }

  @Test
  void inTheViewOfItsServerItStaysAsItIsAndIsCalledByIt() {
    Run session = agent(call(2, "files/read", ""), "--server", "odd");
    assertThat(session.err()).isEmpty();
    assertThat(session.out())
        .contains("\"name\":\"files/read\"", "\"name\":\"plain\"", "called files/read")
        .doesNotContain("\"error\"");
  }

  @Test
  void inTheViewOfAllToolsItHasANameThatModelApisTake() {
    Run session = agent(call(2, "odd_files_read", ""));
    assertThat(session.out())
        .contains("\"name\":\"odd_files_read\"", "called files/read")
        .doesNotContain("\"name\":\"files/read\"", "\"error\"");
  }
}
