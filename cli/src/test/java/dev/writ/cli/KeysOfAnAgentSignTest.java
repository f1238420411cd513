package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Keys that OpenSSH's own agent has: spec/keys.md, "Keys in an agent". */
class KeysOfAnAgentSignTest {
  @TempDir Path dir;

  private final TreeMap<String, String> environment =
      new TreeMap<>(Map.of("WRIT_SANDBOX_ENGINE", "none"));
  private Process agent;

  @BeforeEach
  void start() throws Exception {
    environment.put("SSH_AUTH_SOCK", dir.resolve("agent").toString());
    startAgent();
  }

  @AfterEach
  void stop() throws Exception {
    agent.destroy();
    agent.waitFor();
  }

  private void startAgent() throws Exception {
    Files.deleteIfExists(dir.resolve("agent"));
    agent =
        new ProcessBuilder("ssh-agent", "-D", "-a", dir.resolve("agent").toString())
            .redirectErrorStream(true)
            .start();
    // It prints how to reach it once it listens.
    assertThat(agent.inputReader(StandardCharsets.UTF_8).readLine()).contains("SSH_AUTH_SOCK");
  }

  private String ssh(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("SSH_AUTH_SOCK", dir.resolve("agent").toString());
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }

  /** Gives the agent a new key, whose only other copy is a file that Writ does not read. */
  private String add(String name, String... type) throws Exception {
    List<String> make = new ArrayList<>(List.of("ssh-keygen", "-q", "-N", "", "-C", name));
    make.addAll(type.length == 0 ? List.of("-t", "ed25519") : List.of(type));
    make.addAll(List.of("-f", file(name)));
    ssh(make.toArray(String[]::new));
    ssh("ssh-add", "-q", file(name));
    return "agent:" + ssh("ssh-keygen", "-lf", file(name)).split(" ")[1];
  }

  private String file(String name) {
    return dir.resolve(name + ".ssh").toString();
  }

  private Path home() {
    return dir.resolve("home");
  }

  private Run writ(String... arguments) {
    return new OneHome(home(), environment).writ(arguments);
  }

  private Run done(String... arguments) {
    return new OneHome(home(), environment).done(arguments);
  }

  private void refused(String code, String... arguments) {
    Run run = writ(arguments);
    assertThat(run.err()).as(String.join(" ", arguments)).contains(code);
    assertThat(run.status()).isNotZero();
  }

  private void requireSound(String opener) {
    String file = dir.resolve("main.writ").toString();
    done("close", "main", "--as", opener);
    done("export", "main", "-o", file);
    done("verify", file, "--trust", home().resolve("trust.jwks").toString());
    assertThat(done("fsck").out()).doesNotContain("PROBLEM");
    done("audit");
  }

  private String policyFor(String principal) throws IOException {
    Path file = home().resolve("policy.yaml");
    String yaml = Files.readString(file);
    String changed =
        yaml.replaceFirst("subject: \"?agent\"?, roles", "subject: \"" + principal + "\", roles");
    assertThat(changed).isNotEqualTo(yaml);
    Files.writeString(file, changed);
    return file.toString();
  }

  @Test
  void operator_policy_owner_and_agent_sign_from_there_and_files_of_theirs_are_gone()
      throws Exception {
    done("init");
    String operator = add("ann");
    String owner = add("owner@desk");
    add("robot");
    done("key", "new", "ann", "--role", "operator", "--key", operator);
    done(
        "key",
        "new",
        "owner",
        "--role",
        "policy-owner",
        "--key",
        "agent:owner@desk",
        "--operator",
        "ann");
    done("key", "revoke", "operator", "--operator", operator);
    done("key", "revoke", "policy-owner", "--operator", "agent:ann");
    done("key", "new", "robot", "--key", "agent:robot", "--operator", "ann");
    Files.delete(home().resolve("keys/operator.pem"));
    Files.delete(home().resolve("keys/policy-owner.pem"));
    done("policy", "activate", policyFor("robot"), "--as", owner);
    for (String key : List.of("robot", "agent:robot", home() + "/keys/robot.pem")) {
      assertThat(done("run", "js", "--param", "source=6*7", "--as", key).out()).contains("42");
    }
    for (String name : List.of("ann", "owner", "robot")) {
      assertThat(Files.readString(home().resolve("keys/" + name + ".pem")))
          .startsWith("-----BEGIN PUBLIC KEY-----");
    }
    refused("GRD-", "run", "js", "--param", "source=1", "--as", "agent");
    assertThat(done("config", "check").err()).contains("has the keys approver:");
    requireSound("robot");
  }

  @Test
  void what_is_not_there_or_not_wanted_is_refused_and_changes_nothing() throws Exception {
    done("init");
    add("rsa", "-t", "rsa", "-b", "2048");
    String key = add("ann");
    String before = done("key", "list", "--json").out();
    refused("SGN-002", "key", "new", "x", "--key", "agent:nobody");
    refused("SGN-002", "key", "new", "x", "--key", key.substring(0, key.length() - 1));
    refused("SGN-004", "key", "new", "x", "--key", "agent:rsa");
    refused("CLI-001", "key", "new", "x", "--key", file("ann"));
    refused("CLI-001", "key", "rotate", "log", "--key", key);
    ssh("ssh-keygen", "-q", "-N", "", "-C", "ann", "-t", "ed25519", "-f", file("second"));
    ssh("ssh-add", "-q", file("second"));
    refused("SGN-003", "key", "new", "x", "--key", "agent:ann");
    // Not enrolled: it signs, and is not believed.
    refused("CAN-052", "key", "new", "x", "--operator", key);
    assertThat(done("key", "list", "--json").out()).isEqualTo(before);
    assertThat(home().resolve("keys/x.pem")).as("of a refused enrolment").doesNotExist();
    done("key", "new", "ann", "--role", "operator", "--key", key);
    ssh("ssh-add", "-q", "-d", file("ann"));
    refused("SGN-002", "key", "new", "x", "--operator", "ann");
    agent.destroy();
    agent.waitFor();
    refused("SGN-001", "key", "new", "x", "--operator", "ann");
    environment.remove("SSH_AUTH_SOCK");
    refused("SGN-001", "key", "new", "x", "--operator", "ann");
    assertThat(home().resolve("keys/x.pem")).doesNotExist();
  }

  @Test
  void a_server_whose_guardian_is_there_judges_again_when_the_agent_is_back() throws Exception {
    done("init");
    String guardian = add("guardian");
    String executor = add("executor");
    done("run", "js", "--param", "source=1");
    done("key", "rotate", "guardian", "--key", guardian, "--overlap", "0");
    done("key", "rotate", "executor", "--key", executor, "--overlap", "0");
    assertThat(Files.readString(home().resolve("keys/guardian.pem")))
        .startsWith("-----BEGIN PUBLIC KEY-----");
    assertThat(home().resolve("keys/guardian.next.pem")).doesNotExist();
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", home().toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
      assertThat(done("run", "js", "--param", "source=6*7").out()).contains("42");
      agent.destroy();
      agent.waitFor();
      refused("SGN-001", "run", "js", "--param", "source=6*8");
      startAgent();
      refused("SGN-002", "run", "js", "--param", "source=6*8");
      ssh("ssh-add", "-q", file("guardian"), file("executor"));
      assertThat(done("run", "js", "--param", "source=6*8").out()).contains("48");
      done("key", "rotate", "guardian", "--overlap", "0");
    } finally {
      server.destroy();
      server.waitFor();
    }
    requireSound("agent");
  }

  @Test
  void an_agent_whose_owner_says_no_signs_nothing() throws Exception {
    done("init");
    done("key", "new", "ann", "--role", "operator", "--key", add("ann"));
    String before = done("key", "list", "--json").out();
    // Confirmation is needed for each signature, and there is nobody to confirm.
    ssh("ssh-add", "-q", "-c", file("ann"));
    refused("SGN-005", "key", "new", "x", "--operator", "ann");
    assertThat(done("key", "list", "--json").out()).isEqualTo(before);
    assertThat(home().resolve("keys/x.pem")).doesNotExist();
  }
}
