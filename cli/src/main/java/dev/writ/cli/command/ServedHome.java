package dev.writ.cli.command;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.term.Terminal;
import dev.writ.client.error.ClientError;
import dev.writ.embed.home.ApproverRole;
import dev.writ.embed.home.Home;
import dev.writ.executor.SystemState;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** An approval for a home that a server has open: signed in this process, sent to that server. */
final class ServedHome {
  private static final Duration APPROVAL_LIFE = Duration.ofHours(1);

  private final Home home;
  private final URI server;

  ServedHome(Home home, URI server) {
    this.home = home;
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
   * @param view the ledger as it is on disk
   * @throws WritException {@code GWY-060} with the server's code, {@code GWY-061}
   */
  Approved approve(
      LedgerView view,
      Envelope request,
      SigningKey key,
      Optional<String> role,
      Approval.Verdict verdict) {
    SystemState state = SystemState.read(view);
    TrustedKey approver =
        state
            .trust()
            .key(key.kid())
            .orElseThrow(
                () -> new WritException(CanonicalizeError.KEY_UNKNOWN, "key " + key.kid()));
    String tenant = approver.tenant().orElse("");
    List<String> roles = state.policyInForce().approverRoles(tenant, approver.subject());
    Digest effect = Request.read(request.document()).effect().digest();
    Instant now = Homes.clock().instant();
    Approval approval =
        new Approval(
            tenant,
            approver.subject(),
            role.orElseGet(() -> ApproverRole.only(roles)),
            request.id(),
            effect,
            state.policyInForce().digest(),
            verdict,
            now,
            now.plus(APPROVAL_LIFE));
    return post(Envelope.sign(Approval.TYPE, approval.toJson(), key));
  }

  private Approved post(Envelope approval) {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<byte[]> response =
          client.send(
              HttpRequest.newBuilder(server.resolve("/v1/approvals"))
                  .timeout(Duration.ofMinutes(1))
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofByteArray(approval.toBytes()))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      if (!(Jcs.parse(response.body()) instanceof JsonValue.Obj answer)) {
        throw new WritException(ClientError.ANSWER_REFUSED, "it is no object");
      }
      if (response.statusCode() != 200) {
        throw new WritException(
            ClientError.REFUSED, new Approved(answer).text("code") + " of " + server);
      }
      return new Approved(answer);
    } catch (IOException e) {
      throw new WritException(
          ClientError.NO_ANSWER, server + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }
}
