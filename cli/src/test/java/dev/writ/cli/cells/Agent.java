package dev.writ.cli.cells;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Signs requests and sends them to any gateway, and keeps what was acknowledged. */
final class Agent implements AutoCloseable {
  private static final AtomicInteger NUMBERS = new AtomicInteger();

  private final SigningKey key;
  private final String tenant;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Agent(Gateways gateways) {
    this(gateways, "local", "agent");
  }

  /** The agent of a home. */
  Agent(Path home) {
    this(home, "local", "agent");
  }

  /** The agent of another tenant, whose key has this name. */
  Agent(Gateways gateways, String tenant, String name) {
    this(gateways.home(0), tenant, name);
  }

  private Agent(Path home, String tenant, String name) {
    this.tenant = tenant;
    this.key = KeyFiles.read(home.resolve("keys/" + name + ".pem"), () -> null);
  }

  String tenant() {
    return tenant;
  }

  /** A request that was signed, and the number of its effect outside. */
  record Asked(Envelope request, String effect) {}

  /** An answer. */
  record Answered(int status, JsonValue.Obj body) {
    /** The status of the receipt in it. */
    String receiptStatus() {
      JsonValue.Obj envelope = (JsonValue.Obj) body.get("receipt");
      String payload = ((JsonValue.Str) envelope.get("payload")).value();
      String text = new String(Base64.getDecoder().decode(payload), StandardCharsets.UTF_8);
      return text.replaceFirst(".*\"status\":\"([a-z_]+)\".*", "$1");
    }

    String text(String member) {
      return body.get(member) instanceof JsonValue.Str text ? text.value() : "";
    }
  }

  Asked outside(String run) {
    String id = "e" + NUMBERS.incrementAndGet();
    return new Asked(
        request(run, "outside", "act", JsonValue.object().put("id", id).build(), "http"), id);
  }

  Asked js(String run, String source) {
    return new Asked(
        request(run, "js", "eval", JsonValue.object().put("source", source).build(), "wasm"), "");
  }

  private Envelope request(
      String run, String tool, String operation, JsonValue.Obj params, String sandbox) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
    Request request =
        new Request(
            new Scope(tenant, run, "agent"),
            new Effect(
                tool,
                "1.0.0",
                operation,
                params,
                List.of(),
                new Resources(5_000, 64L << 20, 1 << 20, 10_000),
                sandbox,
                Optional.empty()),
            List.of(),
            Optional.empty(),
            Digest.sha256((now + " " + NUMBERS.incrementAndGet()).getBytes())
                .hex()
                .substring(0, 32),
            now,
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), key);
  }

  /**
   * Sends it once.
   *
   * @throws IOException where there is no answer
   */
  Answered send(URI gateway, Asked asked) throws IOException {
    try {
      HttpResponse<byte[]> response =
          http.send(
              HttpRequest.newBuilder(gateway.resolve("/v1/effects"))
                  .timeout(Duration.ofSeconds(40))
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofByteArray(asked.request().toBytes()))
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      return new Answered(response.statusCode(), (JsonValue.Obj) Jcs.parse(response.body()));
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
