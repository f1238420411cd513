package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An installation whose server has no key of a person, from {@code init} on or later. */
class KeysLieApartFromTheServerTest {
  private final TreeMap<String, String> environment =
      new TreeMap<>(Map.of("WRIT_SANDBOX_ENGINE", "none"));

  @TempDir Path dir;

  /** The name of the home that commands are given. */
  private String at = "home";

  private Path home() {
    return dir.resolve(at);
  }

  private Path keys() {
    return dir.resolve("carried");
  }

  private Run atTerminal(String input, String... arguments) {
    List<String> all = new ArrayList<>(List.of("--home", home().toString()));
    all.addAll(List.of(arguments));
    return Run.on(input, "in,err", environment, Commands.ALL, all.toArray(String[]::new));
  }

  private Run writ(String... arguments) {
    return new OneHome(home(), environment).writ(arguments);
  }

  private Run done(String... arguments) {
    return new OneHome(home(), environment).done(arguments);
  }

  private static List<String> in(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private void requireApart(Path folder) throws IOException {
    assertThat(in(home().resolve("keys")))
        .containsExactly("executor.pem", "guardian.pem", "log.pem", "surface-mcp.pem");
    assertThat(in(folder))
        .containsExactly("agent.pem", "approver.pem", "operator.pem", "policy-owner.pem");
  }

  /** What operator, policy owner and agent sign, and that the kernel takes it. */
  private void requireAllSign() {
    assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    done("policy", "activate", home().resolve("policy.yaml").toString());
    done("key", "rotate", "guardian", "--overlap", "0");
    done("close", "main");
    assertThat(done("fsck").out()).doesNotContain("PROBLEM");
  }

  @Test
  void from_init_on_the_home_has_only_what_its_server_signs_with() throws Exception {
    Run made = done("init", "--keys-to", keys().toString());
    assertThat(made.out()).contains("Made " + keys(), "export WRIT_KEYS=");
    requireApart(keys());
    requireAllSign();
    assertThat(writ("config", "check").err()).doesNotContain("key move");
    assertThat(writ("doctor").out()).contains("only what the server signs with");
    // A new key of a person lies with the others, one of a surface with the server's.
    done("key", "new", "second", "--role", "operator");
    done("key", "new", "surface-tools", "--role", "surface", "--subject", "tools");
    assertThat(keys().resolve("second.pem")).exists();
    assertThat(home().resolve("keys/surface-tools.pem")).exists();
    done("key", "revoke", "surface-tools", "--operator", "second");
  }

  private static int statusOfMcp(String url) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest call =
          HttpRequest.newBuilder(URI.create(url + "/mcp"))
              .header("Content-Type", "application/json")
              .POST(HttpRequest.BodyPublishers.ofString("{}"))
              .build();
      return client.send(call, HttpResponse.BodyHandlers.discarding()).statusCode();
    }
  }

  @Test
  void a_server_starts_and_serves_mcp_where_the_keys_were_carried_away() throws Exception {
    done("init", "--keys-to", keys().toString());
    Path elsewhere = Files.move(keys(), dir.resolve("elsewhere"));
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home().toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      JsonValue.Obj listening =
          (JsonValue.Obj) Jcs.parse(out.readLine().getBytes(StandardCharsets.UTF_8));
      assertThat(statusOfMcp(((JsonValue.Str) listening.get("url")).value())).isEqualTo(401);
      Run without = writ("run", "js", "--param", "source=6*7");
      assertThat(without.err()).startsWith("writ: CLI-024 ").contains("agent.pem", "WRIT_KEYS");
      assertThat(without.status()).isEqualTo(4);
      assertThat(writ("key", "new", "other").err()).startsWith("writ: CLI-024 ");
      assertThat(done("run", "js", "--param", "source=6*7", "--as", elsewhere + "/agent.pem").out())
          .contains("42");
      environment.put("WRIT_KEYS", dir.resolve("nothing") + ":" + elsewhere);
      requireAllSign();
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  @Test
  void at_a_terminal_it_is_asked_for_with_a_passphrase() throws Exception {
    Run made = atTerminal(keys() + "\nsecret\nsecret\n", "init");
    assertThat(made.status()).as(made.err()).isZero();
    requireApart(keys());
    assertThat(Files.readString(keys().resolve("operator.pem"))).contains("ENCRYPTED");
    assertThat(Files.readString(keys().resolve("approver.pem"))).contains("ENCRYPTED");
    // Programs use the agent's, and the server starts without a person.
    assertThat(Files.readString(keys().resolve("agent.pem"))).doesNotContain("ENCRYPTED");
    assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    assertThat(writ("key", "new", "other").err()).startsWith("writ: CAN-077 ");
    Run asked = atTerminal("secret\n", "key", "new", "other");
    assertThat(asked.status()).as(asked.err()).isZero();
    assertThat(asked.err()).contains("Passphrase of " + keys().resolve("operator.pem"));
    assertThat(atTerminal("wrong\n", "key", "new", "third").err()).contains("CAN-076");
  }

  @Test
  void nothing_means_the_folder_beside_the_home_and_a_dash_the_home_itself() throws Exception {
    assertThat(atTerminal("\n\n", "init").status()).isZero();
    requireApart(dir.resolve("home.keys"));
    at = "other";
    assertThat(atTerminal("-\n", "init").status()).isZero();
    assertThat(in(home().resolve("keys"))).contains("operator.pem", "policy-owner.pem");
  }

  @Test
  void passphrases_that_differ_make_nothing() {
    Run run = atTerminal(keys() + "\nsecret\nsecreT\n", "init");
    assertThat(run.err()).contains("CLI-001", "differ");
    assertThat(home()).doesNotExist();
    assertThat(keys()).doesNotExist();
  }

  @Test
  void without_a_terminal_it_says_how_to_move_them_and_so_do_the_checks() throws Exception {
    assertThat(done("init").out()).contains("key move FOLDER");
    assertThat(done("config", "check").err())
        .contains("warning: ", "approver, operator, policy-owner", "key move");
    assertThat(writ("doctor").out()).contains("approver, operator, policy-owner");
    done("run", "js", "--param", "source=1");
    Run moved = done("key", "move", keys().toString());
    assertThat(moved.out()).contains("moved   operator.pem", "export WRIT_KEYS=");
    assertThat(in(home().resolve("keys")))
        .containsExactly("executor.pem", "guardian.pem", "log.pem");
    requireAllSign();
    assertThat(done("config", "check").err()).doesNotContain("key move");
  }

  @Test
  void a_folder_that_has_such_a_key_already_makes_nothing_and_loses_nothing() throws Exception {
    done("init", "--keys-to", keys().toString());
    byte[] operator = Files.readAllBytes(keys().resolve("operator.pem"));
    at = "other";
    assertThat(writ("init", "--keys-to", keys().toString()).err()).startsWith("writ: CAN-071 ");
    assertThat(writ("init", "--keys-to", home() + "/keys").err()).startsWith("writ: CLI-025 ");
    assertThat(home()).doesNotExist();
    assertThat(keys().resolve("operator.pem")).hasBinaryContent(operator);
    at = "home";
    requireApart(keys());
  }

  @Test
  void a_backup_is_restored_with_the_operators_key_from_elsewhere() throws Exception {
    environment.put("WRIT_PASSPHRASE", "of the server and the people");
    done("init", "--keys-to", keys().toString());
    done("run", "js", "--param", "source=1");
    done("backup", "--to", dir.resolve("backups").toString());
    String[] restore = {"restore", "--from", dir.resolve("backups").toString()};
    at = "again";
    done(restore);
    assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
    Files.move(keys(), dir.resolve("elsewhere"));
    at = "third";
    assertThat(writ(restore).err()).contains("operator.pem");
    assertThat(home()).doesNotExist();
    environment.put("WRIT_KEYS", dir.resolve("elsewhere").toString());
    done(restore);
  }
}
