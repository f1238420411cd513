package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Terminal;
import dev.writ.client.error.ClientError;
import dev.writ.embed.home.Home;
import dev.writ.guardian.document.AccessDocument;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;

/**
 * The server that has a home open: it gets approvals that were signed in this process, and is read.
 */
final class ServedHome {
  private static final Duration ACCESS_LIFE = Duration.ofMinutes(1);

  private final URI server;

  ServedHome(URI server) {
    this.server = server;
  }

  /** The server's answer to an approval. */
  record Approved(JsonValue.Obj answer) implements Report {
    @Override
    public JsonValue toJson() {
      return answer;
    }

    ExitCode exitCode() {
      return switch (text("verdict")) {
        case "ALLOW" -> ExitCode.OK;
        case "ESCALATE" -> ExitCode.PENDING;
        default -> ExitCode.REFUSED;
      };
    }

    void print(Terminal terminal) {
      terminal.err().println("judged again by the server: " + text("verdict"));
      terminal.err().println("  request  " + text("request_id"));
      terminal.err().println("  decision " + text("decision_id"));
    }

    private String text(String key) {
      return answer.get(key) instanceof JsonValue.Str text ? text.value() : "";
    }
  }

  /**
   * Hands a signed approval in.
   *
   * @throws WritException {@code GWY-060} with the server's code, {@code GWY-061}
   */
  Approved approve(Envelope approval) {
    return new Approved(
        answer(
            HttpRequest.newBuilder(server.resolve("/v1/approvals"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(approval.toBytes()))));
  }

  /** The Authorization header of a bearer token that a file holds. */
  static String bearer(String token) {
    if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new WritException(CliError.USAGE, "the file of --token has no token");
    }
    return "Bearer " + token;
  }

  /** The Authorization header of an access document that a key of the home signs, for a minute. */
  static String signedAccess(Home home, String key) {
    Instant now = Homes.clock().instant();
    return AccessDocument.header(
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(home.tenant(), home.origin(), now, now.plus(ACCESS_LIFE)).toJson(),
            home.key(key)));
  }

  /**
   * Reads for whom the header is.
   *
   * @throws WritException {@code GWY-060} with the server's code, {@code GWY-061}
   */
  JsonValue.Obj get(String path, String authorization) {
    return answer(
        HttpRequest.newBuilder(server.resolve(path)).header("Authorization", authorization));
  }

  private JsonValue.Obj answer(HttpRequest.Builder request) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<byte[]> response =
          client.send(
              request.timeout(Duration.ofMinutes(1)).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      if (!(Jcs.parse(response.body()) instanceof JsonValue.Obj answer)) {
        throw new WritException(ClientError.ANSWER_REFUSED, "it is no object");
      }
      if (response.statusCode() != 200) {
        throw new WritException(
            ClientError.REFUSED, new Approved(answer).text("code") + " of " + server);
      }
      return answer;
    } catch (IOException e) {
      throw new WritException(
          ClientError.NO_ANSWER, server + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }
}
