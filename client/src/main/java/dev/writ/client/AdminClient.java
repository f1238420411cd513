package dev.writ.client;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import dev.writ.guardian.policy.Policy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * An owner's side of a running server: sends what owners have signed. The signature is the only
 * credential, so there is none that could be stolen on the way.
 */
public final class AdminClient implements AutoCloseable {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(60);

  private final URI server;
  private final HttpClient http;

  /**
   * @param authority PEM of the authority that issued the server's certificate; absent for those
   *     that Java trusts
   * @throws WritException {@code GWY-063}
   */
  public AdminClient(URI server, Optional<Path> authority) {
    this.server = server;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10));
    authority.map(Wire::trusting).ifPresent(builder::sslContext);
    this.http = builder.build();
  }

  /**
   * Activates a policy, and checks that the server has put this one in force.
   *
   * @throws WritException {@code GWY-060} with the server's code, {@code GWY-061}, {@code GWY-062}
   */
  public void activate(Envelope signedPolicy) {
    String digest = Policy.ofCanonical(signedPolicy.document()).digest().toString();
    JsonValue.Obj answer = post("/v1/policies", signedPolicy);
    if (!JsonValue.of(digest).equals(answer.get("digest"))) {
      throw new WritException(
          ClientError.ANSWER_REFUSED, "another policy than " + digest + " is in force");
    }
  }

  /**
   * A code that opens a session of the console.
   *
   * @param text good once
   */
  public record SignInCode(String text, Instant expiresAt) {}

  /**
   * Asks for a code for the holder of a key.
   *
   * @param access the Authorization header of an access document that the key has signed
   * @throws WritException {@code GWY-060} with the server's code, {@code GWY-061}, {@code GWY-062}
   */
  public SignInCode signInCode(String access) {
    Fields fields =
        Fields.of(
            "answer",
            send(
                HttpRequest.newBuilder(server.resolve("/console/sign-in-codes"))
                    .header("Authorization", access)
                    .POST(HttpRequest.BodyPublishers.noBody())));
    return new SignInCode(fields.name("code"), fields.time("expires_at"));
  }

  /** Sends a signed document. */
  public JsonValue.Obj post(String path, Envelope signed) {
    return send(
        HttpRequest.newBuilder(server.resolve(path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(signed.toBytes())));
  }

  private JsonValue.Obj send(HttpRequest.Builder request) {
    try {
      HttpResponse<byte[]> response =
          http.send(
              request.timeout(ANSWER_WITHIN).build(), HttpResponse.BodyHandlers.ofByteArray());
      if (!(parsed(response.body()) instanceof JsonValue.Obj object)) {
        throw new WritException(ClientError.ANSWER_REFUSED, "it is no object");
      }
      if (response.statusCode() / 100 != 2) {
        throw new WritException(
            ClientError.REFUSED, text(object, "code") + " " + text(object, "detail"));
      }
      return object;
    } catch (IOException e) {
      throw new WritException(ClientError.NO_ANSWER, e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }

  private static JsonValue parsed(byte[] body) {
    try {
      return Jcs.parse(body);
    } catch (WritException e) {
      throw new WritException(ClientError.ANSWER_REFUSED, "it is no JSON", e);
    }
  }

  private static String text(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str text ? text.value() : "";
  }

  @Override
  public void close() {
    http.close();
  }
}
