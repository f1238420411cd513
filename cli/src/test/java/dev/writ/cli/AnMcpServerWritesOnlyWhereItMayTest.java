package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ mcp add --write}: a folder of this machine, and nothing around it. */
class AnMcpServerWritesOnlyWhereItMayTest {
  private static final String SERVER =
      """
      import json, os, sys
      def step(op, path, text):
          try:
              if op == "write":
                  with open(path, "w") as f:
                      f.write(text)
              elif op == "link":
                  os.symlink(text, path)
              elif op == "read":
                  with open(path) as f:
                      return f.read()
              elif op == "variable":
                  return os.environ.get(path, "none")
              return "done"
          except OSError as e:
              return type(e).__name__
      for line in sys.stdin:
          m = json.loads(line)
          if m.get("method") == "initialize":
              r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "s", "version": "1"}}
          elif m.get("method") == "tools/list":
              r = {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}
          elif m.get("method") == "tools/call":
              said = " ".join(step(*s) for s in m["params"]["arguments"]["steps"])
              r = {"content": [{"type": "text", "text": said}]}
          elif "id" in m:
              print(json.dumps({"jsonrpc": "2.0", "id": m["id"],
                                "error": {"code": -32601, "message": "no"}}), flush=True)
              continue
          else:
              continue
          print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
      """;

  @TempDir Path dir;
  private Path outside;
  private Path folder;
  private Path beside;
  private String home;
  private Path script;

  /** Not below /tmp, where each sandbox has files of its own. */
  @BeforeEach
  void begin() throws IOException {
    outside = Files.createTempDirectory(Path.of("/var/tmp"), "writ-test-").toRealPath();
    open(outside);
    folder = open(Files.createDirectory(outside.resolve("folder")));
    beside = open(Files.createDirectory(outside.resolve("beside")));
    Files.writeString(beside.resolve("other.txt"), "theirs");
    home = dir.resolve("home").toString();
    script = Files.writeString(dir.resolve("server.py"), SERVER);
    assertThat(Run.of("init", "--home", home).status()).isZero();
  }

  @AfterEach
  void end() {
    Trees.remove(outside);
  }

  /** Servers run as other users where the tests run as root. */
  private static Path open(Path path) throws IOException {
    return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
  }

  private Run add(String... options) {
    return AddedServer.add(home, "files", script, options);
  }

  private static List<String> step(String what, Path path, String text) {
    return List.of(what, path.toString(), text);
  }

  private Run call(String run, List<List<String>> steps) {
    JsonValue json =
        JsonValue.of(
            steps.stream().map(s -> JsonValue.of(s.stream().map(JsonValue::of).toList())).toList());
    return Run.of(
        "run",
        "files/do",
        "--param-json",
        "steps=" + new String(Jcs.write(json), StandardCharsets.UTF_8),
        "--home",
        home,
        "--run",
        run);
  }

  @Test
  void what_it_may_write_to_is_approved_with_it_and_nothing_else_is_reached() throws IOException {
    Run added = add("--write", folder.toString());
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.out()).contains("warning  it may change and delete what is in " + folder);
    assertThat(Run.of("mcp", "show", "files", "--json", "--home", home).out())
        .contains("\"writes\":[\"" + folder + "\"]");
    assertThat(Run.of("mcp", "show", "files", "--home", home).out()).contains("writes  " + folder);
    AddedServer.activate(home);
    Run called =
        call(
            "r",
            List.of(
                step("write", folder.resolve("a.txt"), "mine"),
                step("write", beside.resolve("b.txt"), "mine"),
                step("read", beside.resolve("other.txt"), ""),
                step("link", folder.resolve("link"), beside.resolve("other.txt").toString()),
                step("read", folder.resolve("link"), ""),
                step("link", folder.resolve("up"), beside.toString()),
                step("write", folder.resolve("up/c.txt"), "mine"),
                step("write", folder.resolve("../d.txt"), "mine")));
    assertThat(called.out())
        .as(called.err())
        .containsPattern(
            "\"done FileNotFoundError FileNotFoundError done FileNotFoundError done"
                + " FileNotFoundError (OSError|PermissionError)\"");
    assertThat(folder.resolve("a.txt")).hasContent("mine");
    assertThat(beside.toFile().list()).containsExactly("other.txt");
    assertThat(outside.toFile().list()).containsExactlyInAnyOrder("beside", "folder");
    assertThat(beside.resolve("other.txt")).hasContent("theirs");
    assertThat(call("r", List.of(step("read", folder.resolve("a.txt"), ""))).out())
        .contains("\"mine\"");

    Files.move(folder, outside.resolve("moved"));
    assertThat(call("s", List.of(step("read", folder.resolve("a.txt"), ""))).err())
        .contains("TOL-305");
    Files.createSymbolicLink(folder, beside);
    assertThat(call("s", List.of(step("write", folder.resolve("e.txt"), "mine"))).err())
        .contains("TOL-305", "by a link");
    assertThat(beside.toFile().list()).containsExactly("other.txt");
  }

  @Test
  void what_is_no_folder_of_its_own_is_refused_before_anything_starts() throws IOException {
    Path link = Files.createSymbolicLink(outside.resolve("link"), beside);
    Path inner = Files.createDirectory(folder.resolve("inner"));
    List<List<String>> refused =
        List.of(
            List.of(outside.resolve("nowhere").toString(), "is not there"),
            List.of(beside.resolve("other.txt").toString(), "is a file"),
            List.of(link.toString(), "is behind a link: name it " + beside),
            List.of("/", "is part of the system, or has it"),
            List.of("/usr/share", "is part of the system"),
            List.of(dir.toString(), "is part of the system, or has it: /tmp"),
            List.of("/home", "is a home directory"),
            List.of("/var/lib", ""));
    for (List<String> each : refused) {
      Run run = add("--write", each.get(0));
      assertThat(run.err()).as(each.get(0)).contains("TOL-305", each.get(0), each.get(1));
    }
    assertThat(add("--write", folder.toString(), "--write", inner.toString()).err())
        .contains("TOL-305", inner + " is " + folder + ", in it, or has it");
    assertThat(add("--write", folder.toString(), "--read", inner.toString()).err())
        .contains("TOL-238", inner.toString());
    assertThat(Run.of("mcp", "list", "--home", home).out()).doesNotContain("files");
  }

  @Test
  void writs_own_places_and_homes_are_never_written_to() throws IOException {
    String own = outside.resolve("writ-data").toString();
    assertThat(Run.of("init", "--home", own).status()).isZero();
    for (String place : List.of(own, own + "/keys", outside.toString())) {
      Run run =
          Run.of("mcp", "add", "files", "--home", own, "--write", place, "--", "python3", "-V");
      assertThat(run.err()).as(place).contains("TOL-305", "is Writ's own, or has it");
    }
    Path user = Path.of(System.getProperty("user.home")).toRealPath();
    assertThat(add("--write", user.toString()).err()).contains("TOL-305");
  }

  @Test
  void a_folder_that_it_could_not_write_to_is_refused_when_it_is_added() throws IOException {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
    Run run = add("--write", folder.toString());
    assertThat(run.err()).contains("TOL-306", folder.toString(), "ermission denied");
    assertThat(folder.toFile().list()).isEmpty();
    assertThat(Run.of("mcp", "list", "--home", home).out()).doesNotContain("files");
  }

  @Test
  void a_command_that_names_a_folder_is_told_both_options() {
    Run run = Run.of("mcp", "add", "f", "--home", home, "--", "python3", "-V", folder.toString());
    String word = folder.toString();
    Run server = Run.of("mcp", "add", "f", "--home", home, "--", "/usr/bin/env", "true", word);
    assertThat(run.err() + server.err())
        .contains("TOL-299", "--read " + word + ", or --write " + word);
    assertThat(add().status()).isZero();
    assertThat(Run.of("mcp", "show", "files", "--json", "--home", home).out())
        .doesNotContain("writes");
  }
}
