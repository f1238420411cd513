package dev.writ.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.langchain4j.model.chat.ChatModel;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import dev.writ.client.GovernedFunction;
import dev.writ.client.WritClient;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.ai.tool.ToolCallback;

/** clients/table.json, played by the client in each language against one server. */
class EachClientDoesWhatTheTableSaysTest {
  @TempDir static Path dir;
  private static ClientsServer server;
  private static FaultyProxy proxy;
  private static InstalledPackages packages;

  @BeforeAll
  static void start() throws Exception {
    server = new ClientsServer(dir);
    proxy = new FaultyProxy(server.url, server.another());
    packages = InstalledPackages.in(dir, clients());
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
  void inJava() throws Exception {
    Path table = clients().resolve("table.json");
    JsonValue.Obj place = ClientsServer.object(server.place("java", proxy, table));
    compare(table, JavaPlayer.play(place, table));
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
            List.of(
                packages.python().toString(),
                clients().resolve("python/test/drive.py").toString()));
    command.addAll(List.of(options));
    played(prefix, new ProcessBuilder(command));
  }

  @Test
  void inJavaScript() throws Exception {
    Path program =
        Files.copy(
            clients().resolve("js/test/drive.mjs"), packages.javascript().resolve("drive.mjs"));
    played("javascript", new ProcessBuilder("node", "--no-warnings", program.toString()));
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

  /** Canonical JSON, digests and the checks of envelopes, also those that must fail. */
  @Test
  void theGoldenVectorsHoldInPythonAndInJavaScript() throws Exception {
    String vectors = Project.root().resolve("golden-vectors").toString();
    String python = clients().resolve("python/test/vectors.py").toString();
    assertThat(
            InstalledPackages.output(
                new ProcessBuilder(packages.python().toString(), python, vectors)))
        .containsPattern("\"canonicalize\": 1[0-9]{2}.*\"trust.verify\": 1[0-9]{2}");
    Path program =
        Files.copy(
            clients().resolve("js/test/vectors.mjs"), packages.javascript().resolve("vectors.mjs"));
    assertThat(
            InstalledPackages.output(
                new ProcessBuilder("node", "--no-warnings", program.toString(), vectors)))
        .containsPattern("\"trust.verify\":1[0-9]{2}");
  }

  /** Of the values that a program states: here, since the table's are all plain JSON. */
  @Test
  void whatIsNoPlainJsonOrNoNumberOfItsOwnIsRefusedInPythonAndInJavaScript() throws Exception {
    String python = clients().resolve("python/test/values.py").toString();
    assertThat(InstalledPackages.output(new ProcessBuilder(packages.python().toString(), python)))
        .isEqualTo("4 refused\n");
    Path program =
        Files.copy(
            clients().resolve("js/test/values.mjs"), packages.javascript().resolve("values.mjs"));
    assertThat(
            InstalledPackages.output(
                new ProcessBuilder("node", "--no-warnings", program.toString())))
        .isEqualTo("12 refused\n");
  }

  @Test
  void aConnectionThatTheServerEndedIsNotTakenInPython() throws Exception {
    String python = clients().resolve("python/test/connections.py").toString();
    assertThat(InstalledPackages.output(new ProcessBuilder(packages.python().toString(), python)))
        .isEqualTo("kept and ended\n");
  }

  @Test
  void whatNoWritSaidIsNoAnswerInJavaScript() throws Exception {
    Path program =
        Files.copy(
            clients().resolve("js/test/connections.mjs"),
            packages.javascript().resolve("connections.mjs"));
    assertThat(
            InstalledPackages.output(
                new ProcessBuilder("node", "--no-warnings", "--expose-gc", program.toString())))
        .isEqualTo("no strangers\n");
  }

  /** The programs of the READMEs, with this server in the place of theirs. */
  @Test
  void theProgramsOfTheReadmesRun() throws Exception {
    String python = program("python/README.md", "python");
    Path file = Files.writeString(dir.resolve("readme.py"), python);
    assertThat(
            InstalledPackages.output(
                new ProcessBuilder(packages.python().toString(), file.toString())))
        .startsWith("ALLOW 42 sha256:");
    Path module =
        Files.writeString(
            packages.javascript().resolve("readme.mjs"), program("js/README.md", "js"));
    assertThat(
            InstalledPackages.output(
                new ProcessBuilder("node", "--no-warnings", module.toString())))
        .startsWith("ALLOW 42 sha256:");
  }

  private static String program(String readme, String language) throws Exception {
    String text = Files.readString(clients().resolve(readme));
    String program = text.split("```" + language + "\n", 2)[1].split("```", 2)[0];
    return program
        .replace("http://127.0.0.1:8181", server.url)
        .replace("writ-ba9a561fe29a", server.origin)
        .replace("trust.jwks", server.home().resolve("trust.jwks").toString())
        .replace("agent.pem", server.home().resolve("keys/agent.pem").toString())
        .replace("'main'", "'readme-" + language + "'")
        .replace("\"main\"", "\"readme-" + language + "\"")
        .replace("task-17", "task-" + language);
  }

  /** What a model is told: the output of what is allowed, why not of the rest. */
  @Test
  void modelsCallFunctionsInPythonAndInJavaScript() throws Exception {
    for (String said :
        List.of(pythonExample("function_calling.py"), javascriptExample("function-calling.mjs"))) {
      assertThat(said)
          .startsWith("42 | DENIED GRD-102: the requirement does not hold")
          .contains("Signed denial: sha256:")
          .endsWith("There is no tool named rm.\n");
    }
  }

  @Test
  void langChainHasToolsInPythonAndInJavaScript() throws Exception {
    for (String said :
        List.of(pythonExample("langchain_tools.py"), javascriptExample("langchain-tools.mjs"))) {
      assertThat(said).startsWith("js 42\nFAILED: failed script-error Error: no such order");
    }
  }

  @Test
  void aFunctionIsGovernedInPythonAndInJavaScript() throws Exception {
    for (String said :
        List.of(
            pythonExample("governed_function.py"), javascriptExample("governed-function.mjs"))) {
      assertThat(said).isEqualTo("refunded 20 of 4711\nGWY-065\nDENY GRD-102\n");
    }
  }

  @Test
  void aFunctionIsGovernedInJava() throws Exception {
    try (WritClient client = server.client()) {
      List<JsonValue> ran = new ArrayList<>();
      GovernedFunction refund =
          GovernedFunction.of(
                  client,
                  "refund",
                  "governed",
                  arguments -> {
                    ran.add(arguments.get("amount"));
                    return JsonValue.of("refunded");
                  })
              .once(arguments -> show(arguments));
      assertThat(refund.apply(amount(20))).isEqualTo(JsonValue.of("refunded"));
      assertThatThrownBy(() -> refund.apply(amount(20))).hasMessageStartingWith("GWY-065");
      assertThatThrownBy(() -> refund.apply(amount(2000)))
          .hasMessageStartingWith("GWY-066")
          .hasMessageContaining("DENY GRD-102");
      assertThat(ran).containsExactly(JsonValue.of(20));
    }
  }

  private static JsonValue.Obj amount(long amount) {
    return JsonValue.object().put("amount", amount).build();
  }

  @Test
  void langChain4jAndSpringAiHaveTools() throws Exception {
    try (WritClient client = server.client()) {
      assertThat(FrameworksExample.langChain4j(client, "langchain4j"))
          .startsWith("42 | DENIED GRD-102: the requirement does not hold");
      assertThat(FrameworksExample.springAi(client, "spring-ai"))
          .startsWith("js true 42 | DENIED GRD-102: the requirement does not hold");
      assertThat(FrameworksExample.unnamed(client, "unnamed")).startsWith("1 2 DENIED GRD-");
    }
  }

  private static String pythonExample(String example) throws Exception {
    Path program = clients().resolve("python/examples").resolve(example);
    return example("python", new ProcessBuilder(packages.python().toString(), program.toString()));
  }

  private static String javascriptExample(String example) throws Exception {
    Path program = packages.javascript().resolve("examples").resolve(example);
    return example("js", new ProcessBuilder("node", "--no-warnings", program.toString()));
  }

  private static String example(String language, ProcessBuilder builder) throws Exception {
    builder.environment().putAll(server.environment(language + "-" + builder.command().getLast()));
    builder.environment().put("PYTHONPATH", clients().resolve("python/test/doubles").toString());
    return InstalledPackages.output(builder);
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

  /** The programs of spec/client.md, but for the place of the server. */
  @Test
  void theManualsJavaProgramsRun() throws Exception {
    Path folder = Files.createDirectory(dir.resolve("manual"));
    Files.copy(server.home().resolve("keys/agent.pem"), folder.resolve("agent.pem"));
    Files.copy(server.home().resolve("trust.jwks"), folder.resolve("trust.jwks"));
    String program =
        ofTheManual("java")
            .replace("http://127.0.0.1:8181", server.url)
            .replace("writ-ba9a561fe29a", server.origin);
    Files.writeString(folder.resolve("Program.java"), program);
    Files.writeString(folder.resolve("Agents.java"), ofTheManual("frameworks"));
    String classPath = System.getProperty("java.class.path");
    for (String each : List.of("Program", "Agents")) {
      String file = folder.resolve(each + ".java").toString();
      assertThat(
              ToolProvider.getSystemJavaCompiler()
                  .run(
                      null,
                      null,
                      null,
                      "-proc:none",
                      "-cp",
                      classPath,
                      "-d",
                      folder.toString(),
                      file))
          .isZero();
    }
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            folder + File.pathSeparator + classPath,
            "Program");
    assertThat(InstalledPackages.output(java.directory(folder.toFile())).strip()).isEqualTo("42");
    try (WritClient client = server.client();
        URLClassLoader loader =
            new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader())) {
      Class<?> agents = loader.loadClass("Agents");
      Object assistant =
          agents
              .getMethod("langChain4j", ChatModel.class, WritClient.class, String.class)
              .invoke(null, new FrameworksExample.Model(), client, "manual-langchain4j");
      Object said =
          loader
              .loadClass("Agents$Assistant")
              .getMethod("chat", String.class)
              .invoke(assistant, "What is six times seven?");
      assertThat(said.toString()).startsWith("42 | DENIED GRD-102");
      ToolCallback[] callbacks =
          (ToolCallback[])
              agents
                  .getMethod("springAi", WritClient.class, String.class)
                  .invoke(null, client, "manual-spring");
      assertThat(callbacks).extracting(c -> c.getToolDefinition().name()).contains("js", "sql");
    }
  }

  private static String ofTheManual(String name) throws IOException {
    String page = Files.readString(Project.root().resolve("spec/client.md"));
    Matcher program =
        Pattern.compile(
                "<!-- " + name + " -->\n```java\n(.*?)```\n<!-- /" + name + " -->", Pattern.DOTALL)
            .matcher(page);
    assertThat(program.find()).as(name).isTrue();
    return program.group(1);
  }
}
