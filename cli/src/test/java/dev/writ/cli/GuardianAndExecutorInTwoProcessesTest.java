package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.fixture.Await;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.TestTls;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A guardian and an executor in two processes, from the shell (spec/apart.md). The effects are
 * calls of a server that is neither, and counts them.
 */
class GuardianAndExecutorInTwoProcessesTest {
  private static final Path ROOT = Path.of(System.getProperty("writ.root", ".."));
  private static final String TOKEN = "tok3n-of-the-petstore";

  @TempDir Path dir;
  private final List<Process> processes = new ArrayList<>();

  /** How often each name was posted. */
  private final ConcurrentSkipListMap<String, Integer> posted = new ConcurrentSkipListMap<>();

  private Path guardian;
  private Path executor;
  private Path sandboxes;
  private HttpsServer server;
  private volatile CountDownLatch arrived = new CountDownLatch(0);
  private volatile CountDownLatch answers = new CountDownLatch(0);
  private int port;
  private String address;

  @BeforeEach
  void installation() throws IOException {
    guardian = dir.resolve("guardian");
    executor = dir.resolve("executor");
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "apart");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    TestTls tls = TestTls.forNames("localhost");
    Files.write(dir.resolve("ca.pem"), tls.authority());
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls.server()));
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
    ok(guardian, "init");
    petstore();
    ok(executor, "executor", "init");
    String said =
        ok(
            guardian,
            "executor",
            "enrol",
            executor.resolve("executor.json").toString(),
            "--secret",
            executor.resolve("executor.secret").toString(),
            "-o",
            dir.resolve("guardian.apart").toString());
    String operator =
        said.lines().filter(l -> l.startsWith("operator")).findFirst().orElseThrow().split(" +")[1];
    String file = dir.resolve("guardian.apart").toString();
    Run foreign = run(executor, "executor", "join", file, "--operator", "somebody");
    assertThat(foreign.status()).isEqualTo(ExitCode.USAGE.status());
    ok(executor, "executor", "join", file, "--operator", operator);
    ok(executor, "tool", "register", dir.resolve("petstore.tool").toString());
    Run put = on(executor, TOKEN + "\n", "secret", "put", "petstore_token");
    assertThat(put.status()).as(put.err()).isZero();
    serveExecutor(0);
  }

  @AfterEach
  void end() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
    server.stop(0);
    Trees.remove(sandboxes);
  }

  private void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    posted.merge(body, 1, Integer::sum);
    arrived.countDown();
    try {
      answers.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    byte[] answer = "{\"id\":\"1\",\"name\":\"Rex\"}".getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(201, answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  /** Registers the tool with the guardian, and has policy approve it. */
  private void petstore() throws IOException {
    String at = "localhost:" + server.getAddress().getPort();
    String project = dir.resolve("petstore").toString();
    String tool = dir.resolve("petstore.tool").toString();
    ok(guardian, "key", "new", "publisher", "--role", "publisher");
    String document = ROOT.resolve("examples/openapi/petstore.yaml").toString();
    ok(guardian, "tool", "import", document, "-o", project, "--server", "https://" + at + "/v1");
    ok(guardian, "tool", "package", project, "--out", tool);
    ok(guardian, "tool", "sign", tool);
    Matcher line =
        Pattern.compile("- \\{ name: petstore,.*}").matcher(ok(guardian, "tool", "register", tool));
    assertThat(line.find()).isTrue();
    Path policy = guardian.resolve("policy.yaml");
    String text = Files.readString(policy);
    Files.writeString(
        policy,
        text.replaceFirst("version: [0-9]+\n", "version: 2\n")
                .replace("web_browser, word-count]", "web_browser, word-count, petstore]")
                .replace("    network: []", "    network: [\"" + at + "\"]")
                .replace("\nbudgets:\n", "  " + line.group() + "\n\nbudgets:\n")
            + "  - effect: { tool: petstore }\n    require:\n      cel: \"true\"\n"
            + "\nsecrets:\n  - { name: petstore_token, match: { tenant: "
            + text.replaceFirst("(?s).*tenant: ([^,]+),.*", "$1")
            + ", tool: petstore } }\n");
    ok(guardian, "policy", "activate", policy.toString());
  }

  private String ok(Path home, String... args) {
    Run run = run(home, args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run.out();
  }

  private Run run(Path home, String... args) {
    return on(home, "", args);
  }

  private Run on(Path home, String input, String... args) {
    return Run.on(
        input,
        "",
        environment(),
        Commands.ALL,
        Stream.concat(Stream.of("--home", home.toString()), Stream.of(args))
            .toArray(String[]::new));
  }

  private Map<String, String> environment() {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    environment.put("WRIT_EGRESS_CA", dir.resolve("ca.pem").toString());
    environment.put("WRIT_EGRESS_PRIVATE", "localhost:" + server.getAddress().getPort());
    return environment;
  }

  private Process start(String log, String... args) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(OwnProcess.writ(args));
    builder.environment().putAll(environment());
    Process process = builder.redirectError(dir.resolve(log + ".log").toFile()).start();
    processes.add(process);
    return process;
  }

  private String url(Process process, String log) throws IOException {
    String line = process.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(line).as(Files.readString(dir.resolve(log + ".log"))).isNotNull();
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Str) said.get("url")).value();
  }

  private Process serveExecutor(int at) throws IOException {
    Process process =
        start(
            "executor",
            "--home",
            executor.toString(),
            "executor",
            "serve",
            "--json",
            "--port",
            Integer.toString(at));
    String url = url(process, "executor");
    port = Integer.parseInt(url.substring(url.lastIndexOf(':') + 1));
    Files.writeString(
        guardian.resolve("gateway.yaml"),
        "writ_gateway: 1\nwarm_up_s: 0\nexecutor: { address: \"127.0.0.1:"
            + port
            + "\", patience_ms: 500 }\n");
    return process;
  }

  private Process serveGuardian() throws IOException {
    Process process =
        start("guardian", "--home", guardian.toString(), "serve", "--json", "--port", "0");
    address = url(process, "guardian");
    return process;
  }

  /** What the guardian's server says of whether it is ready. */
  private String ready() {
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(
              HttpRequest.newBuilder(URI.create(address + "/ready")).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theGuardianIsReadyAsLongAsItsExecutorAnswers() throws Exception {
    serveGuardian();
    Await.until(() -> ready().endsWith("\"ready\":true}"));
    assertThat(ready())
        .as("no tool runs here, so nothing is confined here")
        .contains("{\"name\":\"executor\",\"ok\":true}")
        .doesNotContain("sandbox");
    processes.getFirst().destroyForcibly().waitFor();
    Await.until(() -> ready().endsWith("\"ready\":false}"));
    assertThat(ready()).contains("{\"name\":\"executor\",\"ok\":false,\"why\":\"EXE-930\"}");
    assertThat(Files.readString(dir.resolve("guardian.log")))
        .contains("\"event\":\"executor-not-seen\"")
        .doesNotContain("TOL-031");
  }

  private static String[] post(String name) {
    return new String[] {
      "run",
      "petstore/addPet",
      "--json",
      "--run",
      "pets",
      "--key",
      name,
      "--param-json",
      "body={\"name\":\"" + name + "\"}"
    };
  }

  @Test
  void anAgentsCallIsJudgedInOneProcessAndDoneInTheOther() throws Exception {
    assertThat(guardian.resolve("keys/executor.pem")).doesNotExist();
    try (Stream<Path> keys = Files.list(executor.resolve("keys"))) {
      assertThat(keys.map(f -> f.getFileName().toString()).sorted())
          .containsExactly("executor.pem", "log.pem", "witness.pem");
    }
    Run alone = run(guardian, "run", "js", "--param", "source=6*7");
    assertThat(alone.out() + alone.err()).contains("EXE-938");
    Process serving = serveGuardian();
    assertThat(ok(guardian, "run", "js", "--run", "main", "--param", "source=6*7")).contains("42");
    ok(guardian, post("Rex"));
    assertThat(posted).hasSize(1);
    assertThat(serving.descendants().toList()).isEmpty();
    ok(guardian, "close", "main");
    String bundle = dir.resolve("main.writ").toString();
    ok(guardian, "export", "main", "-o", bundle);
    String trust = guardian.resolve("trust.jwks").toString();
    ok(guardian, "verify", bundle, "--trust", trust);
    assertThat(ok(guardian, "replay", bundle, "--trust", trust)).startsWith("COMPLETE");
    assertThat(ok(executor, "receipts")).contains("js");
    Run elsewhere = run(guardian, "key", "rotate", "executor");
    assertThat(elsewhere.out() + elsewhere.err()).contains("EXE-938");
    assertThat(guardian.resolve("keys/executor.pem")).doesNotExist();
    assertThat(run(executor, "key", "rotate", "log").err()).contains("EXE-938");
    serving.destroyForcibly().waitFor();
    serving = serveGuardian(); // at its start each cosigns what the other has by now
    cosignedByBoth(bundle, trust);
    assertThat(ok(guardian, "executor", "compare", executor.toString()))
        .contains("in both logs: receipts 2, runs 2,");
    String cosigned = Files.readString(guardian.resolve("cosigned.txt"));
    ok(guardian, "key", "rotate", "log");
    serving.destroyForcibly().waitFor();
    serving = serveGuardian();
    assertThat(Files.readString(guardian.resolve("cosigned.txt")))
        .as("under the log's next key")
        .isNotEqualTo(cosigned)
        .contains("/witness ");
    serving.destroyForcibly().waitFor();
    ok(guardian, "audit");
    ok(executor, "fsck");
  }

  /** The executor's witness saw the guardian's log with the run, and the other way round. */
  private void cosignedByBoth(String bundle, String trust) throws IOException {
    String witness = witness(executor.resolve("executor.json"));
    String cosigned = guardian.resolve("cosigned.txt").toString();
    String seen = dir.resolve("seen.writ").toString();
    ok(guardian, "export", "main", "--checkpoint", cosigned, "-o", seen);
    assertThat(
            ok(
                guardian,
                "verify",
                seen,
                "--trust",
                trust,
                "--checkpoint",
                cosigned,
                "--witness",
                witness))
        .contains("saw the log");
    assertThat(bundle).isNotEqualTo(seen);
    assertThat(Files.readString(executor.resolve("cosigned.txt"))).contains("/witness ");
  }

  private static String witness(Path card) throws IOException {
    JsonValue.Obj said = (JsonValue.Obj) Jcs.parse(Files.readAllBytes(card));
    return ((JsonValue.Str) said.get("witness")).value();
  }

  @Test
  void anMcpClientNoticesNothing() throws Exception {
    serveGuardian();
    List<String> command = OwnProcess.writ("--home", guardian.toString(), "mcp");
    McpSyncClient client =
        McpClient.sync(
                new StdioClientTransport(
                    ServerParameters.builder(command.getFirst())
                        .args(command.subList(1, command.size()))
                        .build(),
                    McpJsonDefaults.getMapper()))
            .requestTimeout(Duration.ofSeconds(60))
            .initializationTimeout(Duration.ofSeconds(60))
            .build();
    try {
      client.initialize();
      assertThat(client.listTools().tools()).extracting(t -> t.name()).contains("js");
      assertThat(call(client, "js", "source", "6*7")).isEqualTo("42");
      assertThat(call(client, "js", "source", " ".repeat(20_001))).startsWith("DENIED GRD-102");
    } finally {
      client.closeGracefully();
    }
    assertThat(ok(guardian, "executor", "compare", executor.toString()))
        .contains("in both logs: receipts 1, runs 1,");
  }

  private static String call(McpSyncClient client, String tool, String key, String value) {
    CallToolResult result =
        client.callTool(
            CallToolRequest.builder(tool).arguments(Map.<String, Object>of(key, value)).build());
    return ((TextContent) result.content().getFirst()).text();
  }

  @Test
  void whoeverIsKilledNothingIsDoneTwice() throws Exception {
    Process there = processes.getLast();
    Process here = serveGuardian();
    List<String> names = new ArrayList<>();
    for (int round = 0; round < 6; round++) {
      String name = "pet-" + round;
      names.add(name);
      boolean answered = round >= 4;
      arrived = new CountDownLatch(1);
      answers = new CountDownLatch(answered ? 0 : 1);
      Thread caller = Thread.ofVirtual().start(() -> run(guardian, post(name)));
      arrived.await(); // the effect has happened
      if (round % 2 == 0) {
        there.destroyForcibly().waitFor();
        answers.countDown();
        there = serveExecutor(port);
      } else {
        here.destroyForcibly().waitFor();
        answers.countDown();
        here = serveGuardian();
      }
      caller.join();
      Run again = run(guardian, post(name));
      assertThat(again.out()).as(again.err()).containsAnyOf("succeeded", "in_doubt");
    }
    assertThat(posted.values()).as(posted.toString()).hasSize(names.size()).containsOnly(1);
    assertThat(ok(guardian, "executor", "compare", executor.toString()))
        .contains("in both logs: receipts " + names.size() + ", runs 1,", "awaited: receipts 0");
    here.destroyForcibly().waitFor();
    ok(guardian, "audit");
  }

  @Test
  void whatOneLogHasAndTheOtherHasNotIsNamed() throws Exception {
    Process here = serveGuardian();
    ok(guardian, post("first"));
    Path before = dir.resolve("before");
    copy(executor, before);
    ok(guardian, post("second"));
    here.destroyForcibly().waitFor();
    Run compared = run(guardian, "executor", "compare", before.toString());
    assertThat(compared.err()).contains("CLI-107", "receipt 2 is", "none in the executor's");
    assertThat(compared.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path each : all.toList()) {
        Files.copy(each, to.resolve(from.relativize(each).toString()));
      }
    }
  }
}
