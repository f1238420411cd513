package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.cli.base.ExitCode;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.TestTls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From somebody's OpenAPI document to a governed call of their server, its receipt and replay. */
class AnHttpApiIsImportedAndCalledTest {
  private static final String TOKEN = "tok3n-of-the-petstore";
  private static final Path ROOT = Path.of(System.getProperty("writ.root", ".."));
  private static final String DOCUMENT = "examples/openapi/petstore.yaml";

  @TempDir Path dir;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private Path sandboxes;
  private HttpsServer server;
  private volatile boolean dies;
  private volatile String key;

  @BeforeEach
  void open() throws IOException {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    TestTls tls = TestTls.forNames("localhost");
    Files.write(dir.resolve("ca.pem"), tls.authority());
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(tls.server()));
    server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    server.createContext("/", this::answer);
    server.start();
    done("init");
    done("key", "new", "publisher", "--role", "publisher");
  }

  @AfterEach
  void close() {
    server.stop(0);
    Trees.remove(sandboxes);
  }

  private int port() {
    return server.getAddress().getPort();
  }

  /** Tells the token, as careless servers do. */
  private void answer(HttpExchange exchange) throws IOException {
    asked.add(
        exchange.getRequestMethod()
            + " "
            + exchange.getRequestURI()
            + " "
            + exchange.getRequestHeaders().getFirst("Authorization"));
    key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
    exchange.getRequestBody().readAllBytes();
    if (dies) {
      exchange.close();
      return;
    }
    byte[] body =
        ("{\"id\":\"1\",\"name\":\"Rex\",\"you\":\""
                + exchange.getRequestHeaders().getFirst("Authorization")
                + "\"}")
            .getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(
        exchange.getRequestMethod().equals("GET") ? 200 : 201, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private Run writ(String... args) {
    return piped("", args);
  }

  private Run piped(String input, String... args) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    environment.put("WRIT_EGRESS_CA", dir.resolve("ca.pem").toString());
    environment.put("WRIT_EGRESS_PRIVATE", "localhost:" + port());
    return Run.on(input, "", environment, Commands.ALL, args);
  }

  private Run done(String... args) {
    Run run = writ(args);
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    return run;
  }

  private String project() {
    return dir.resolve("petstore").toString();
  }

  /** The arguments of the README's command that begins so, for this test's folders. */
  private String[] readme(String begins) throws IOException {
    String line =
        Files.readString(ROOT.resolve("README.md"))
            .lines()
            .filter(l -> l.startsWith("./writ " + begins))
            .findFirst()
            .orElseThrow();
    return Stream.of(line.replaceFirst("#.*", "").replaceFirst("<.*", "").strip().split(" +"))
        .skip(1)
        .map(word ->
            switch (word) {
              case "petstore" -> project();
              case "petstore-1.0.0.tool" -> dir.resolve(word).toString();
              case DOCUMENT -> ROOT.resolve(DOCUMENT).toString();
              case "writ-data/policy.yaml" -> dir.resolve("home/policy.yaml").toString();
              default -> word;
            })
        .toArray(String[]::new);
  }

  private static String[] with(String[] command, String... more) {
    return Stream.concat(Stream.of(command), Stream.of(more)).toArray(String[]::new);
  }

  /** Imports, signs and registers it, as the README says; returns policy's line for it. */
  private String registered() throws IOException {
    Path local = dir.resolve("local.yaml");
    Files.writeString(
        local,
        Files.readString(ROOT.resolve(DOCUMENT)).replace("petstore.example", "localhost:8443"));
    Run foreign = writ("tool", "import", local.toString(), "-o", project());
    assertThat(foreign.err()).as("its localhost is not ours").contains("TOL-251", "line 5");
    assertThat(dir.resolve("petstore")).doesNotExist();
    String here = "https://localhost:" + port() + "/v1";
    Run imported = done(with(readme("tool import"), "--server", here));
    assertThat(imported.out()).contains("2 operations");
    assertThat(imported.err()).contains("`format` is not checked here");
    assertThat(writ(readme("tool import")).err()).as("it is there").contains("TOL-209");
    assertThat(
            Files.readString(dir.resolve("petstore/tool.manifest"))
                .replace(here, "https://petstore.example/v1"))
        .as("the example is what is made of the document")
        .isEqualTo(Files.readString(ROOT.resolve("examples/tools/petstore/tool.manifest")));
    assertThat(done(readme("tool lint petstore")).out()).contains("Nothing");
    done(
        with(
            readme("tool package petstore"),
            "--out",
            dir.resolve("petstore-1.0.0.tool").toString()));
    done(readme("tool sign petstore"));
    String told = done(readme("tool register petstore")).out();
    assertThat(told)
        .contains(
            "In its `sandboxes`: http",
            "In its `network`: \"localhost:" + port() + "\"",
            "name: petstore_token");
    Matcher line = Pattern.compile("- \\{ name: petstore,.*}").matcher(told);
    assertThat(line.find()).isTrue();
    return line.group();
  }

  private void approve(String line, boolean secret) throws IOException {
    Path policy = dir.resolve("home/policy.yaml");
    String text = Files.readString(policy);
    String tenant = text.replaceFirst("(?s).*tenant: ([^,]+),.*", "$1");
    Files.writeString(
        policy,
        text.replaceFirst("version: [0-9]+\n", secret ? "version: 3\n" : "version: 2\n")
                .replace("web_browser, word-count]", "web_browser, word-count, petstore]")
                .replace("    network: []", "    network: [\"localhost:" + port() + "\"]")
                .replace(
                    "\nbudgets:\n",
                    text.contains(line) ? "\nbudgets:\n" : "  " + line + "\n\nbudgets:\n")
            + (secret
                ? "\nsecrets:\n  - { name: petstore_token, match: { tenant: "
                    + tenant
                    + ", tool: petstore } }\n"
                : "  - effect: { tool: petstore }\n    require:\n      cel: \"true\"\n"));
    done(readme("policy activate"));
  }

  @Test
  void fromADocumentToAReceiptAndItsReplay() throws IOException {
    String line = registered();
    assertThat(writ("run", "petstore/getPetById", "--param", "id=1").err() + "").contains("GRD-");
    approve(line, false);
    Run ungranted = writ("run", "petstore/getPetById", "--param", "id=1");
    assertThat(ungranted.out() + ungranted.err()).contains("GRD-412");
    approve(line, true);
    assertThat(asked).as("nothing left before policy let it").isEmpty();
    assertThat(piped(TOKEN + "\n", readme("secret put petstore")).status()).isZero();

    Run found = done(with(readme("run petstore/"), "--json"));
    assertThat(found.out())
        .contains(
            "\"body\":{\"id\":\"1\",\"name\":\"Rex\",\"you\":\"Bearer [secret]\"}",
            "\"status\":200");
    assertThat(asked).containsExactly("GET /v1/pets/1 Bearer " + TOKEN);

    Run unfit = writ("run", "petstore/addPet", "--param-json", "body={}");
    assertThat(unfit.out() + unfit.err()).contains("GRD-403");
    Run up = writ("run", "petstore/getPetById", "--param", "id=../admin");
    assertThat(up.out() + up.err()).contains("TOL-252");
    assertThat(asked).hasSize(1);

    dies = true;
    Run lost = writ("run", "petstore/addPet", "--param-json", "body={\"name\":\"Rex\"}", "--json");
    assertThat(lost.out())
        .contains("\"status\":\"in_doubt\"")
        .contains("POST was sent to localhost:" + port());
    assertThat(lost.status()).isNotEqualTo(ExitCode.OK.status());
    assertThat(asked).as("it is not sent again").hasSize(2);
    assertThat(lost.out())
        .as("the receipt names the key by which its owner can ask the server")
        .contains("\"intent\":\"sha256:" + key + "\"");
    dies = false;

    assertThat(writ("close", "main").err()).as("a doubt keeps the run open").contains("EXE-903");
    done("checkpoint");
    done("audit");
    String file = dir.resolve("main.writ").toString();
    done("export", "main", "-o", file);
    Run replayed = writ("replay", file, "--trust", dir.resolve("home/trust.jwks").toString());
    assertThat(replayed.out()).startsWith("COMPLETE");
    assertThat(asked).as("a replay sends nothing").hasSize(2);
    requireNowhere();
    isResolved(id(lost, "request"), id(lost, "receipt_id"));
    assertThat(asked).as("a resolution sends nothing").hasSize(2);
  }

  private static String id(Run run, String name) {
    return run.out().replaceAll("(?s).*\"" + name + "\":\"(sha256:[0-9a-f]{64})\".*", "$1");
  }

  /** Whoever looks at an effect in doubt is told how to end the doubt, and then how it ended. */
  private void isResolved(String request, String receipt) throws IOException {
    assertThat(writ("submit", request).err())
        .contains("next: find out", " resolve " + receipt.substring(7, 19) + " happened|");
    assertThat(done("log").out()).contains(" in doubt ");
    done("resolve", receipt, "happened", "--note", "asked its owner");
    assertThat(writ("submit", request).err())
        .contains("\n  resolved happened: asked its owner\n")
        .doesNotContain("next: ");
    assertThat(done("log").out()).contains(" resolved ").doesNotContain(" in doubt ");
    done("close", "main");
  }

  /** The token is in no file of the installation but the secret's own. */
  private void requireNowhere() throws IOException {
    try (Stream<Path> files = Files.walk(dir)) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        if (!path.toString().contains("secrets")) {
          String bytes = Files.readString(path, StandardCharsets.ISO_8859_1);
          assertThat(bytes.contains(TOKEN)).as(path.toString()).isFalse();
        }
      }
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }
}
