package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private NpmStandIn npm;
  private String home;
  private Map<String, String> environment;

  @BeforeEach
  void start() throws IOException {
    npm = NpmStandIn.start();
    environment = npm.environment(dir);
    home = dir.resolve("home").toString();
    assertThat(Run.of("init", "--home", home).status()).isZero();
  }

  @AfterEach
  void stop() {
    npm.close();
  }

  private Run writ(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    int at = all.indexOf("--");
    all.addAll(at < 0 ? all.size() : at, List.of("--home", home));
    return Run.in(environment, all.toArray(String[]::new));
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

  @Test
  void aShellsLineInOneWordIsToldApart() {
    assertThat(added("npx -y greeter").err())
        .contains("CLI-001", "no program is called \"npx -y greeter\"", "-- npx -y greeter, in a");
  }

  @Test
  void whatRunsIsWhatWasApprovedUntilARefreshIsApproved() throws IOException {
    npm.publish("1.0.0", "Hello");
    Run added = added("npx", "-y", "@acme/greeter", "--loud");
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.out()).contains("from npm: @acme/greeter 1.0.0", "sha512-1.0.0");
    activate();
    assertThat(call().out()).contains("Hello, Ann, --loud");

    npm.publish("1.1.0", "Goodbye");
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
    npm.close();
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
      npm.answer(told);
    } else if (!told.members().isEmpty()) {
      npm.publish("1.0.0", told, false);
    }
    Run added = added("npx", "-y", "@acme/greeter");
    assertThat(added.status()).isNotZero();
    assertThat(added.err()).as(why).contains(code);
    assertThat(writ("mcp", "list").out()).doesNotContain("greeter");
  }

  @Test
  void onlyTheToolsThatWereNamedMayBeCalledAlsoAfterARefresh() throws IOException {
    npm.publish("1.0.0", "Hello");
    String[] words = {"mcp", "add", "greeter", "--only", "none", "--", "npx", "@acme/greeter"};
    assertThat(writ(words).err()).contains("CLI-001", "[greet]");
    words[4] = "greet";
    assertThat(writ(words).status()).isZero();
    String role = "word-count, greeter/greet]";
    assertThat(Files.readString(Path.of(home, "policy.yaml"))).contains(role);
    npm.publish("2.0.0", "Hi");
    assertThat(writ("mcp", "refresh", "greeter", "--approve").status()).isZero();
    assertThat(Files.readString(Path.of(home, "policy.yaml"))).contains(role);
    activate();
    assertThat(call().out()).contains("Hi, Ann");
    assertThat(writ("mcp", "remove", "greeter").status()).isZero();
    assertThat(Files.readString(Path.of(home, "policy.yaml"))).doesNotContain("greeter");
  }

  @Test
  void aServerThatNeedsItsInstallScriptSaysSo() {
    npm.publish(
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
    environment = Map.of("PATH", dir.toString());
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
    Path script = Files.writeString(project.resolve("index.js"), NpmStandIn.server("Hello"));
    Files.writeString(project.resolveSibling("package.json"), "{}");
    assertThat(added("python3", "-c", "pass", project.toString()).err())
        .contains("TOL-299", "--read " + project);
    Path unmade = project.resolve("memory.json");
    String toBeMade = "--write " + project + " where it is to be made there, or --state";
    assertThat(added("python3", "-c", "pass", unmade.toString()).err())
        .as("what it would make nobody would find")
        .contains("TOL-299", "is not there yet", toBeMade);
    String variable = "FILE=" + unmade;
    Run byVariable =
        writ("mcp", "add", "greeter", "--env", variable, "--", "python3", "-c", "pass");
    assertThat(byVariable.err()).contains("TOL-299", toBeMade);
    assertThat(added("node", script.toString()).err())
        .contains("TOL-296", "writ mcp add NAME --code " + project.getParent() + " -- ");
    Path named = Path.of("").toAbsolutePath().relativize(script);
    assertThat(added("node", named.toString()).err())
        .as("a name in this folder means nothing where the server starts")
        .contains("TOL-296", script.toString());
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
    Path entries = dir.resolve("mcp.json");
    Files.writeString(
        entries,
        "{\"mcpServers\":{\"other\":{\"command\":\"node\",\"args\":[\"" + script + "\"]}}}");
    assertThat(writ("mcp", "import", entries.toString()).out())
        .as("the server that was added with its folder")
        .containsPattern("other +greeter +there");
    Files.writeString(script, NpmStandIn.server("Changed"));
    assertThat(call().out()).as("the code that was added").contains("Hello, Ann");
    assertThat(writ("mcp", "import", entries.toString()).out())
        .as("its files are others now")
        .contains("TOL-296")
        .doesNotContain(" there");
  }
}
