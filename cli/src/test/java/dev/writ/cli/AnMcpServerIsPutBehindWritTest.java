package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * From the shell: added, in force once activated, judged, replayed from its record, and removed.
 */
class AnMcpServerIsPutBehindWritTest {
  @TempDir Path dir;

  @Test
  void itIsAddedActivatedCalledReplayedAndRemoved() throws IOException {
    String home = dir.resolve("home").toString();
    String policy = dir.resolve("home/policy.yaml").toString();
    Path script = Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/server.py");
    assertThat(Run.of("init", "--home", home).status()).isZero();
    Run added = AddedServer.add(home, "calc", script);
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.out()).contains("Adds two numbers.");

    String[] call = {
      "run", "calc/add", "--param-json", "a=2", "--param-json", "b=3", "--home", home, "--run", "r"
    };
    assertThat(Run.of(call).err()).as("not in force").contains("DENIED");
    assertThat(Run.of("policy", "activate", policy, "--home", home).status()).isZero();
    Run called = Run.of(call);
    assertThat(called.out()).as(called.err()).contains("\"text\":\"5\"");
    Run wrong = Run.of("run", "calc/add", "--param", "a=2", "--home", home, "--run", "r");
    assertThat(wrong.err()).contains("GRD-403");
    assertThat(Run.of("mcp", "test", "calc", "--home", home).out()).contains("as approved");
    assertThat(Run.of("mcp", "list", "--home", home).out()).contains("calc", "listed");
    assertThat(Run.of("mcp", "show", "calc", "--home", home).out()).contains("format");
    assertThat(Run.of("mcp", "add", "js", "--home", home, "--", "true").err()).contains("TOL-230");
    assertThat(Run.of("tool", "submit", "calc", "--home", home).err())
        .contains("TOL-300", "calc 1.0.0 sha256:");

    assertThat(overMcp(home))
        .contains("\"description\":\"Adds two numbers.\\n(calc 1.0.0, tool add of an MCP server.")
        .contains("http://json-schema.org/draft-07/schema#")
        .containsPattern("\"content\":\\[\\{[^}]*\"text\":\"5\"[^}]*}],\"isError\":false");

    assertThat(Run.of("close", "r", "--home", home).status()).isZero();
    String bundle = dir.resolve("main.writ").toString();
    assertThat(Run.of("export", "r", "-o", bundle, "--home", home).status()).isZero();
    Run replayed = Run.of("replay", bundle, "--trust", dir.resolve("home/trust.jwks").toString());
    assertThat(replayed.status()).as(replayed.out() + replayed.err()).isZero();

    assertThat(Run.of("mcp", "remove", "calc", "--home", home).status()).isZero();
    assertThat(Run.of("policy", "activate", policy, "--home", home).status()).isZero();
    call[call.length - 1] = "s";
    assertThat(Run.of(call).err()).contains("DENIED");
    assertThat(Run.of("audit", "--home", home).status()).isZero();
  }

  /** What an agent that speaks to {@code writ mcp} sees of it. */
  private static String overMcp(String home) {
    String lines =
        """
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
        {"jsonrpc":"2.0","id":1,"method":"tools/list"}
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"calc","arguments":{"a":2,"b":3}}}
        """;
    Run session = Run.withInput(lines, "mcp", "--home", home);
    assertThat(session.status()).as(session.err()).isZero();
    return session.out();
  }
}
