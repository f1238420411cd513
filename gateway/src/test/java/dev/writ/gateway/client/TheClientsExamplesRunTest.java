package dev.writ.gateway.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.VerifiedOutcome;
import dev.writ.client.WritClient;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.TestGateway;
import dev.writ.guardian.document.Verdict;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TheClientsExamplesRunTest {
  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir.resolve("home"));
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private static Path root() {
    Path at = Path.of("").toAbsolutePath();
    while (!Files.exists(at.resolve("clients"))) {
      at = at.getParent();
    }
    return at;
  }

  /** The server's clock goes a little past that of the machine, which the examples read. */
  private List<String> arguments(String params) throws Exception {
    gateway.home.clock.set(Instant.now().plusSeconds(120));
    Path key = dir.resolve("alice-" + params.length() + ".pem");
    KeyFiles.write(key, TestKeys.key("alice"), null, new SecureRandom());
    Path trust = dir.resolve("trust.jwks");
    Files.write(trust, Jcs.write(gateway.home.kernel().system().trust().toJson()));
    return List.of(
        gateway.server.url(),
        TestHome.ORIGIN,
        TestKeys.TENANT,
        "alice",
        key.toString(),
        trust.toString(),
        "calc",
        "1.0.0",
        "do",
        "box",
        params);
  }

  private static String run(List<String> command, List<String> arguments) throws Exception {
    List<String> all = new ArrayList<>(command);
    all.addAll(arguments);
    Process process = new ProcessBuilder(all).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return process.waitFor() + " " + said;
  }

  @Test
  void inJava() throws Exception {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    String said =
        run(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                classPath,
                root().resolve("clients/java/Example.java").toString()),
            arguments("{\"n\":7}"));
    assertThat(said).contains("verdict ALLOW").contains("status succeeded").contains("\"n\":7");
  }

  @Test
  void inJavaScript() throws Exception {
    String said =
        run(
            List.of("node", "--no-warnings", root().resolve("clients/js/example.mjs").toString()),
            arguments("{\"n\":7,\"\u00e9\u20ac\":[1e21,0.1,-0.0,\"\\u000f\"]}"));
    assertThat(said).startsWith("0 verdict ALLOW").contains("status succeeded");
    assertThat(gateway.home.driver.runs()).hasSize(1);
  }

  @Test
  void theJavaScriptClientBelievesOnlyPinnedKeys() throws Exception {
    List<String> arguments = arguments("{}");
    Files.writeString(Path.of(arguments.get(5)), "{\"keys\":[]}");
    String said =
        run(
            List.of("node", "--no-warnings", root().resolve("clients/js/example.mjs").toString()),
            arguments);
    assertThat(said).startsWith("1 ").contains("is not pinned").doesNotContain("verdict");
  }

  private WritClient client(Trust trust) {
    return new WritClient(
        URI.create(gateway.server.url()),
        new WritClient.Agent(TestKeys.TENANT, "alice", TestKeys.key("alice")),
        new WritClient.Pinned(trust, TestHome.ORIGIN),
        gateway.home.clock,
        new SecureRandom());
  }

  @Test
  void theJavaClientBelievesOnlyPinnedKeysAndSaysTheServersCode() {
    var effect = gateway.home.ask("alice").request().effect();
    try (WritClient careful = client(Trust.of(List.of()))) {
      assertThatThrownBy(() -> careful.submit(careful.request("r", effect, Optional.empty())))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("CAN-052");
    }
    try (WritClient client = client(gateway.home.kernel().system().trust())) {
      var forbidden = gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}");
      VerifiedOutcome denied =
          client.submit(client.request("r", forbidden.request().effect(), Optional.empty()));
      assertThat(denied.decision().verdict()).isEqualTo(Verdict.DENY);
      assertThat(denied.receipt()).isEmpty();
      assertThatThrownBy(() -> client.get("/v1/runs/none"))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GWY-060")
          .hasMessageContaining("GWY-040");
      gateway.server.close();
      assertThatThrownBy(() -> client.get("/v1/runs"))
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GWY-061");
    }
  }

  @Test
  void anAnswerAboutSomethingElseIsRefused() {
    Trust trust = gateway.home.kernel().system().trust();
    Instant now = gateway.home.clock.instant();
    var request = gateway.home.ask("alice").params("{\"n\":1}").sign();
    var other = gateway.home.ask("alice").params("{\"n\":2}").sign();
    JsonValue.Obj answer = gateway.submit(request).json();
    JsonValue.Obj otherAnswer = gateway.submit(other).json();
    assertThat(VerifiedOutcome.of(answer, request, trust, now).output()).isPresent();
    assertThatThrownBy(() -> VerifiedOutcome.of(otherAnswer, request, trust, now))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-062");
    // The same effect, asked for again without an idempotency key, is another request.
    var again = gateway.home.ask("alice").params("{\"n\":1}").sign();
    assertThatThrownBy(() -> VerifiedOutcome.of(answer, again, trust, now))
        .isInstanceOf(WritException.class)
        .hasMessageContaining("GWY-062");
    for (String member : List.of("receipt", "output")) {
      var mixed = JsonValue.object();
      answer.members().forEach((k, v) -> mixed.put(k, k.equals(member) ? otherAnswer.get(k) : v));
      assertThatThrownBy(() -> VerifiedOutcome.of(mixed.build(), request, trust, now))
          .as(member)
          .isInstanceOf(WritException.class)
          .hasMessageContaining("GWY-062");
    }
  }
}
