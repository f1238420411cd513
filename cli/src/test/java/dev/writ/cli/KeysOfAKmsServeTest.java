package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.kms.KmsServer;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A whole installation whose keys are in a KMS: spec/keys.md, "Keys in a cloud's KMS". */
class KeysOfAKmsServeTest {
  @TempDir Path dir;

  private final TreeMap<String, String> environment =
      new TreeMap<>(Map.of("WRIT_SANDBOX_ENGINE", "none"));
  private KmsServer kms;

  @BeforeEach
  void start() throws Exception {
    kms = new KmsServer();
    environment.put("AWS_ACCESS_KEY_ID", KmsServer.KEY_ID);
    environment.put("AWS_SECRET_ACCESS_KEY", KmsServer.SECRET);
  }

  @AfterEach
  void stop() {
    kms.close();
  }

  private OneHome home() {
    return new OneHome(dir.resolve("home"), environment);
  }

  private void refused(String code, String... arguments) {
    Run run = home().writ(arguments);
    assertThat(run.err())
        .as(String.join(" ", arguments))
        .contains(code)
        .doesNotContain(KmsServer.SECRET);
    assertThat(run.status()).isNotZero();
  }

  private static void shows42(String out) {
    assertThat(out).contains("42");
  }

  @Test
  void aServersGuardianAndExecutorSignThere_andItsBundlesVerify() throws Exception {
    home().done("init");
    String guardian = kms.make("guardian", "ECC_NIST_P256");
    String executor = kms.make("executor", "ECC_NIST_EDWARDS25519");
    environment.put("WRIT_KMS", kms.uri(guardian) + " " + kms.uri(executor));
    for (String arn : List.of(guardian, executor)) {
      String role = arn.equals(guardian) ? "guardian" : "executor";
      home().done("key", "rotate", role, "--key", kms.uri(arn), "--overlap", "0");
      assertThat(Files.readString(dir.resolve("home/keys/" + role + ".pem")))
          .startsWith("-----BEGIN PUBLIC KEY-----");
    }
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ(
                "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(environment);
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader()) {
      assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
      home().done("run", "js", "--param", "source=1");
      int before = kms.signatures();
      shows42(home().done("run", "js", "--param", "source=6*7").out());
      // A decision and an intent by the guardian, a receipt by the executor.
      assertThat(kms.signatures() - before).isEqualTo(3);
      before = kms.signatures();
      refused("GRD-", "run", "js", "--param", "source=1", "--sandbox", "none-such");
      assertThat(kms.signatures() - before).as("of a denial: the decision").isOne();
      kms.refuse(guardian, "DisabledException");
      before = kms.signatures();
      refused("SGN-024", "run", "js", "--param", "source=6*8");
      assertThat(kms.signatures()).as("nothing was judged, nothing ran").isEqualTo(before);
      kms.allow(guardian);
      assertThat(home().done("run", "js", "--param", "source=6*8").out()).contains("48");
    } finally {
      server.destroy();
      server.waitFor();
    }
    assertThat(Files.readString(dir.resolve("log"))).doesNotContain(KmsServer.SECRET);
    home().done("close", "main");
    Path file = dir.resolve("main.writ");
    home().done("export", "main", "-o", file.toString());
    Path trust = dir.resolve("home/trust.jwks");
    home().done("verify", file.toString(), "--trust", trust.toString());
    ByJavaScript.holds(file, trust);
    assertThat(home().done("fsck").out()).doesNotContain("PROBLEM");
    home().done("audit");
  }

  /** The service gives a signature only when two are asked for: one after the other none comes. */
  @Test
  void requestsOfTwoRunsWaitForTheServiceAtTheSameTime() throws Exception {
    home().done("init");
    String guardian = kms.make("guardian", "ECC_NIST_P256");
    String executor = kms.make("executor", "ECC_NIST_P256");
    environment.put("WRIT_KMS", kms.uri(guardian) + " " + kms.uri(executor));
    home().done("key", "rotate", "guardian", "--key", kms.uri(guardian), "--overlap", "0");
    home().done("key", "rotate", "executor", "--key", kms.uri(executor), "--overlap", "0");
    Process server = started("serve", "--json", "--port", "0");
    try (BufferedReader out = server.inputReader()) {
      assertThat(out.readLine()).contains("\"url\"");
      kms.together(2);
      Process one = started("run", "js", "--param", "source=6*7", "--run", "one");
      Process two = started("run", "js", "--param", "source=6*7", "--run", "two");
      for (Process each : List.of(one, two)) {
        shows42(new String(each.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        assertThat(each.waitFor()).isZero();
      }
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  private Process started(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--home", dir.resolve("home").toString()));
    all.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(OwnProcess.writ(all.toArray(String[]::new)));
    builder.environment().putAll(environment);
    return builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  @Test
  void anOperatorSignsThere_andNobodyToWhomTheServiceSaysNo() throws Exception {
    home().done("init");
    String ann = kms.make("ann", "ECC_NIST_P256");
    home().done("key", "new", "ann", "--role", "operator", "--key", kms.uri(ann));
    home().done("key", "revoke", "operator", "--operator", kms.uri(ann));
    Files.delete(dir.resolve("home/keys/operator.pem"));
    String before = home().done("key", "list", "--json").out();
    // The file has the public half alone, and nothing says which key it is.
    environment.remove("SSH_AUTH_SOCK");
    refused("SGN-001", "key", "new", "x", "--operator", "ann");
    environment.put("WRIT_KMS", kms.uri(ann));
    kms.refuse(ann, "AccessDeniedException");
    refused("SGN-022", "key", "new", "x", "--operator", "ann");
    kms.allow(ann);
    // Not enrolled: it signs, and is not believed.
    String eve = kms.make("eve", "ECC_NIST_P256");
    refused("CAN-052", "key", "new", "x", "--operator", kms.uri(eve));
    refused("SGN-025", "key", "new", "x", "--key", kms.uri(kms.make("r", "RSA_2048")));
    refused("CLI-001", "key", "rotate", "log", "--key", kms.uri(eve), "--operator", "ann");
    assertThat(home().done("key", "list", "--json").out()).isEqualTo(before);
    assertThat(dir.resolve("home/keys/x.pem")).doesNotExist();
    home().done("key", "new", "bob", "--operator", "ann");
  }
}
