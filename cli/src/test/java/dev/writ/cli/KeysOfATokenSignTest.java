package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.disk.CLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Keys that were made in a token of SoftHSM and cannot leave it: spec/keys.md, "Keys in a token".
 */
class KeysOfATokenSignTest {
  private static final String MODULE = "/usr/lib/softhsm/libsofthsm2.so";

  /** SoftHSM has one configuration for the life of a process. */
  @TempDir static Path tokens;

  @TempDir Path dir;

  private final TreeMap<String, String> environment =
      new TreeMap<>(Map.of("WRIT_SANDBOX_ENGINE", "none"));

  @BeforeAll
  static void configure() throws Throwable {
    Files.createDirectory(tokens.resolve("tokens"));
    Files.writeString(configuration(), "directories.tokendir = " + tokens.resolve("tokens") + "\n");
    try (Arena arena = Arena.ofConfined()) {
      int status =
          (int)
              CLibrary.function(
                      "setenv", ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_INT)
                  .invokeExact(
                      CLibrary.capture(arena),
                      arena.allocateFrom("SOFTHSM2_CONF"),
                      arena.allocateFrom(configuration().toString()),
                      1);
      assertThat(status).isZero();
    }
    tool(
        "softhsm2-util",
        "--init-token",
        "--free",
        "--label",
        "writ",
        "--pin",
        "1234",
        "--so-pin",
        "5678");
    tool(
        "softhsm2-util",
        "--init-token",
        "--free",
        "--label",
        "spare",
        "--pin",
        "4321",
        "--so-pin",
        "5678");
  }

  private static Path configuration() {
    return tokens.resolve("softhsm2.conf");
  }

  private static String tool(String... command) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("SOFTHSM2_CONF", configuration().toString());
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }

  private static void pkcs11(String... more) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("pkcs11-tool", "--module", MODULE, "--token-label", "writ", "--login"));
    command.addAll(List.of("--pin", "1234"));
    command.addAll(List.of(more));
    tool(command.toArray(String[]::new));
  }

  private static void generate(String label, String id, String type) throws Exception {
    pkcs11("--keypairgen", "--key-type", type, "--label", label, "--id", id);
  }

  private static void generate(String label, String id) throws Exception {
    generate(label, id, "EC:edwards25519");
  }

  private static void delete(String id) throws Exception {
    pkcs11("--delete-object", "--type", "privkey", "--id", id);
    pkcs11("--delete-object", "--type", "pubkey", "--id", id);
  }

  /** The environment of somebody whose keys are in the token. */
  private void withToken() throws IOException {
    Path pin = Files.writeString(dir.resolve("pin"), "1234\n");
    Files.setPosixFilePermissions(pin, PosixFilePermissions.fromString("rw-------"));
    environment.put(
        "WRIT_PKCS11", "pkcs11:token=writ?module-path=" + MODULE + "&pin-source=file:" + pin);
  }

  private OneHome home() {
    return new OneHome(dir.resolve("home"), environment);
  }

  private void refused(String code, String... arguments) {
    Run run = home().writ(arguments);
    assertThat(run.err()).as(String.join(" ", arguments)).contains(code).doesNotContain("1234");
    assertThat(run.status()).isNotZero();
  }

  private Path key(String name) {
    return dir.resolve("home/keys/" + name + ".pem");
  }

  @Test
  void whoHoldsTheTokenOperates_andNobodyWithoutIt() throws Exception {
    home().done("init");
    withToken();
    generate("ann", "a1");
    home().done("key", "new", "ann", "--role", "operator", "--key", "pkcs11:object=ann");
    home().done("key", "revoke", "operator", "--operator", "pkcs11:id=%a1");
    Files.delete(key("operator"));
    assertThat(Files.readString(key("ann"))).startsWith("-----BEGIN PUBLIC KEY-----");
    home().done("key", "new", "bob", "--operator", "ann");
    String before = home().done("key", "list", "--json").out();
    // Not enrolled: it signs, and is not believed.
    generate("eve", "e1");
    refused("CAN-052", "key", "new", "x", "--operator", "pkcs11:object=eve");
    assertThat(key("x")).as("of a refused enrolment").doesNotExist();
    refused("SGN-014", "key", "new", "x", "--operator", "pkcs11:object=nobody");
    refused("SGN-012", "key", "new", "x", "--operator", "pkcs11:token=lost;object=ann");
    refused("SGN-014", "key", "new", "x", "--operator", "pkcs11:token=writ;object=ann;id=%e1");
    generate("ann", "a2");
    refused("SGN-015", "key", "new", "x", "--operator", "pkcs11:object=ann");
    generate("curve", "c1", "EC:secp384r1");
    refused("SGN-016", "key", "new", "x", "--key", "pkcs11:object=curve", "--operator", "ann");
    refused("CLI-001", "key", "rotate", "log", "--key", "pkcs11:object=eve");
    environment.remove("WRIT_PKCS11");
    refused("WRIT_PKCS11", "key", "new", "x", "--operator", "ann");
    refused("SGN-010", "key", "new", "x", "--operator", "pkcs11:object=ann");
    withToken();
    delete("a1");
    refused("SGN-", "key", "new", "x", "--operator", "ann");
    assertThat(home().done("key", "list", "--json").out()).isEqualTo(before);
    assertThat(key("x")).doesNotExist();
  }

  /** With Ed25519, and as in tokens that have the curves of NIST alone. */
  @ParameterizedTest
  @CsvSource({"EC:edwards25519, b", "EC:prime256v1, d"})
  void aServersGuardianAndExecutorSignThere_andItsBundlesVerify(String type, String ids)
      throws Exception {
    home().done("init");
    withToken();
    generate("guardian-" + ids, ids + "1", type);
    generate("executor-" + ids, ids + "2", type);
    for (String role : List.of("guardian", "executor")) {
      String key = "pkcs11:object=" + role + "-" + ids;
      home().done("key", "rotate", role, "--key", key, "--overlap", "0");
    }
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ(
                "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    builder.environment().put("SOFTHSM2_CONF", configuration().toString());
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
      assertThat(home().done("run", "js", "--param", "source=6*7").out()).contains("42");
      delete(ids + "1");
      // The guardian's key is gone: no decision is made, and nothing runs.
      refused("SGN-", "run", "js", "--param", "source=6*8");
    } finally {
      server.destroy();
      server.waitFor();
    }
    assertThat(Files.readString(dir.resolve("log"))).doesNotContain("1234");
    home().done("key", "rotate", "guardian", "--overlap", "0");
    home().done("close", "main");
    String file = dir.resolve("main.writ").toString();
    home().done("export", "main", "-o", file);
    home().done("verify", file, "--trust", dir.resolve("home/trust.jwks").toString());
    assertThat(home().done("fsck").out()).doesNotContain("PROBLEM");
    home().done("audit");
    ByJavaScript.holds(Path.of(file), dir.resolve("home/trust.jwks"));
  }

  @Test
  void peopleAndAgentsSignWithP256_whereTheTokenHasNothingElse() throws Exception {
    home().done("init");
    withToken();
    List<String> names = List.of("nora", "olaf", "paul");
    List<String> roles = List.of("operator", "policy-owner", "agent");
    for (int i = 0; i < names.size(); i++) {
      generate(names.get(i), "e" + (i + 2), "EC:prime256v1");
      String key = "pkcs11:object=" + names.get(i);
      home().done("key", "new", names.get(i), "--role", roles.get(i), "--key", key);
    }
    home().done("key", "revoke", "operator", "--operator", "nora");
    home().done("key", "revoke", "policy-owner", "--operator", "nora");
    Path policy = dir.resolve("home/policy.yaml");
    String yaml = Files.readString(policy);
    Files.writeString(
        policy, yaml.replaceFirst("subject: \"?agent\"?, roles", "subject: \"paul\", roles"));
    home().done("policy", "activate", policy.toString(), "--as", "olaf");
    Run run = home().done("run", "js", "--param", "source=6*7", "--as", "paul");
    assertThat(run.out()).contains("42");
    refused("GRD-", "run", "js", "--param", "source=1", "--as", "agent");
    // The log's key is in a file, and of Ed25519.
    refused("CLI-001", "key", "rotate", "log", "--key", "pkcs11:object=nora");
    refused("CLI-001", "key", "rotate", "log", "--algorithm", "ES256", "--operator", "nora");
    refused(
        "CAN-079",
        "key",
        "new",
        "l",
        "--role",
        "log",
        "--key",
        "pkcs11:object=nora",
        "--operator",
        "nora");
    home().done("close", "main", "--as", "paul");
    Path file = dir.resolve("people.writ");
    home().done("export", "main", "-o", file.toString());
    Path trust = dir.resolve("home/trust.jwks");
    home().done("verify", file.toString(), "--trust", trust.toString());
    ByJavaScript.holds(file, trust);
    home().done("audit");
  }

  @Test
  void aKernelsKeysInFilesAreMadeOfP256() throws Exception {
    home().done("init");
    home().done("key", "rotate", "guardian", "--algorithm", "ES256", "--overlap", "0");
    home().done("key", "rotate", "executor", "--algorithm", "ES256", "--overlap", "0");
    home().done("key", "new", "eva", "--algorithm", "ES256", "--role", "approver");
    refused("CLI-001", "key", "new", "x", "--algorithm", "P-256");
    refused("CLI-001", "key", "new", "x", "--algorithm", "ES256", "--key", "agent:somebody");
    assertThat(home().done("key", "list", "--json").out()).contains("\"crv\":\"P-256\"");
    assertThat(home().done("run", "js", "--param", "source=6*7").out()).contains("42");
    home().done("close", "main");
    Path file = dir.resolve("files.writ");
    home().done("export", "main", "-o", file.toString());
    Path trust = dir.resolve("home/trust.jwks");
    home().done("verify", file.toString(), "--trust", trust.toString());
    ByJavaScript.holds(file, trust);
    home().done("key", "rotate", "guardian", "--algorithm", "Ed25519", "--overlap", "0");
    assertThat(home().done("run", "js", "--param", "source=6*8", "--run", "again").out())
        .contains("48");
  }
}
