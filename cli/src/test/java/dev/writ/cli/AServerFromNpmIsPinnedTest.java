package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@code npx} would fetch at every start is fetched once, and stays as it was approved. npm is
 * stood in for by a script of ours: with npm itself, {@code PublicServersSuite} does the same.
 */
class AServerFromNpmIsPinnedTest {
  @TempDir Path dir;

  private final ConcurrentSkipListMap<String, byte[]> packages = new ConcurrentSkipListMap<>();
  private HttpServer registry;
  private String home;
  private String path = links().toString();

  @BeforeEach
  void start() throws IOException {
    registry = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    registry.createContext(
        "/",
        exchange -> {
          byte[] found = packages.get(exchange.getRequestURI().getPath().substring(1));
          byte[] body = found == null ? new byte[0] : found;
          exchange.sendResponseHeaders(
              found == null ? 404 : 200, body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    registry.start();
    link("node", Path.of("/usr/bin/node"));
    link("npm", Project.root().resolve("cli/src/test/resources/dev/writ/cli/npm/bin/npm-cli.js"));
    home = dir.resolve("home").toString();
    assertThat(Run.of("init", "--home", home).status()).isZero();
  }

  private static Path links() {
    return Project.root().resolve("cli/target/npm-links");
  }

  private static void link(String name, Path target) throws IOException {
    Files.createDirectories(links());
    Files.deleteIfExists(links().resolve(name));
    Files.createSymbolicLink(links().resolve(name), target);
  }

  @AfterEach
  void stop() {
    registry.stop(0);
  }

  private Run writ(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    int at = all.indexOf("--");
    all.addAll(at < 0 ? all.size() : at, List.of("--home", home));
    return Run.in(
        Map.of(
            "PATH",
            path,
            "HOME",
            dir.toString(),
            "npm_config_registry",
            "http://127.0.0.1:" + registry.getAddress().getPort()),
        all.toArray(String[]::new));
  }

  private Run added(String... command) {
    List<String> words = new ArrayList<>(List.of("mcp", "add", "greeter", "--"));
    words.addAll(List.of(command));
    return writ(words.toArray(String[]::new));
  }

  private void activate() {
    Run activated = writ("policy", "activate", home + "/policy.yaml");
    assertThat(activated.status()).as(activated.err()).isZero();
  }

  private Run call() {
    return writ("run", "greeter/greet", "--param", "name=Ann");
  }

  /** A package whose program greets by a word. */
  private void publish(String version, String word) throws IOException {
    publish(
        version,
        JsonValue.object()
            .put("package.json", "{\"bin\":{\"greeter\":\"dist/index.js\"}}")
            .put("dist/index.js", server(word))
            .build(),
        false);
  }

  private void publish(String version, JsonValue.Obj files, boolean scripts) {
    packages.put(
        "@acme/greeter",
        Jcs.write(
            JsonValue.object()
                .put("version", version)
                .put("integrity", "sha512-" + version)
                .put("scripts", JsonValue.of(scripts))
                .put("files", files)
                .build()));
  }

  private static String server(String word) throws IOException {
    return Files.readString(
            Project.root().resolve("cli/src/test/resources/dev/writ/cli/npm/greeter.js"))
        .replace("GREETING", word);
  }

  @Test
  void whatRunsIsWhatWasApprovedUntilARefreshIsApproved() throws IOException {
    publish("1.0.0", "Hello");
    Run added = added("npx", "-y", "@acme/greeter", "--loud");
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.out()).contains("from npm: @acme/greeter 1.0.0", "sha512-1.0.0");
    activate();
    assertThat(call().out()).contains("Hello, Ann, --loud");

    publish("1.1.0", "Goodbye");
    assertThat(call().out()).as("a newer one is there").contains("Hello, Ann");
    assertThat(writ("mcp", "test", "greeter").out()).contains("as approved");
    Run seen = writ("mcp", "refresh", "greeter");
    assertThat(seen.status()).isEqualTo(1);
    assertThat(seen.out())
        .contains("- @acme/greeter 1.0.0", "+ @acme/greeter 1.1.0", "Says Goodbye");
    assertThat(call().out()).as("only looked at").contains("Hello, Ann");

    assertThat(writ("mcp", "refresh", "greeter", "--approve").status()).isZero();
    assertThat(call().out()).as("not in force yet").contains("Hello, Ann");
    activate();
    registry.stop(0);
    assertThat(call().out()).as("without a network").contains("Goodbye, Ann, --loud");
    assertThat(writ("mcp", "show", "greeter", "--json").out())
        .contains("\"asked\":[\"npx\",\"-y\",\"@acme/greeter\",\"--loud\"]");
    assertThat(writ("mcp", "refresh", "greeter").err()).contains("TOL-292");
    assertThat(writ("audit").status()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "TOL-291, {}, no such package",
    "TOL-293, {\"broken\":true}, other bytes",
    "TOL-294, {\"garbage\":true}, no answer of npm",
    "TOL-297, {\"package.json\":\"{}\"}, no program",
    "TOL-294, {\"package.json\":\"nothing\"}, no description",
    "TOL-297, '{\"package.json\":\"{\\\"bin\\\":{\\\"a\\\":\\\"a\\\",\\\"b\\\":\\\"b\\\"}}\"}', two"
        + " programs",
    "TOL-297, '{\"package.json\":\"{\\\"bin\\\":\\\"../../../../etc/x\\\"}\"}', a program"
        + " elsewhere",
    "TOL-297, '{\"package.json\":\"{\\\"bin\\\":\\\"a\\\"}\",\"a\":\"#!/bin/sh\\nid\"}', a shell"
        + " script",
    "TOL-297, '{\"package.json\":\"{\\\"bin\\\":\\\"gone.js\\\"}\"}', a file that is not there",
  })
  void whatCannotBeInstalledIsRefusedAndNothingIsAdded(String code, String files, String why) {
    JsonValue.Obj told = (JsonValue.Obj) Jcs.parse(files.getBytes());
    if (told.get("broken") != null || told.get("garbage") != null) {
      packages.put("@acme/greeter", Jcs.write(told));
    } else if (!told.members().isEmpty()) {
      publish("1.0.0", told, false);
    }
    Run added = added("npx", "-y", "@acme/greeter");
    assertThat(added.status()).isNotZero();
    assertThat(added.err()).as(why).contains(code);
    assertThat(writ("mcp", "list").out()).doesNotContain("greeter");
  }

  @Test
  void aServerThatNeedsItsInstallScriptSaysSo() {
    publish(
        "1.0.0",
        JsonValue.object()
            .put("package.json", "{\"bin\":\"index.js\"}")
            .put("index.js", "require('./built.node')")
            .build(),
        true);
    assertThat(added("npx", "-y", "@acme/greeter").err())
        .contains("TOL-295", "@acme/greeter", "Cannot find module");
  }

  @Test
  void withoutNodeNothingIsTried() {
    path = dir.toString();
    assertThat(added("npx", "-y", "@acme/greeter").err()).contains("TOL-290", "node");
  }

  @ParameterizedTest
  @CsvSource({
    "uvx mcp-server-git, pip install --target",
    "docker run -i --rm mcp/x, --code",
    "npx -c id, option -c",
    "npx -y github:acme/greeter, no name@version",
    "npx -y ../greeter, no name@version",
    "npx -y -p one -p two three, several",
    "npx -y, without a program",
  })
  void whatWouldRunOtherCodeEachTimeIsRefused(String command, String told) {
    assertThat(added(command.split(" ")).err()).contains("TOL-296", told);
  }

  @Test
  void aFolderThatTheServerWouldNotSeeIsNamedBeforeItIsStarted() throws IOException {
    Path project = Files.createDirectories(Project.root().resolve("cli/target/a-server/src"));
    Path script = Files.writeString(project.resolve("index.js"), server("Hello"));
    Files.writeString(project.resolveSibling("package.json"), "{}");
    assertThat(added("python3", "-c", "pass", project.toString()).err())
        .contains("TOL-299", "--read " + project);
    assertThat(added("node", script.toString()).err())
        .contains("TOL-296", "--code " + project.getParent() + ",");
    Run added =
        writ(
            "mcp",
            "add",
            "greeter",
            "--code",
            project.getParent().toString(),
            "--",
            "node",
            script.toString());
    assertThat(added.status()).as(added.err()).isZero();
    activate();
    Files.writeString(script, server("Changed"));
    assertThat(call().out()).as("the code that was added").contains("Hello, Ann");
  }
}
