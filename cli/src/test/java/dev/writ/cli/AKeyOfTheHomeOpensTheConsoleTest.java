package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ console} beside a server in a process of its own, as on the first day. */
class AKeyOfTheHomeOpensTheConsoleTest {
  @TempDir Path dir;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home")).writ(arguments);
  }

  @Test
  void theAddressSignsInTheApproverOnce() throws Exception {
    assertThat(writ("init").status()).isZero();
    Run none = writ("console");
    assertThat(none.status()).isEqualTo(6);
    assertThat(none.err()).contains("CLI-030", "writ serve");
    ProcessBuilder builder =
        new ProcessBuilder(
            OwnProcess.writ("--home", dir.resolve("home").toString(), "serve", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    Process server = builder.redirectError(dir.resolve("log").toFile()).start();
    try (BufferedReader out = server.inputReader();
        HttpClient http = HttpClient.newHttpClient()) {
      assertThat(out.readLine()).startsWith("listening on http://");
      Run entrance = writ("console");
      assertThat(entrance.status()).as(entrance.err()).isZero();
      assertThat(entrance.err()).contains("Signs in approver, once");
      String[] address = entrance.out().strip().split("/#/sign-in/");
      HttpRequest opening =
          HttpRequest.newBuilder(URI.create(address[0] + "/console/session"))
              .header("Authorization", "Writ-Code " + address[1])
              .POST(HttpRequest.BodyPublishers.noBody())
              .build();
      HttpResponse<String> opened = http.send(opening, HttpResponse.BodyHandlers.ofString());
      assertThat(opened.statusCode()).as(opened.body()).isEqualTo(204);
      String cookie = opened.headers().firstValue("set-cookie").orElseThrow().split(";")[0];
      HttpResponse<String> session =
          http.send(
              HttpRequest.newBuilder(URI.create(address[0] + "/console/session"))
                  .header("Cookie", cookie)
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      assertThat(session.body())
          .contains("\"subject\":\"approver\"", "\"people_roles\":[\"auditor\",\"operator\"]");
      assertThat(http.send(opening, HttpResponse.BodyHandlers.ofString()).body())
          .contains("GWY-095");
      // An operator's key is of no tenant, and signs no access document.
      Run operator = writ("console", "--as", "operator");
      assertThat(operator.status()).isNotZero();
      assertThat(operator.out()).isEmpty();
    } finally {
      server.destroy();
      server.waitFor();
    }
  }
}
