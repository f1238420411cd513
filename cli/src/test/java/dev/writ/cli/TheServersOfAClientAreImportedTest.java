package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients of agents start today is put behind Writ, and can be given back. */
class TheServersOfAClientAreImportedTest {
  private static final String TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ";

  @TempDir Path dir;
  private NpmStandIn npm;
  private Path home;
  private Path file;

  @BeforeEach
  void start() throws IOException {
    npm = NpmStandIn.start();
    npm.publish("1.0.0", "Hello");
    home = dir.resolve("home");
    file = dir.resolve("mcp.json");
    assertThat(Run.of("init", "--home", home.toString()).status()).isZero();
  }

  @AfterEach
  void stop() {
    npm.close();
  }

  private Run writ(String... words) {
    List<String> all = new ArrayList<>(List.of(words));
    all.addAll(List.of("--home", home.toString()));
    TreeMap<String, String> environment = new TreeMap<>(npm.environment(dir));
    environment.put("GREETER_SECRET", "a secret of the shell");
    environment.put("REGION", "eu-west");
    environment.put("SCRAMBLED", "Zq81mNc03TfYw6LkXp2sVb7HgRd5JaEu");
    environment.put("WRIT_OTHER", "of Writ alone");
    return Run.in(environment, all.toArray(String[]::new));
  }

  private Run imported(String... words) {
    List<String> all = new ArrayList<>(List.of("mcp", "import", file.toString()));
    all.addAll(List.of(words));
    return writ(all.toArray(String[]::new));
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text);
  }

  /** Whether a text stands in a file of the home that holds no secrets, nor in the client's. */
  private boolean isKnownOutsideOfTheStore(String text) throws IOException {
    try (Stream<Path> files = Files.walk(home)) {
      for (Path one : files.filter(Files::isRegularFile).toList()) {
        String content = new String(Files.readAllBytes(one), StandardCharsets.ISO_8859_1);
        if (!one.startsWith(home.resolve("secrets")) && content.contains(text)) {
          return true;
        }
      }
    }
    return false;
  }

  @Test
  void itsEntriesStartWritAndTheirSecretsAreInTheStore() throws IOException {
    String before =
        """
        { // mine
          "mcpServers": {
            "The Greeter": {
              "command": "npx", "args": ["-y", "@acme/greeter", "v1"],
              "env": {"GITHUB_TOKEN": "%s", "MODE": "plain"}, "timeout": 60,
            },
            "off": {"command": "npx", "args": ["x"], "disabled": true},
            "files": {"command": "docker", "args": ["run", "files"]}, // stays
          },
        }
        """
            .formatted(TOKEN);
    write(before);
    Run dry = imported("--dry-run", "--rewrite", "--command", "/opt/writ/writ");
    assertThat(dry.out()).contains("would be added", "the-greeter", "TOL-296");
    assertThat(file).hasContent(before);
    assertThat(writ("mcp", "list").out()).doesNotContain("greeter");
    assertThat(writ("secret", "list").out()).doesNotContain("greeter");

    assertThat(imported("--rewrite").status()).as("where writ is, nobody said").isEqualTo(2);
    assertThat(writ("mcp", "list").out()).doesNotContain("greeter");
    Run done = imported("--rewrite", "--command", "/opt/writ/writ");
    assertThat(done.status()).as("one was not taken").isEqualTo(1);
    assertThat(done.out() + done.err())
        .contains("the-greeter-github-token", "TOL-296", "switched off")
        .doesNotContain(TOKEN);
    assertThat(Files.readString(file))
        .contains(
            "{ // mine",
            "\"command\": \"/opt/writ/writ\"",
            "\"mcp\", \"--server\", \"the-greeter\"",
            "\"timeout\": 60,",
            "\"files\": {\"command\": \"docker\", \"args\": [\"run\", \"files\"]}, // stays")
        .doesNotContain(TOKEN, "npx\", \"args\": [\"-y\"");
    assertThat(isKnownOutsideOfTheStore(TOKEN)).isFalse();
    assertThat(Files.readString(home.resolve("secrets/the-greeter-github-token"))).isEqualTo(TOKEN);

    assertThat(writ("policy", "activate", home + "/policy.yaml").status()).isZero();
    assertThat(writ("run", "the-greeter/greet", "--param", "name=Ann").out())
        .contains("Hello, Ann, v1");
    assertThat(imported("--undo").out()).contains("as it was before").doesNotContain(TOKEN);
    assertThat(file).hasContent(before);
    assertThat(imported("--only", "The Greeter").out()).contains("there");
    assertThat(imported("--only", "The Greeter").status()).isZero();
  }

  /** What is told of it can be typed as it stands, and the client then starts Writ. */
  @Test
  void aProgramOfThisMachineIsTakenWithTheFolderOfItsCode() throws IOException {
    Path code = Files.createDirectories(Project.root().resolve("cli/target/an-entry"));
    Path script = Files.writeString(code.resolve("index.js"), NpmStandIn.server("Hello"));
    Files.writeString(code.resolve("package.json"), "{}");
    write(
        """
        {"mcpServers": {
          "my own": {"command": "node", "args": ["%s", "v2"], "env": {"API_TOKEN": "%s"}},
          "gone": {"command": "no-such-program"}
        }}
        """
            .formatted(script, TOKEN));
    Run refused = imported("--rewrite", "--command", "/opt/writ");
    String typed = " mcp import " + file + " --only 'my own' --code " + code + " --rewrite";
    assertThat(refused.out().replaceAll("\\s+", " "))
        .contains("TOL-296", "--home " + home + typed)
        .contains("SBX-028 an executable does not exist in the sandbox: no-such-program");
    String[] words = {"--only", "my own", "--code", code.toString(), "--rewrite"};
    Run dry = imported(concat(words, "--command", "/opt/writ", "--dry-run"));
    assertThat(dry.out()).containsPattern("my own +my-own +would be added");
    Run taken = imported(concat(words, "--command", "/opt/writ"));
    assertThat(taken.status()).as(taken.out()).isZero();
    assertThat(Files.readString(file)).contains("\"--server\", \"my-own\"").doesNotContain(TOKEN);
    assertThat(imported("--undo").status()).isZero();
    assertThat(imported("--only", "my own").out()).containsPattern("my own +my-own +there");
  }

  private static String[] concat(String[] words, String... more) {
    return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void aFileThatWasChangedSinceIsNotUndone() throws IOException {
    write("{\"servers\":{\"greeter\":{\"command\":\"npx\",\"args\":[\"@acme/greeter\"]}}}");
    assertThat(imported("--rewrite", "--command", "/w").status()).isZero();
    String changed = Files.readString(file) + "\n";
    write(changed);
    Run undone = imported("--undo");
    assertThat(undone.err()).contains("CLI-077", "mcp.json.before-import");
    assertThat(file).hasContent(changed);
  }

  @Test
  void ofTwoClientsTheOneThatChangedItsFileDoesNotKeepTheOtherFromBeingUndone() throws IOException {
    Path cursor = Files.createDirectories(dir.resolve(".cursor")).resolve("mcp.json");
    Path codex = Files.createDirectories(dir.resolve(".codex")).resolve("config.toml");
    String toml = "[mcp_servers.greeter]\ncommand = \"npx\"\nargs = [\"@acme/greeter\"]\n";
    Files.writeString(
        cursor,
        "{\"mcpServers\":{\"greeter\":{\"command\":\"npx\",\"args\":[\"@acme/greeter\"]}}}");
    Files.writeString(codex, toml);
    Run done = atHome("mcp", "import", "--rewrite", "--command", "/w");
    assertThat(done.status()).as(done.out() + done.err()).isZero();
    assertThat(codex).content().contains("/w");
    String changed = Files.readString(cursor) + "\n";
    Files.writeString(cursor, changed);
    Run undone = atHome("mcp", "import", "--undo");
    assertThat(undone.err()).contains("CLI-077", cursor.toString());
    assertThat(undone.out()).contains(codex + ": as it was before");
    assertThat(codex).hasContent(toml);
    assertThat(cursor).hasContent(changed);
  }

  private Run atHome(String... words) {
    TreeMap<String, String> environment = new TreeMap<>(npm.environment(dir));
    environment.put("HOME", dir.toString());
    return Run.in(environment, concat(words, "--home", home.toString()));
  }

  @Test
  void aTableOfTomlIsReplacedAndTheRestStays() throws IOException {
    file = dir.resolve("config.toml");
    String before =
        """
        model = "x" # mine

        [mcp_servers.greeter] # a comment
        command = "npx"
        args = [
          "-y",
          "@acme/greeter",
        ]
        startup_timeout_sec = 20 # it is slow
        enabled_tools = [
          # those that I want
          "greet",
        ]

        [mcp_servers.greeter.env]
        MODE = "[not a header]"

        [mcp_servers.greeter.tools.greet]
        approval_mode = "approve"

        [mcp_servers."other one"]
        url = "https://mcp.example.com?api_key=x"
        bearer_token_env_var = "GREETER_SECRET"
        """;
    write(before);
    Run done = imported("--rewrite", "--command", "/opt/writ");
    assertThat(done.out()).contains("added").contains("its address looks like a secret");
    assertThat(Files.readString(file))
        .isEqualTo(
            """
            model = "x" # mine

            [mcp_servers.greeter] # a comment
            args = ["--home","%s","mcp","--server","greeter"]
            command = "/opt/writ"
            startup_timeout_sec = 20 # it is slow
            enabled_tools = [
              # those that I want
              "greet",
            ]

            [mcp_servers.greeter.tools.greet]
            approval_mode = "approve"

            [mcp_servers."other one"]
            url = "https://mcp.example.com?api_key=x"
            bearer_token_env_var = "GREETER_SECRET"
            """
                .formatted(home));
    assertThat(imported("--undo").status()).isZero();
    assertThat(file).hasContent(before);
  }

  @Test
  void whatAClientAsksItsUserForIsASecretHere() throws IOException {
    write(
        """
        {"inputs": [{"id": "key", "type": "promptString", "password": true}],
         "servers": {"greeter": {"type": "stdio", "command": "npx", "args": ["@acme/greeter"],
           "env": {"KEY": "${input:key}", "GREETER_SECRET": "${env:GREETER_SECRET}", "W": "${env:NO:-d}"}}}}
        """);
    assertThat(imported().out()).contains("CLI-079", "writ secret put greeter-key");
    assertThat(writ("secret", "list").out()).as("nothing half done").doesNotContain("greeter");
    Path value = Files.writeString(dir.resolve("value"), "what the user types");
    writ("secret", "put", "greeter-key", "--file", value.toString());
    Run done = imported();
    assertThat(done.status()).as(done.out()).isZero();
    assertThat(writ("mcp", "list", "--json").out())
        .contains("\"environment\":{\"W\":\"d\"}")
        .contains("\"GREETER_SECRET\":\"greeter-greeter-secret\",\"KEY\":\"greeter-key\"");
    assertThat(isKnownOutsideOfTheStore("a secret of the shell")).isFalse();
  }

  @Test
  void aServerElsewhereIsTakenWithItsHeadersAsSecrets() throws IOException {
    write(
        """
        {"servers": {"crm": {"type": "http", "url": "https://127.0.0.1:1/mcp",
          "headers": {"Authorization": "Bearer %s", "X-Team": "blue"}}}}
        """
            .formatted(TOKEN));
    Run dry = imported("--dry-run");
    assertThat(dry.status()).isZero();
    assertThat(dry.out()).contains("would be added", "secrets: [crm-authorization]");
    Run done = imported();
    assertThat(done.status()).as("nobody is there").isEqualTo(1);
    assertThat(done.out()).contains("TOL-2").doesNotContain(TOKEN);
    assertThat(writ("secret", "list").out()).as("nothing half done").doesNotContain("crm");
  }

  /** Two accounts at one server are two servers, each with its own token. */
  @Test
  void entriesOfOneServerWithDifferentSecretsAreServersOfTheirOwn() throws IOException {
    String other = TOKEN.replace("ghp_0", "ghp_9");
    write(
        """
        {"mcpServers": {
          "work": {"command": "npx", "args": ["@acme/greeter"], "env": {"API_TOKEN": "%s"}},
          "private": {"command": "npx", "args": ["@acme/greeter"], "env": {"API_TOKEN": "%s"}},
          "zwork": {"command": "npx", "args": ["@acme/greeter"], "env": {"API_TOKEN": "%s"}}}}
        """
            .formatted(TOKEN, other, TOKEN));
    assertThat(imported("--only", "private").status()).isZero();
    Run done = imported("--rewrite", "--command", "/w");
    assertThat(done.status()).as(done.out()).isZero();
    assertThat(done.out())
        .containsPattern("work +work +added.*\\[work-api-token]")
        .containsPattern("private +private +there.*\\[private-api-token]")
        .containsPattern("zwork +work +there.*\\[work-api-token]");
    assertThat(Files.readString(home.resolve("secrets/work-api-token"))).isEqualTo(TOKEN);
    assertThat(Files.readString(home.resolve("secrets/private-api-token"))).isEqualTo(other);
    assertThat(writ("secret", "list").out()).doesNotContain("zwork");
    assertThat(Files.readString(file))
        .containsPattern("\"work\": [^}]*\"--server\", \"work\"")
        .containsPattern("\"private\": [^}]*\"--server\", \"private\"")
        .containsPattern("\"zwork\": [^}]*\"--server\", \"work\"")
        .doesNotContain(TOKEN, other);
  }

  @Test
  void anEntryWithAnotherTokenThanTheServerOfItsAddressIsNotThatServer() throws IOException {
    String other = TOKEN.replace("ghp_0", "ghp_9");
    String entries =
        """
        {"mcpServers": {
          "work": {"url": "http://127.0.0.1:PORT/mcp", "headers": {"Authorization": "Bearer WORK"}},
          "private": {"url": "http://127.0.0.1:PORT/mcp", "headers": {"Authorization": "Bearer OTHER"}}}}
        """
            .replace("WORK", TOKEN)
            .replace("OTHER", other);
    try (McpStandIn crm = McpStandIn.start()) {
      write(entries.replace("PORT", String.valueOf(crm.port())));
      assertThat(imported("--only", "private").status()).isZero();
      Run done = imported("--rewrite", "--command", "/w");
      assertThat(done.status()).as(done.out()).isZero();
      assertThat(done.out())
          .containsPattern("private +private +there.*\\[private-authorization]")
          .containsPattern("work +work +added.*\\[work-authorization]");
      assertThat(Files.readString(file))
          .containsPattern("\"work\": [^}]*\"--server\", \"work\"")
          .containsPattern("\"private\": [^}]*\"--server\", \"private\"");
      assertThat(imported("--undo").status()).isZero();
      write(entries.replace("PORT", String.valueOf(crm.port())).replace(other, TOKEN + "x"));
      Run changed = imported("--only", "private", "--rewrite", "--command", "/w");
      assertThat(changed.status()).isEqualTo(1);
      assertThat(changed.out()).contains("the secret private-authorization has another value");
      assertThat(Files.readString(file)).as("nothing was taken").contains(TOKEN + "x");
    }
  }

  /** {@code crm} and {@code x-api-key} make the same name as {@code crm-x} and {@code api-key}. */
  @Test
  void theSecretOfAnotherServerIsNotGivenToOneWhoseNamesAreJoinedToIt() throws IOException {
    try (McpStandIn crm = McpStandIn.start()) {
      write(
          """
          {"mcpServers": {"crm-x": {"url": "http://127.0.0.1:%d/mcp", "headers": {"Api-Key": "%s"}}}}
          """
              .formatted(crm.port(), TOKEN));
      assertThat(imported().out()).contains("added", "[crm-x-api-key]");
      write(
          """
          {"name": "io.example/crm", "version": "1.0.0", "remotes": [{"type": "streamable-http",
            "url": "http://127.0.0.1:%d/mcp",
            "headers": [{"name": "X-Api-Key", "isRequired": true, "isSecret": true}]}]}
          """
              .formatted(crm.port()));
      Run done = imported();
      assertThat(done.status()).isEqualTo(1);
      assertThat(done.out()).contains("CLI-079", "crm-x-api-key is that of another server");
      assertThat(writ("mcp", "list", "--json").out()).doesNotContain("\"crm\"");
    }
  }

  @Test
  void anEntryOfTheRegistryIsTaken() throws IOException {
    write(
        """
        {"name": "io.github.acme/greeter", "description": "d", "version": "1.0.0", "packages": [
          {"registryType": "pypi", "identifier": "x", "transport": {"type": "stdio"}},
          {"registryType": "npm", "identifier": "@acme/greeter", "version": "1.0.0",
           "transport": {"type": "stdio"},
           "packageArguments": [{"type": "named", "name": "--loud"}, {"type": "positional", "value": "now"}],
           "environmentVariables": [
             {"name": "GREETER_SECRET", "isRequired": true, "isSecret": true},
             {"name": "OTHER", "isSecret": true}, {"name": "MODE", "default": "plain"}]}]}
        """);
    Run done = imported();
    assertThat(done.status()).as(done.out()).isZero();
    assertThat(writ("mcp", "list", "--json").out())
        .contains("\"environment\":{\"MODE\":\"plain\"}", "@acme/greeter@1.0.0")
        .contains("\"secrets\":{\"GREETER_SECRET\":\"greeter-greeter-secret\"}");
  }

  /** A stranger wrote it: nothing of this machine's environment is named by it. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "X-Client-Region | ${REGION}",
        "X-Client-Region | ${env:REGION}",
        "X-Client-Region | ${REGION:-eu}",
        "X-Client-Region | a${RE-GION}b",
        "X-Client-Region | ${WRIT_OTHER:-eu}",
        "X-Client-Region | ${userHome}",
        "X-Client-Region | {region}",
        "X-Client-Region | ${",
      })
  void aHeaderOfTheRegistryTakesNothingFromTheEnvironment(String header, String value)
      throws IOException {
    for (String member : List.of("value", "default")) {
      write(
          """
          {"name": "io.example/helpful", "version": "1.0.0", "remotes": [{"type": "streamable-http",
            "url": "http://127.0.0.1:1/mcp", "headers": [{"name": "%s", "%s": "%s"}]}]}
          """
              .formatted(header, member, value));
      for (Run done : List.of(imported("--dry-run"), imported())) {
        assertThat(done.status()).isEqualTo(1);
        assertThat(done.out())
            .contains("CLI-079", "placeholders in [" + header + "]")
            .doesNotContain("eu-west", "of Writ alone");
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "'identifier': '@acme/${REGION}'                                       | identifier",
        "'identifier': '@acme/greeter', 'version': '${env:REGION}'             | version",
        "'identifier': 'g', 'packageArguments': [{'value': '${REGION}'}]       | an argument",
        "'identifier': 'g', 'packageArguments': [{'name': '-x${REGION}', 'value': '1'}] | an"
            + " argument's name",
        "'identifier': 'g', 'packageArguments': [{'name': '--at', 'default': '${REGION:-eu}'}] |"
            + " --at",
        "'identifier': 'g', 'environmentVariables': [{'name': 'AT', 'default': '${REGION}'}] | AT",
        "'identifier': 'g', 'environmentVariables': [{'name': 'A}${REGION', 'isRequired': true,"
            + " 'isSecret': true}] | environmentVariables",
      })
  void aPackageOfTheRegistryTakesNothingFromTheEnvironment(String words, String field)
      throws IOException {
    write(
        ("{'name': 'io.example/helpful', 'version': '1.0.0', 'packages': [{'registryType': 'npm', "
                + words
                + "}]}")
            .replace('\'', '"'));
    Run done = imported();
    assertThat(done.status()).isEqualTo(1);
    assertThat(done.out())
        .contains("CLI-079", "placeholders in [" + field + "]")
        .doesNotContain("eu-west");
  }

  @Test
  void anAddressOfTheRegistryTakesNothingFromTheEnvironment() throws IOException {
    write(
        """
        {"name": "io.example/helpful", "version": "1.0.0", "remotes": [
          {"type": "streamable-http", "url": "http://127.0.0.1:1/${REGION}"}]}
        """);
    assertThat(imported().out()).contains("CLI-079", "[url]").doesNotContain("eu-west");
  }

  /** What is sent to a stranger at once is put by hand; a header may be called as a variable is. */
  @Test
  void aSecretHeaderOfTheRegistryIsNoVariableOfTheEnvironment() throws IOException {
    write(
        """
        {"name": "io.example/helpful", "version": "1.0.0", "remotes": [{"type": "streamable-http",
          "url": "http://127.0.0.1:1/mcp",
          "headers": [{"name": "home", "isRequired": true, "isSecret": true}]}]}
        """);
    assertThat(imported().out()).contains("CLI-079", "writ secret put helpful-home");
  }

  @Test
  void aVariableOfWritItselfGoesToNoServer() throws IOException {
    write(
        """
        {"mcpServers": {
          "a": {"url": "http://127.0.0.1:1/a", "headers": {"X-At": "${env:WRIT_OTHER}"}},
          "b": {"url": "http://127.0.0.1:1/b", "headers": {"X-At": "${WRIT_UNSET:-eu}"}},
          "c": {"url": "http://127.0.0.1:1/${WRIT_OTHER}"},
          "d": {"command": "npx", "args": ["@acme/greeter", "${WRIT_OTHER}"]},
          "e": {"command": "npx", "args": ["@acme/greeter"], "env": {"AT": "x ${writ_other}"}},
          "f": {"command": "npx", "args": ["@acme/greeter"], "env": {"WRIT_OTHER": "${input:x}"}},
          "g": {"url": "http://127.0.0.1:1/g", "bearer_token_env_var": "WRIT_OTHER"},
          "h": {"command": "npx", "args": ["@acme/greeter"], "env_vars": ["WRIT_OTHER"]}}}
        """);
    Run done = imported();
    assertThat(done.status()).isEqualTo(1);
    assertThat(done.out().lines().filter(line -> line.contains("a variable of Writ itself")))
        .hasSize(8);
    assertThat(done.out()).doesNotContain("of Writ alone", "added");
    assertThat(writ("secret", "list").out()).doesNotContain("writ-other");
    assertThat(isKnownOutsideOfTheStore("of Writ alone")).isFalse();
  }

  /** The name of the variable says that it is a secret, whatever the name of its place says. */
  @Test
  void aPlaceholderOfASecretIsOneWhereverItStands() throws IOException {
    write(
        """
        {"mcpServers": {
          "greeter": {"command": "npx", "args": ["@acme/greeter", "${REGION}"],
            "env": {"MODE": "${GREETER_SECRET}", "OTHER": "in ${SCRAMBLED}", "AT": "${REGION}"}},
          "arg": {"command": "npx", "args": ["@acme/greeter", "${GREETER_SECRET}"]},
          "url": {"url": "http://127.0.0.1:1/${GREETER_SECRET}"}}}
        """);
    Run dry = imported("--dry-run", "--json");
    assertThat(dry.out())
        .contains("\"environment\":[\"GREETER_SECRET\",\"REGION\",\"SCRAMBLED\"]")
        .contains("\"secrets\":[\"greeter-mode\",\"greeter-other\"]")
        .doesNotContain("a secret of the shell", "eu-west");
    assertThat(imported("--dry-run").out()).contains("from the environment:");
    Run done = imported();
    assertThat(done.out())
        .contains("argument 2 looks like a secret", "its address looks like a secret")
        .doesNotContain("a secret of the shell");
    assertThat(writ("mcp", "list", "--json").out())
        .contains("\"environment\":{\"AT\":\"eu-west\"}")
        .contains("\"MODE\":\"greeter-mode\",\"OTHER\":\"greeter-other\"");
    assertThat(isKnownOutsideOfTheStore("a secret of the shell")).isFalse();
    assertThat(isKnownOutsideOfTheStore("Zq81mNc03TfYw6LkXp2sVb7HgRd5JaEu")).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[\"-y\",\"@acme/greeter\",\"--api-key\",\"abcdefgh\"]",
        "[\"-y\",\"@acme/greeter\",\"--token=abcdefgh\"]",
        "[\"-y\",\"@acme/greeter\",\"postgres://ann:word@db/x\"]",
        "[\"-y\",\"@acme/greeter\",\"--x\",\"sk-0123456789abcdef\"]",
      })
  void aSecretAmongTheArgumentsIsNotTakenIntoAPackage(String args) throws IOException {
    write("{\"mcpServers\":{\"greeter\":{\"command\":\"npx\",\"args\":" + args + "}}}");
    Run done = imported();
    assertThat(done.out())
        .contains("CLI-079", "argument", "--env-secret")
        .doesNotContain("abcdefgh");
    assertThat(writ("mcp", "list").out()).doesNotContain("greeter");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"mcpServers\":{\"a\":{}   | neither a comma nor }",
        "{\"mcpServers\":{\"a\":{},\"a\":{}}} | a name twice",
        "{\"other\":1} | neither mcpServers nor servers",
        "[] | no object",
        "{\"mcpServers\":{\"a\":{\"command\":\"\u0001\"}}} | a text that does not end",
      })
  void aFileThatIsNoneIsRefusedAsAWhole(String text, String why) throws IOException {
    write(text);
    Run done = imported();
    assertThat(done.status()).isEqualTo(4);
    assertThat(done.err()).contains("CLI-076", why);
  }

  @Test
  void aFileThatIsNotTheUsersOrTooLargeIsNotRead() throws IOException {
    try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
      large.setLength(100 << 20);
    }
    assertThat(imported().err()).contains("CLI-076", "104857600 bytes");
    Files.delete(file);
    Files.createSymbolicLink(file, dir.resolve("nowhere"));
    assertThat(imported().err()).contains("CLI-076", "leads nowhere");
    Files.delete(file);
    Files.createDirectory(file);
    assertThat(imported().err()).contains("CLI-076", "it is no file");
    Files.delete(file);
    assertThat(imported().err()).contains("CLI-078");
    Files.write(file, new byte[] {'{', (byte) 0xff, '}'});
    assertThat(imported().err()).contains("CLI-076", "not UTF-8");
    write("{}");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw-rw-"));
    assertThat(imported().err()).contains("CLI-076", "everybody may write");
  }

  @Test
  void wordsThatAreWrittenAsOneAreToldApart() throws IOException {
    write(
        """
        {"mcpServers":{
          "a": {"command": "npx -y greeter"},
          "b": {"command": "npx", "args": "-y greeter"},
          "c": {"command": ["npx", "-y", "greeter"]},
          "d": {"command": "npx", "args": ["-y", ["greeter"]]},
          "e": {"command": "npx", "args": ["-y", "greeter"], "env": {"A": {"b": 1}}}}}
        """);
    Run done = imported();
    assertThat(done.status()).isEqualTo(1);
    assertThat(done.out())
        .contains("\"command\": \"npx\", \"args\": [\"-y\", …]", "its args are no list")
        .contains("its command is a list")
        .containsSubsequence("neither a text nor a number", "neither a text nor a number");
  }

  @Test
  void aNumberAndASwitchAreWordsAsWell() throws IOException {
    write(
        """
        {"mcpServers":{"greeter":{
          "command": "npx", "args": ["-y", "@acme/greeter", 8080],
          "env": {"PORT": 8080, "DEBUG": true}}}}
        """);
    assertThat(imported().status()).isZero();
    assertThat(writ("policy", "activate", home + "/policy.yaml").status()).isZero();
    assertThat(writ("run", "greeter/greet", "--param", "name=Ann").out())
        .contains("Hello, Ann, 8080");
  }

  @Test
  void anEntryThatStartsWritByHandIsLeft() throws IOException {
    write(
        """
        {"mcpServers": {
          "plain": {"command": "writ", "args": ["mcp"]},
          "one": {"command": "/opt/writ/bin/writ", "args": ["mcp", "--server", "calc"]}}}
        """);
    Run done = imported();
    assertThat(done.status()).as(done.out()).isZero();
    assertThat(done.out().lines().filter(line -> line.contains("it is Writ itself"))).hasSize(2);
  }

  @Test
  void namesOfOtherLettersStayNamesAndApart() throws IOException {
    write(
        """
        {"mcpServers": {
          "Ünï": {"command": "npx", "args": ["@acme/greeter", "1"]},
          "日本": {"command": "npx", "args": ["@acme/greeter", "2"]},
          "中国": {"command": "npx", "args": ["@acme/greeter", "3"]}}}
        """);
    Run done = imported("--dry-run");
    assertThat(done.status()).as(done.out()).isZero();
    assertThat(done.out())
        .containsPattern("Ünï +uni +would be added")
        .containsPattern("日本 +mcp-cf2abf0c +would be added")
        .containsPattern("中国 +mcp-[0-9a-f]{8} +would be added")
        .doesNotContain("another of them");
  }

  @Test
  void hostileEntriesAreToldAndSteerNoTerminal() throws IOException {
    write(
        """
        {"mcpServers": {
          "a\\u001b[31m\\u202Eb": {"command": "docker", "args": ["\\u001b[2J"]},
          "list": [], "text": "x", "none": {}, "no program": {"command": ["npx"]},
          "A B": {"command": "npx", "args": ["@acme/greeter"]},
          "a.b": {"command": "npx", "args": ["@acme/greeter", "2"]},
          "js": {"command": "npx", "args": ["@acme/greeter", "3"]},
          "nul": {"command": "a\\u0000b"}}}
        """);
    Run done = imported();
    assertThat(done.status()).isEqualTo(1);
    assertThat(done.out()).doesNotContain("\u001b").doesNotContain("\u202e");
    assertThat(done.out())
        .contains("its entry is no object", "neither a command nor a url", "another of them is a-b")
        .contains("TOL-230")
        .containsPattern("A B +a-b +added");
  }
}
