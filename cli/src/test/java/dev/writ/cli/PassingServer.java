package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** A home with the server of tests that does everything, behind Writ under the name notes. */
final class PassingServer {
  static final String INITIALIZE =
      request(
          0,
          "initialize",
          "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}");

  final String home;

  private PassingServer(String home) {
    this.home = home;
  }

  /**
   * Adds and activates it.
   *
   * @param more options of {@code writ mcp add}
   */
  static PassingServer in(Path dir, String... more) {
    return new PassingServer(AddedServer.in(dir, "notes", script(), more));
  }

  private static Path script() {
    return Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/passing.py");
  }

  Run add(String name, String... more) {
    return AddedServer.add(home, name, script(), more);
  }

  void activate() {
    AddedServer.activate(home);
  }

  /** A request as one line. */
  static String request(int id, String method, String params) {
    return "{\"jsonrpc\":\"2.0\",\"id\":"
        + id
        + ",\"method\":\""
        + method
        + "\",\"params\":{"
        + params
        + "}}";
  }

  static String call(int id, String tool, String arguments) {
    return request(id, "tools/call", "\"name\":\"" + tool + "\",\"arguments\":{" + arguments + "}");
  }

  /** Everything that {@code writ mcp --server notes} says to these lines, in any order. */
  List<String> says(String... lines) {
    Run session =
        Run.withInput(String.join("\n", lines) + "\n", "mcp", "--server", "notes", "--home", home);
    assertThat(session.status()).as(session.err()).isZero();
    return session.out().lines().toList();
  }

  /** The one response with that id. */
  static JsonValue.Obj response(List<String> said, int id) {
    List<JsonValue.Obj> found =
        said.stream()
            .map(line -> (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
            .filter(message -> JsonValue.of(id).equals(message.get("id")))
            .filter(message -> message.get("method") == null)
            .toList();
    assertThat(found).as(said.toString()).hasSize(1);
    return found.getFirst();
  }

  static String text(JsonValue json) {
    return new String(Jcs.write(json), StandardCharsets.UTF_8);
  }
}
