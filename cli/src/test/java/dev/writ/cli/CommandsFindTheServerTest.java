package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.home.Serving;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.gateway.http.Listen;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One rule for every command that writes: where a server has the data directory open, it does the
 * work, and the command says the same as without one.
 */
class CommandsFindTheServerTest {
  private static final Map<String, String> ENVIRONMENT = Map.of("WRIT_SANDBOX_ENGINE", "none");

  @TempDir Path dir;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home"), ENVIRONMENT).writ(arguments);
  }

  private Run done(String... arguments) {
    return new OneHome(dir.resolve("home"), ENVIRONMENT).done(arguments);
  }

  private Process serve() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ(
                "--home", dir.resolve("home").toString(), "serve", "--json", "--port", "0"));
    builder.environment().putAll(ENVIRONMENT);
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
    assertThat(out.readLine()).as(Files.readString(dir.resolve("log"))).contains("\"url\"");
    return server;
  }

  private static void end(Process server) throws Exception {
    server.destroy();
    assertThat(server.waitFor()).isEqualTo(143);
  }

  private static JsonValue.Obj object(Run run) {
    return (JsonValue.Obj) Jcs.parse(run.out().strip().getBytes(StandardCharsets.UTF_8));
  }

  private static String text(JsonValue.Obj object, String name) {
    return ((JsonValue.Str) object.get(name)).value();
  }

  private String file(String name, String content) throws Exception {
    return Files.writeString(dir.resolve(name), content).toString();
  }

  /** What the starter policy does not have: an approval for js, and retention. */
  private String policy() throws Exception {
    String starter = Files.readString(dir.resolve("home/policy.yaml"));
    String changed =
        starter.replaceFirst(
            "(?m)^requirements:\n",
            """
            retention:
              rules:
                - { name: old, contents: [outputs], keep_s: 1 }
            requirements:
              - effect: { tool: js, operation: eval }
                require: { all: [ { cel: "params.source == '6*7'" }, { approvals: { role: reviewer, count: 1 } } ] }
            """);
    assertThat(changed).isNotEqualTo(starter);
    return file("policy.yaml", changed);
  }

  @Test
  void everyCommandThatWritesIsDoneByTheServer() throws Exception {
    done("init");
    Process server = serve();
    try {
      Run ran = done("run", "js", "--param", "source=6*7");
      assertThat(ran.out()).isEqualTo("42");
      assertThat(ran.err()).contains("ALLOWED", "receipt  sha256:");
      inputsAndLargeOutputs();
      refusalsAreThoseOfTheKernel();
      keysPolicyAndApproval();
      theRest();
    } finally {
      end(server);
    }
    // All of it is in the log, and the log is sound.
    done("fsck");
    assertThat(done("key", "list").out()).contains("bob", "revoked");
    assertThat(done("policy", "show", "--json").out()).contains("\"version\":2");
  }

  private void inputsAndLargeOutputs() throws Exception {
    String input = file("text.txt", "one two\n");
    assertThat(done("run", "word-count", "--input", "text=" + input).out()).contains("\"words\":2");
    Run large = done("run", "js", "--param", "source='x'.repeat(1500000)", "--output-kb", "4096");
    assertThat(large.out()).hasSize(1_500_002); // more than the server's answer has in it
    Run json = done("--json", "run", "js", "--param", "source=1+1", "--key", "k");
    assertThat(object(json).get("output")).isEqualTo(JsonValue.of(2));
    Run again = done("--json", "run", "js", "--param", "source=1+1", "--key", "k");
    assertThat(object(again).get("repeated")).isEqualTo(JsonValue.TRUE);
    assertThat(text(object(again), "receipt_id")).isEqualTo(text(object(json), "receipt_id"));
    assertThat(object(json).members().keySet()).contains("intent_id", "decision", "receipt");
  }

  /** With their own codes, remedies and statuses, not as "the server refused". */
  private void refusalsAreThoseOfTheKernel() throws Exception {
    Run denied = writ("run", "js", "--param", "sorce=1");
    assertThat(denied.status()).isEqualTo(1);
    assertThat(denied.err()).contains("DENIED", "sorce", "source");
    Run unknown = writ("close", "nowhere");
    assertThat(unknown.err()).contains("EXE-905", "nowhere");
    Run tool = writ("run", "jss");
    assertThat(tool.err()).contains("CLI-015");
    assertThat(tool.status()).isEqualTo(4);
    Run other = writ("policy", "activate", file("p.yaml", "writ_policy: 1\n"));
    assertThat(other.err()).contains("GRD-5");
    assertThat(other.status()).isEqualTo(4);
    done("key", "new", "stranger");
    Run notOwner =
        writ("policy", "activate", dir.resolve("home/policy.yaml").toString(), "--as", "stranger");
    assertThat(notOwner.err()).contains("CAN-053");
    Run missing = writ("run", "word-count", "--input", "text=" + dir.resolve("none"));
    assertThat(missing.err()).contains("CLI-002");
    for (Run each : List.of(denied, unknown, tool, other, notOwner, missing)) {
      assertThat(each.err()).doesNotContain("GWY-060", "LED-003");
    }
  }

  private void keysPolicyAndApproval() throws Exception {
    assertThat(done("key", "new", "bob").out()).contains("bob");
    assertThat(Files.readString(dir.resolve("home/trust.jwks"))).contains("\"bob\"");
    assertThat(done("key", "revoke", "bob").out()).contains("revoked");
    assertThat(done("policy", "activate", policy()).out()).contains("version 2");
    Run waits = writ("--json", "run", "js", "--param", "source=6*7", "--run", "asks");
    assertThat(waits.status()).as(waits.err()).isEqualTo(7);
    String request = text(object(waits), "request");
    assertThat(done("policy", "explain", request).out()).contains("approvals");
    Run approved = done("approve", request.substring(7, 19), "--yes");
    assertThat(approved.err())
        .contains("APPROVED", "nothing has run yet", " submit " + request.substring(7, 19));
    assertThat(done("submit", request.substring(7, 19)).out()).isEqualTo("42");
  }

  private void theRest() {
    assertThat(done("checkpoint").out()).contains("writ-");
    Run closed = done("close", "asks");
    assertThat(closed.out()).contains("— writ-");
    assertThat(closed.err()).contains("closed: run asks");
    assertThat(done("gc").out()).contains("removed 0 uploads");
    assertThat(done("retention", "run").out()).contains("deleted ");
    done("hold", "place", "case-1", "local");
    done("runtime", "approve", "python", "3.13.5");
    assertThat(done("console").out()).startsWith("http://127.0.0.1:").contains("#/sign-in/");
    assertThat(done("top", "--once").out()).contains("calls");
    Run clock = writ("clock", "correct");
    assertThat(clock.err()).as("what only a stopped server allows").contains("-");
    assertThat(clock.status()).isNotZero();
  }

  /** A home is served over TLS by a certificate of another name, of nobody's authority. */
  @Test
  void aServerThatSpeaksTlsIsBelievedByItsCertificate() throws Exception {
    done("init");
    certificate("own");
    Files.writeString(
        dir.resolve("home/gateway.yaml"),
        """
        writ_gateway: 1
        listen: { host: 127.0.0.1, tls: own, certificate: own.pem, key: own.key }
        """);
    Process server = serve();
    try {
      assertThat(done("run", "js", "--param", "source=6*7").out()).isEqualTo("42");
      done("key", "new", "bob");
      assertThat(done("console").out()).startsWith("https://127.0.0.1:");
      // Another certificate in its place is not believed: nothing is sent there.
      certificate("other");
      Files.move(dir.resolve("home/own.pem"), dir.resolve("home/kept.pem"));
      Files.move(dir.resolve("home/other.pem"), dir.resolve("home/own.pem"));
      Run refused = writ("key", "new", "eve");
      assertThat(refused.status()).isNotZero();
      assertThat(refused.err())
          .contains("GWY-061", "home/own.pem now; a server takes up a renewed one");
    } finally {
      end(server);
    }
    assertThat(done("key", "list").out()).contains("bob").doesNotContain("eve");
  }

  private void certificate(String name) throws Exception {
    Process openssl =
        new ProcessBuilder(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=elsewhere",
                "-keyout",
                name + ".key",
                "-out",
                name + ".pem")
            .directory(dir.resolve("home").toFile())
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("openssl").toFile())
            .start();
    assertThat(openssl.waitFor()).as(Files.readString(dir.resolve("openssl"))).isZero();
  }

  /** A server that was killed leaves its file, which says nothing any more. */
  @Test
  void aFileThatAKilledServerLeftIsIgnored() throws Exception {
    done("init");
    Process server = serve();
    server.destroyForcibly().waitFor();
    assertThat(dir.resolve("home/serving.json")).exists();
    assertThat(done("run", "js", "--param", "source=6*7").out()).isEqualTo("42");
    // Nor where another process has got its number by now.
    Path serving = dir.resolve("home/serving.json");
    String said = Files.readString(serving);
    Files.writeString(
        serving, said.replaceFirst("\"pid\":[0-9]+", "\"pid\":" + ProcessHandle.current().pid()));
    assertThat(Serving.of(new Home(dir.resolve("home"), () -> null))).isEmpty();
    assertThat(done("run", "js", "--param", "source=6*7").out()).isEqualTo("42");
    Files.writeString(serving, said.substring(0, 20)); // the disk was full
    assertThat(done("run", "js", "--param", "source=6*7").out()).isEqualTo("42");
  }

  /** A server that ends takes no calls and still has the home: the command waits for its end. */
  @Test
  void aCommandWaitsForAnotherOneThatHasTheDirectory() throws Exception {
    done("init");
    Home home = new Home(dir.resolve("home"), () -> null);
    OpenHome open =
        OpenHome.open(
            home, Opening.of(InstantSource.system(), SandboxPlace.host(home, ENVIRONMENT)));
    Serving ends = Serving.at(home, "http://127.0.0.1:1", "writ_x", new Listen.Protection.None());
    CompletableFuture<Run> waits =
        CompletableFuture.supplyAsync(() -> writ("run", "js", "--param", "source=6*7"));
    ends.ended();
    open.close();
    assertThat(waits.get().out()).isEqualTo("42");
  }
}
