package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.host.Trees;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three MCP servers from npm, governed end to end: added, every tool called through {@code writ mcp
 * --server}, one denied, the bundle verified by both verifiers and replayed. It needs npm and its
 * registry, so it is no part of a normal run and its name is none of a test: {@code
 * -Dtest=PublicServersSuite} runs it. The results are in spec/tool-mcp.md.
 */
class PublicServersSuite {
  @TempDir Path dir;

  /**
   * A server.
   *
   * @param options of {@code writ mcp add}
   * @param denied the tool that nobody may call
   * @param calls arguments of each tool, in order
   */
  private record Server(
      String name, List<String> options, List<String> command, String denied, List<String> calls) {}

  private String home() {
    return dir.resolve("home").toString();
  }

  private Run writ(String input, List<String> words) {
    List<String> all = new ArrayList<>(words);
    int at = all.indexOf("--");
    all.addAll(at < 0 ? all.size() : at, List.of("--home", home()));
    return Run.on(input, "", System.getenv(), Commands.ALL, all.toArray(String[]::new));
  }

  private Run writ(String... words) {
    return writ("", List.of(words));
  }

  private static String call(int id, String tool, String arguments) {
    return "{\"jsonrpc\":\"2.0\",\"id\":"
        + id
        + ",\"method\":\"tools/call\",\"params\":{\"name\":\""
        + tool
        + "\",\"arguments\":"
        + arguments
        + "}}\n";
  }

  private void governed(Server server) throws Exception {
    assertThat(writ("init").status()).isZero();
    List<String> words = new ArrayList<>(List.of("mcp", "add", server.name));
    List<String> allowed =
        server.calls.stream()
            .map(c -> c.split(" ", 2)[0])
            .distinct()
            .filter(tool -> !tool.equals(server.denied))
            .toList();
    words.addAll(List.of("--only", String.join(",", allowed)));
    words.addAll(server.options);
    words.add("--");
    words.addAll(server.command);
    Run added = writ("", words);
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(writ("policy", "activate", home() + "/policy.yaml").status()).isZero();

    StringBuilder lines =
        new StringBuilder(
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n");
    for (int i = 0; i < server.calls.size(); i++) {
      String[] call = server.calls.get(i).split(" ", 2);
      lines.append(call(i + 1, call[0], call[1]));
    }
    Run session = writ(lines.toString(), List.of("mcp", "--server", server.name));
    TreeMap<Long, JsonValue.Obj> results = new TreeMap<>();
    session
        .out()
        .lines()
        .forEach(line -> {
          JsonValue.Obj answer = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
          if (answer.get("id") instanceof JsonValue.Num id
              && answer.get("result") instanceof JsonValue.Obj result) {
            results.put((long) id.value(), result);
          }
        });
    String run = "";
    for (int i = 0; i < server.calls.size(); i++) {
      JsonValue.Obj result = results.get((long) i + 1);
      assertThat(result).as(server.calls.get(i) + "\n" + session.out()).isNotNull();
      JsonValue.Obj meta = (JsonValue.Obj) result.get("_meta");
      boolean denied = server.calls.get(i).startsWith(server.denied + " ");
      IO.println(
          server.name
              + " "
              + server.calls.get(i).split(" ", 2)[0]
              + ": "
              + meta.get("dev.writ/verdict")
              + " "
              + meta.get("dev.writ/status")
              + " isError "
              + result.get("isError"));
      assertThat(meta.get("dev.writ/verdict"))
          .as(server.calls.get(i))
          .isEqualTo(JsonValue.of(denied ? "DENY" : "ALLOW"));
      assertThat(meta.get("dev.writ/receipt") != null).isEqualTo(!denied);
      if (!denied) {
        run = ((JsonValue.Str) meta.get("dev.writ/run")).value();
      }
    }
    verified(run);
  }

  private void verified(String run) throws Exception {
    writ("close", run);
    String bundle = dir.resolve("run.writ").toString();
    Run exported = writ("export", run, "-o", bundle);
    assertThat(exported.status()).as(exported.err()).isZero();
    String trust = home() + "/trust.jwks";
    Run verified = Run.of("verify", bundle, "--trust", trust);
    assertThat(verified.status()).as(verified.err()).isZero();
    Run replayed = Run.of("replay", bundle, "--trust", trust);
    assertThat(replayed.status()).as(replayed.out()).isZero();
    Path script = dir.resolve("verify.mjs");
    assertThat(Run.of("report", "--verifier", "-o", script.toString()).status()).isZero();
    Process second =
        new ProcessBuilder("node", script.toString(), bundle, "--trust", trust)
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("second.txt").toFile())
            .start();
    assertThat(second.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(second.exitValue()).as(Files.readString(dir.resolve("second.txt"))).isZero();
    assertThat(writ("audit").status()).isZero();
  }

  @Test
  void everything() throws Exception {
    governed(
        new Server(
            "everything",
            List.of(),
            List.of("npx", "-y", "@modelcontextprotocol/server-everything"),
            "get-env",
            List.of(
                "echo {\"message\":\"hi\"}",
                "get-annotated-message {\"messageType\":\"success\",\"includeImage\":true}",
                "get-env {}",
                "get-resource-links {\"count\":2}",
                "get-resource-reference {\"resourceType\":\"Text\",\"resourceId\":1}",
                "get-structured-content {\"location\":\"New York\"}",
                "get-sum {\"a\":2,\"b\":3}",
                "get-tiny-image {}",
                "gzip-file-as-resource {\"name\":\"a.gz\",\"data\":\"data:text/plain;base64,aGk=\","
                    + "\"outputType\":\"resource\"}",
                "simulate-research-query {\"topic\":\"x\"}",
                "toggle-simulated-logging {}",
                "toggle-subscriber-updates {}",
                "trigger-long-running-operation {\"duration\":1,\"steps\":2}")));
  }

  @Test
  void filesystem() throws Exception {
    Path outside = Files.createTempDirectory(Path.of("/var/tmp"), "writ-test-").toRealPath();
    try {
      Files.setPosixFilePermissions(outside, PosixFilePermissions.fromString("rwxrwxrwx"));
      Path file = Files.writeString(outside.resolve("README.md"), "one\ntwo\nthree\n");
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
      filesystem(outside.toString(), file.toString());
      assertThat(outside.resolve("new.txt")).hasContent("x");
      assertThat(outside.resolve("new")).isDirectory();
      assertThat(file).hasContent("one\n2\nthree\n");
      assertThat(outside.resolve("x")).as("what was denied").doesNotExist();
    } finally {
      Trees.remove(outside);
    }
  }

  private void filesystem(String folder, String file) throws Exception {
    governed(
        new Server(
            "filesystem",
            List.of("--write", folder),
            List.of("npx", "-y", "@modelcontextprotocol/server-filesystem", folder),
            "move_file",
            List.of(
                "list_allowed_directories {}",
                "read_file {\"path\":\"" + file + "\"}",
                "read_text_file {\"path\":\"" + file + "\",\"head\":2}",
                "read_media_file {\"path\":\"" + file + "\"}",
                "read_multiple_files {\"paths\":[\"" + file + "\"]}",
                "list_directory {\"path\":\"" + folder + "\"}",
                "list_directory_with_sizes {\"path\":\"" + folder + "\"}",
                "directory_tree {\"path\":\"" + folder + "\"}",
                "search_files {\"path\":\"" + folder + "\",\"pattern\":\"*.md\"}",
                "get_file_info {\"path\":\"" + file + "\"}",
                "read_text_file {\"path\":\"/etc/passwd\"}",
                "create_directory {\"path\":\"" + folder + "/new\"}",
                "write_file {\"path\":\"" + folder + "/new.txt\",\"content\":\"x\"}",
                "edit_file {\"path\":\""
                    + file
                    + "\",\"edits\":[{\"oldText\":\"two\",\"newText\":\"2\"}]}",
                "move_file {\"source\":\"" + file + "\",\"destination\":\"" + folder + "/x\"}")));
  }

  @Test
  void memory() throws Exception {
    governed(
        new Server(
            "memory",
            List.of("--state", "--env", "MEMORY_FILE_PATH=/state/memory.jsonl"),
            List.of("npx", "-y", "@modelcontextprotocol/server-memory"),
            "delete_entities",
            List.of(
                "create_entities {\"entities\":[{\"name\":\"Ann\",\"entityType\":\"person\","
                    + "\"observations\":[\"likes tea\"]}]}",
                "create_relations {\"relations\":[{\"from\":\"Ann\",\"to\":\"Ann\","
                    + "\"relationType\":\"knows\"}]}",
                "add_observations"
                    + " {\"observations\":[{\"entityName\":\"Ann\",\"contents\":[\"x\"]}]}",
                "read_graph {}",
                "search_nodes {\"query\":\"Ann\"}",
                "open_nodes {\"names\":[\"Ann\"]}",
                "delete_observations"
                    + " {\"deletions\":[{\"entityName\":\"Ann\",\"observations\":[\"x\"]}]}",
                "delete_relations {\"relations\":[{\"from\":\"Ann\",\"to\":\"Ann\","
                    + "\"relationType\":\"knows\"}]}",
                "delete_entities {\"entityNames\":[\"Ann\"]}")));
    String bob = "entities=[{\"name\":\"Bob\",\"entityType\":\"person\",\"observations\":[]}]";
    Run told = writ("run", "memory/create_entities", "--param-json", bob);
    assertThat(told.status()).as(told.err()).isZero();
    Run asked = writ("run", "memory/read_graph", "--run", "later");
    assertThat(asked.out()).as("of another start: " + asked.err()).contains("Bob");
    assertThat(writ("mcp", "remove", "memory", "--delete-state").out()).contains("is deleted");
  }
}
