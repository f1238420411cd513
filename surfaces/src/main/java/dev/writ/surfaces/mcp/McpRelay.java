package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Relays messages of a client on standard input to a server's {@code /mcp}. If the server has
 * dropped the session it begins a new one, once, as the client did.
 */
public final class McpRelay implements AutoCloseable {
  /** Longer than any effect may take. */
  private static final Duration WITHIN = Duration.ofMinutes(15);

  private static final byte[] INITIALIZE =
      ("{\"id\":\"writ\",\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{\"capabilities\":{},"
           + "\"clientInfo\":{\"name\":\"writ\",\"version\":\"0\"},\"protocolVersion\":\"2025-11-25\"}}")
          .getBytes(StandardCharsets.UTF_8);

  private final URI server;
  private final Supplier<String> authorization;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(Duration.ofSeconds(10))
          .build();
  private final Object beginning = new Object();
  private byte[] initialize = INITIALIZE;
  private Optional<String> session = Optional.empty();

  /**
   * @param server without a path, for example {@code http://127.0.0.1:8181}
   * @param authorization the header's value, asked for each call
   */
  public McpRelay(URI server, Supplier<String> authorization) {
    this.server = server;
    this.authorization = authorization;
  }

  /**
   * What the server answers.
   *
   * @throws WritException {@code GWY-061} where none came, {@code GWY-060} with what it refused
   */
  public Optional<byte[]> answer(byte[] message) {
    McpMessage read = McpMessage.parse(message);
    if (read instanceof McpMessage.Request request && request.method().equals("initialize")) {
      synchronized (beginning) {
        initialize = message;
        return Optional.of(begin());
      }
    }
    String used = open(Optional.empty());
    HttpResponse<byte[]> response = post(message, Optional.of(used));
    if (response.statusCode() == 404) {
      response = post(message, Optional.of(open(Optional.of(used))));
    }
    return content(response);
  }

  /** The session; a new one if the old one was dropped. */
  private String open(Optional<String> gone) {
    synchronized (beginning) {
      if (session.isEmpty() || session.equals(gone)) {
        begin();
      }
      return session.orElseThrow(() -> new WritException(ClientError.REFUSED, "initialize"));
    }
  }

  private byte[] begin() {
    HttpResponse<byte[]> response = post(initialize, Optional.empty());
    session = response.headers().firstValue(McpSurface.SESSION);
    return content(response)
        .orElseThrow(() -> new WritException(ClientError.NO_ANSWER, "initialize"));
  }

  private HttpResponse<byte[]> post(byte[] message, Optional<String> in) {
    return send(
        call(in)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .POST(HttpRequest.BodyPublishers.ofByteArray(message)));
  }

  private HttpRequest.Builder call(Optional<String> in) {
    HttpRequest.Builder call =
        HttpRequest.newBuilder(server.resolve(McpSurface.PATH))
            .timeout(WITHIN)
            .header("Authorization", authorization.get());
    in.ifPresent(id -> call.header(McpSurface.SESSION, id));
    return call;
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder call) {
    try {
      return client.send(call.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException e) {
      throw new WritException(
          ClientError.NO_ANSWER, server + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, server + ": interrupted", e);
    }
  }

  /** A JSON-RPC answer unchanged; another refusal by the server as its message. */
  private static Optional<byte[]> content(HttpResponse<byte[]> response) {
    if (response.statusCode() == 202) {
      return Optional.empty();
    }
    JsonValue read;
    try {
      read = Jcs.parse(response.body());
    } catch (WritException e) {
      throw new WritException(ClientError.REFUSED, "status " + response.statusCode(), e);
    }
    if (read instanceof JsonValue.Obj object && object.get("jsonrpc") != null) {
      return Optional.of(Jcs.write(object)); // on one line, whatever it was
    }
    String code =
        read instanceof JsonValue.Obj problem && problem.get("code") instanceof JsonValue.Str text
            ? " " + text.value()
            : "";
    throw new WritException(ClientError.REFUSED, "status " + response.statusCode() + code);
  }

  /** Ends the session, if the server is still there. */
  @Override
  public void close() {
    try {
      session.ifPresent(id -> send(call(Optional.of(id)).DELETE()));
    } catch (WritException e) {
      // the server is gone, and the session with it
    } finally {
      client.close();
    }
  }
}
