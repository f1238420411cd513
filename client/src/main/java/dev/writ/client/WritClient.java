package dev.writ.client;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.client.error.ClientError;
import dev.writ.guardian.document.AccessDocument;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * An agent's side of the native API: signs requests, and accepts an answer only if pinned keys of
 * the installation have signed it and it is about that request. Thread safe.
 */
public final class WritClient implements AutoCloseable {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(10);

  private final URI server;
  private final Agent agent;
  private final Pinned pinned;
  private final InstantSource clock;
  private final SecureRandom random;
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_WITHIN)
          .build();

  /** Who asks. */
  public record Agent(String tenant, String subject, SigningKey key) {}

  /**
   * The pins: what the client trusts about a server, obtained from elsewhere than the server.
   *
   * @param trust with the guardian's and the executor's keys
   * @param origin the log's name
   */
  public record Pinned(Trust trust, String origin) {}

  public WritClient(
      URI server, Agent agent, Pinned pinned, InstantSource clock, SecureRandom random) {
    this.server = server;
    this.agent = agent;
    this.pinned = pinned;
    this.clock = clock;
    this.random = random;
  }

  /** Signs a request for an effect; sent again, it is the same request. */
  public Envelope request(String run, Effect effect, Optional<String> idempotencyKey) {
    byte[] nonce = new byte[16];
    random.nextBytes(nonce);
    Request request =
        new Request(
            new Scope(agent.tenant(), run, agent.subject()),
            effect,
            List.of(),
            idempotencyKey,
            HexFormat.of().formatHex(nonce),
            now(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), agent.key());
  }

  private Instant now() {
    return Timestamps.truncate(clock.instant());
  }

  /**
   * Submits a signed request and verifies what comes back.
   *
   * @throws WritException {@code GWY-060} where the server refuses, with its code; {@code GWY-061}
   *     where no answer comes; {@code GWY-062}, {@code CAN-0xx} where it does not verify
   */
  public VerifiedOutcome submit(Envelope request) {
    HttpResponse<byte[]> response =
        send(
            HttpRequest.newBuilder(server.resolve("/v1/effects"))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(request.toBytes())));
    return VerifiedOutcome.of(object(response), request, pinned.trust(), now());
  }

  /** Reads JSON that the agent may see, for example {@code /v1/runs}. None of it is verified. */
  public JsonValue.Obj get(String path) {
    return object(send(reading(path)));
  }

  /**
   * A signed document by its address, verified by the pinned keys.
   *
   * @param path for example {@code /v1/receipts/sha256:…}
   */
  public Envelope document(String path, Digest id, String type) {
    Envelope envelope = Envelope.parse(send(reading(path)).body());
    pinned.trust().verify(envelope, type, now());
    if (!envelope.id().equals(id)) {
      throw new WritException(ClientError.ANSWER_REFUSED, envelope.id() + " instead of " + id);
    }
    return envelope;
  }

  private HttpRequest.Builder reading(String path) {
    Instant now = now();
    AccessDocument access =
        new AccessDocument(agent.tenant(), pinned.origin(), now, now.plusSeconds(60));
    return HttpRequest.newBuilder(server.resolve(path))
        .header(
            "Authorization",
            AccessDocument.header(
                Envelope.sign(AccessDocument.TYPE, access.toJson(), agent.key())));
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request) {
    try {
      HttpResponse<byte[]> response =
          http.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      String type = response.headers().firstValue("Content-Type").orElse("");
      if (type.equals("application/problem+json")) {
        JsonValue.Obj problem = object(response);
        throw new WritException(
            ClientError.REFUSED, text(problem, "code") + " " + text(problem, "detail"));
      }
      return response;
    } catch (IOException e) {
      throw new WritException(ClientError.NO_ANSWER, e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }

  private static JsonValue.Obj object(HttpResponse<byte[]> response) {
    if (Jcs.parse(response.body()) instanceof JsonValue.Obj object) {
      return object;
    }
    throw new WritException(ClientError.ANSWER_REFUSED, "it is no object");
  }

  private static String text(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str text ? text.value() : "";
  }

  @Override
  public void close() {
    http.close();
  }
}
