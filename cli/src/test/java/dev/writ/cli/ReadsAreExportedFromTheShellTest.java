package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.rules.Project;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ export --reads} has what a server stated of a person's reads, and both verifiers
 * count it.
 */
class ReadsAreExportedFromTheShellTest {
  private static final String STATED =
      "2 reads by people: stated, as policy asks, as the executor signed";

  @TempDir Path dir;

  private String done(String... arguments) {
    return new OneHome(dir.resolve("home")).done(arguments).out();
  }

  @Test
  void whatTheServerStatedIsInTheBundleAndBothVerifiersCountIt() throws Exception {
    done("init", "--tenant", "acme");
    Path policy = dir.resolve("home/policy.yaml");
    Files.writeString(
        policy,
        "\nreads: [ { tenant: acme, what: [bundles, outputs, policy] } ]\n",
        StandardOpenOption.APPEND);
    done("policy", "activate", policy.toString());
    String run = done("--json", "run", "js", "--param", "source=6*7");
    String receipt =
        ((JsonValue.Str)
                ((JsonValue.Obj) Jcs.parse(run.strip().getBytes(StandardCharsets.UTF_8)))
                    .get("receipt_id"))
            .value();
    readAsAnAuditor(
        List.of(
            "/v1/receipts/" + receipt + "/output",
            "/v1/runs/main/bundle",
            "/v1/policy",
            "/v1/receipts/" + receipt + "/output"));
    done("checkpoint");
    assertThat(done("audit")).contains(STATED.replace("2 reads", "3 reads"));
    Path without = dir.resolve("without.writ");
    done("export", "main", "--latest", "-o", without.toString());
    assertThat(verified(without)).noneMatch(said -> said.contains("reads by people"));
    Path with = dir.resolve("with.writ");
    done("export", "main", "--reads", "-o", with.toString());
    assertThat(verified(with)).hasSize(2).allMatch(said -> said.contains(STATED));
  }

  private void readAsAnAuditor(List<String> paths) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", dir.resolve("home").toString(), "serve", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader();
        HttpClient http = HttpClient.newHttpClient()) {
      assertThat(out.readLine()).startsWith("listening on http://");
      String[] address = done("console").strip().split("/#/sign-in/");
      HttpResponse<String> opened =
          http.send(
              HttpRequest.newBuilder(URI.create(address[0] + "/console/session"))
                  .header("Authorization", "Writ-Code " + address[1])
                  .POST(HttpRequest.BodyPublishers.noBody())
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      String cookie = opened.headers().firstValue("set-cookie").orElseThrow().split(";")[0];
      for (String path : paths) {
        assertThat(get(http, address[0] + path, cookie).statusCode()).as(path).isEqualTo(200);
      }
      assertThat(get(http, address[0] + "/v1/reads?subject=approver", cookie).body())
          .contains("\"method\":\"session\"", "\"run\":\"main\"", "\"complete\":true");
    } finally {
      server.destroy();
      server.waitFor();
    }
  }

  private static HttpResponse<String> get(HttpClient http, String address, String cookie)
      throws IOException, InterruptedException {
    return http.send(
        HttpRequest.newBuilder(URI.create(address)).header("Cookie", cookie).build(),
        HttpResponse.BodyHandlers.ofString(StandardCharsets.ISO_8859_1));
  }

  /** What each of both verifiers says of a bundle that it accepts. */
  private List<String> verified(Path bundle) throws Exception {
    String pins = dir.resolve("home/trust.jwks").toString();
    Process second =
        new ProcessBuilder(
                "node",
                Project.root()
                    .resolve("verify/src/main/resources/dev/writ/verify/bundle/verify.mjs")
                    .toString(),
                bundle.toString(),
                "--trust",
                pins)
            .redirectErrorStream(true)
            .start();
    String words = new String(second.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(second.waitFor()).as(words).isZero();
    return List.of(done("verify", bundle.toString(), "--trust", pins), words);
  }
}
