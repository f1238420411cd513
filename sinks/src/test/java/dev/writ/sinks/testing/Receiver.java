package dev.writ.sinks.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import javax.net.ssl.SSLContext;

/** A receiver of webhooks on loopback, which keeps what it takes and answers as a test says. */
public final class Receiver implements AutoCloseable {
  private static final int NO_CONTENT = 204;

  private final HttpServer server;
  private final String scheme;
  private final List<Message> taken = new ArrayList<>();
  private Function<Message, Integer> answers = _ -> NO_CONTENT;
  private Optional<String> location = Optional.empty();
  private Optional<String> retryAfter = Optional.empty();
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
    this(0);
  }

  /**
   * @param port of loopback; 0 for a free one
   */
  public Receiver(int port) {
    try {
      server = HttpServer.create(address(port), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    scheme = "http";
    begin();
  }

  /** Over TLS, with that certificate. */
  public Receiver(SSLContext certificate) {
    try {
      HttpsServer secured = HttpsServer.create(address(0), 0);
      secured.setHttpsConfigurator(new HttpsConfigurator(certificate));
      server = secured;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    scheme = "https";
    begin();
  }

  private static InetSocketAddress address(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private void begin() {
    server.createContext("/", this::take);
    server.setExecutor(task -> Thread.ofVirtual().start(task));
    server.start();
  }

  public int port() {
    return server.getAddress().getPort();
  }

  public String url() {
    return scheme + "://127.0.0.1:" + port() + "/incidents?of=writ";
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
      if (status == SLOW) {
        silence.await();
        return;
      }
      if (status == UNCONFIRMED) {
        return;
      }
      retryAfter.ifPresent(after -> exchange.getResponseHeaders().add("Retry-After", after));
      location.ifPresent(to -> exchange.getResponseHeaders().add("Location", to));
      exchange.sendResponseHeaders(status, -1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** In place of a status: reads the message, and says nothing until it is closed. */
  public static final int SLOW = 0;

  /** In place of a status: takes the message, and ends the connection before it says so. */
  public static final int UNCONFIRMED = -1;

  private final CountDownLatch silence = new CountDownLatch(1);

  private synchronized int answer(Message message) {
    asked++;
    int status = answers.apply(message);
    if (status == NO_CONTENT || status == UNCONFIRMED) {
      taken.add(message);
    }
    return status;
  }

  /** Answers so from now on; what is answered by 204 is kept. */
  public synchronized void answers(Function<Message, Integer> with) {
    answers = with;
  }

  /** Answers so from now on, with that header. */
  public synchronized void putsOff(int status, String after) {
    retryAfter = Optional.of(after);
    answers = _ -> status;
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
    silence.countDown();
    server.stop(0);
  }
}
