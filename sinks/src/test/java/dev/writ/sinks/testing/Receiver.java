package dev.writ.sinks.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A receiver of webhooks on loopback, which keeps what it takes and answers as a test says. */
public final class Receiver implements AutoCloseable {
  private static final int NO_CONTENT = 204;

  private final HttpServer server;
  private final List<Message> taken = new ArrayList<>();
  private Function<Message, Integer> answers = _ -> NO_CONTENT;
  private Optional<String> location = Optional.empty();
  private int asked;

  /** What was posted. */
  public record Message(
      String contentType,
      String digest,
      String input,
      String signature,
      Optional<String> authorization,
      byte[] body) {
    public JsonValue.Obj event() {
      return (JsonValue.Obj) Jcs.parse(body);
    }

    public JsonValue.Obj data() {
      return (JsonValue.Obj) event().get("data");
    }

    public String id() {
      return text(event(), "id");
    }

    public String text(String name) {
      return text(data(), name);
    }

    private static String text(JsonValue.Obj of, String name) {
      return ((JsonValue.Str) of.get(name)).value();
    }
  }

  public Receiver() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/", this::take);
    server.start();
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/incidents?of=writ";
  }

  private void take(HttpExchange exchange) throws IOException {
    try (exchange) {
      var headers = exchange.getRequestHeaders();
      Message message =
          new Message(
              headers.getFirst("Content-Type"),
              headers.getFirst("Content-Digest"),
              headers.getFirst("Signature-Input"),
              headers.getFirst("Signature"),
              Optional.ofNullable(headers.getFirst("Authorization")),
              exchange.getRequestBody().readAllBytes());
      int status = answer(message);
      location.ifPresent(to -> exchange.getResponseHeaders().add("Location", to));
      exchange.sendResponseHeaders(status, -1);
    }
  }

  private synchronized int answer(Message message) {
    asked++;
    int status = answers.apply(message);
    if (status == NO_CONTENT) {
      taken.add(message);
    }
    return status;
  }

  /** Answers so from now on; what is answered by 204 is kept. */
  public synchronized void answers(Function<Message, Integer> with) {
    answers = with;
  }

  /** Sends callers elsewhere. */
  public synchronized void redirects(String to) {
    location = Optional.of(to);
    answers = _ -> 307;
  }

  public synchronized List<Message> taken() {
    return List.copyOf(taken);
  }

  /** How often it was called. */
  public synchronized int asked() {
    return asked;
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
