package dev.writ.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** clients/table.json, played by the client in each language against one server. */
class EachClientDoesWhatTheTableSaysTest {
  @TempDir static Path dir;
  private static ClientsServer server;
  private static FaultyProxy proxy;

  @BeforeAll
  static void start() throws Exception {
    server = new ClientsServer(dir);
    proxy = new FaultyProxy(server.url, server.another());
  }

  @AfterAll
  static void stop() throws Exception {
    proxy.close();
    server.close();
  }

  private static Path clients() {
    return Project.root().resolve("clients");
  }

  @Test
  void inPythonWithThreads() throws Exception {
    python("python-threads");
  }

  @Test
  void inPythonWithAsyncio() throws Exception {
    python("python-asyncio", "--async");
  }

  private static void python(String prefix, String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("/usr/bin/python3", clients().resolve("python/test/drive.py").toString()));
    command.addAll(List.of(options));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("PYTHONPATH", clients().resolve("python/src").toString());
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    played(prefix, builder);
  }

  /** As its users have it: the package, installed in a folder that has nothing else. */
  @Test
  void inJavaScript() throws Exception {
    Path folder = Files.createDirectories(dir.resolve("javascript"));
    Path installed = Files.createDirectories(folder.resolve("node_modules/writ-client"));
    Path packed =
        Path.of(output(clients().resolve("js/pack").toString(), folder.toString()).strip());
    output("tar", "-xzf", packed.toString(), "--strip-components=1", "-C", installed.toString());
    Path program = Files.copy(clients().resolve("js/test/drive.mjs"), folder.resolve("drive.mjs"));
    played("javascript", new ProcessBuilder("node", "--no-warnings", program.toString()));
  }

  private static String output(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  private static void played(String prefix, ProcessBuilder builder) throws Exception {
    Path table = clients().resolve("table.json");
    Path errors = dir.resolve(prefix + ".err");
    Process process = builder.redirectError(errors.toFile()).start();
    process.getOutputStream().write(server.place(prefix, proxy, table).getBytes());
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(Files.readString(errors)).isZero();
    compare(table, said.lines().map(ClientsServer::object).toList());
  }

  /** Each step's line, in the order of the table. */
  private static void compare(Path table, List<JsonValue.Obj> lines) throws Exception {
    JsonValue.Obj whole = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(table));
    int next = 0;
    List<String> wrong = new ArrayList<>();
    for (JsonValue item : ((JsonValue.Arr) whole.get("cases")).items()) {
      JsonValue.Obj played = (JsonValue.Obj) item;
      TreeMap<String, JsonValue> receipts = new TreeMap<>();
      for (JsonValue each : ((JsonValue.Arr) played.get("steps")).items()) {
        JsonValue.Obj step = (JsonValue.Obj) each;
        JsonValue.Obj line = lines.get(next++);
        if (!fits(step, line, receipts)) {
          wrong.add(ClientsServer.text(played, "name") + "\n  " + show(step) + "\n  " + show(line));
        }
      }
    }
    assertThat(wrong).as(String.join("\n", wrong)).isEmpty();
    assertThat(lines).hasSize(next);
  }

  private static boolean fits(
      JsonValue.Obj step, JsonValue.Obj line, TreeMap<String, JsonValue> receipts) {
    if (step.get("fails") != null || line.get("fails") != null) {
      return step.get("fails") != null && step.get("fails").equals(line.get("fails"));
    }
    JsonValue.Obj told = (JsonValue.Obj) line.get("told");
    if (step.get("as") instanceof JsonValue.Str name && told.get("receipt") != null) {
      receipts.put(name.value(), told.get("receipt"));
    }
    boolean same =
        !(step.get("same_receipt_as") instanceof JsonValue.Str name)
            || told.get("receipt").equals(receipts.get(name.value()));
    return same
        && (!(step.get("expect") instanceof JsonValue.Obj expected)
            || expected.members().entrySet().stream()
                .allMatch(e -> e.getValue().equals(told.get(e.getKey()))));
  }

  private static String show(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
