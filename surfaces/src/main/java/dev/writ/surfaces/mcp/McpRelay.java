package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import io.modelcontextprotocol.spec.McpSchema;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Relays messages of a client on standard input to a server's {@code /mcp}, and what the server
 * sends beside its answer to the client. If the server has dropped the session it begins a new one,
 * once, as the client did, with the level of logs that the client wanted.
 */
public final class McpRelay implements AutoCloseable {
  /** Until the head of an answer comes; longer than any effect may take. */
  private static final Duration WITHIN = Duration.ofMinutes(15);

  /** Before a stream that broke off is opened again. */
  private static final Duration AGAIN = Duration.ofSeconds(1);

  private static final String LOGS = McpSchema.METHOD_LOGGING_SET_LEVEL;
  private static final String EVENTS = "text/event-stream";
  private static final String DATA = "data: ";

  private static final byte[] INITIALIZE =
      ("{\"id\":\"writ\",\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{\"capabilities\":{},"
           + "\"clientInfo\":{\"name\":\"writ\",\"version\":\"0\"},\"protocolVersion\":\"2025-11-25\"}}")
          .getBytes(StandardCharsets.UTF_8);

  private final URI server;
  private final McpView view;
  private final Supplier<String> authorization;
  private final HttpClient client;
  private final Object beginning = new Object();

  /** Answers to requests without a session, which end when they are closed, by their ids. */
  private final Map<JsonValue, InputStream> open = new ConcurrentHashMap<>();

  private byte[] initialize = INITIALIZE;

  /** What the client last said of the logs that it wants, since it began. */
  private Optional<byte[]> logs = Optional.empty();

  private Optional<String> session = Optional.empty();

  /** The session whose own messages are listened for. */
  private String heard = "";

  private boolean closed;

  /**
   * @param server without a path, for example {@code http://127.0.0.1:8181}
   * @param view which of the server's views
   * @param authorization the header's value, asked for each call
   * @param tls whom to trust; absent for the authorities of the JDK
   */
  public McpRelay(
      URI server, McpView view, Supplier<String> authorization, Optional<SSLContext> tls) {
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(Duration.ofSeconds(10));
    tls.ifPresent(builder::sslContext);
    this.client = builder.build();
    this.server = server;
    this.view = view;
    this.authorization = authorization;
  }

  /**
   * What the server answers.
   *
   * @param beside gets what comes before the answer
   * @throws WritException {@code GWY-061} where none came, {@code GWY-060} with what it refused
   */
  public Optional<byte[]> answer(byte[] message, McpChannel beside) {
    if (!(McpMessage.read(message) instanceof JsonValue.Obj one)) {
      return inSession(message, beside); // a batch, if the version has them
    }
    return switch (McpMessage.of(one)) {
      case McpMessage.Request request when request.method().equals(McpSurface.INITIALIZE) -> {
        synchronized (beginning) {
          heard = "";
          initialize = message;
          logs = Optional.empty();
          yield Optional.of(begin());
        }
      }
      case McpMessage.Request request when Subscription.is(request) && request.isStateless() -> {
        listen(message, request, beside);
        yield Optional.empty();
      }
      case McpMessage.Request request when request.isStateless() ->
          withoutSession(message, request, beside);
      case McpMessage.Notification gone when cancels(gone) -> Optional.empty();
      case McpMessage.Request request when request.method().equals(LOGS) -> {
        Optional<byte[]> answer = inSession(message, beside);
        synchronized (beginning) {
          logs = Optional.of(message);
        }
        yield answer;
      }
      default -> inSession(message, beside);
    };
  }

  private Optional<byte[]> inSession(byte[] message, McpChannel beside) {
    String used = open(Optional.empty());
    HttpResponse<InputStream> response = post(message, Optional.of(used));
    if (response.statusCode() == 404) {
      discard(response);
      used = open(Optional.of(used));
      response = post(message, Optional.of(used));
    }
    hear(used, beside);
    return content(response, beside);
  }

  /** Hands on the session's own messages, from its first message after initialize on. */
  private void hear(String in, McpChannel beside) {
    boolean isAnother;
    synchronized (beginning) {
      if (closed || in.equals(heard) || !session.equals(Optional.of(in))) {
        return;
      }
      isAnother = !heard.isEmpty();
      heard = in;
    }
    if (isAnother) {
      beside.send(ListKind.TOOLS.changed()); // nobody knows what changed between the two
    }
    Thread.ofVirtual().name("writ-mcp-listens").start(() -> hearAll(in, beside));
  }

  /** A stream that broke off is opened again; one that the server does not have is not. */
  private void hearAll(String in, McpChannel beside) {
    try {
      while (isOpen(in)) {
        try {
          HttpRequest.Builder call = call(Optional.of(in)).header("Accept", EVENTS).GET();
          HttpResponse<InputStream> response = send(call);
          if (response.statusCode() != 200) {
            discard(response);
            return;
          }
          content(response, beside);
        } catch (WritException e) {
          // the server has gone, or goes: it may come back
        }
        Thread.sleep(AGAIN);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isOpen(String in) {
    synchronized (beginning) {
      return !closed && session.equals(Optional.of(in));
    }
  }

  /** The answer to subscriptions/listen ends with the subscription; nothing waits for it. */
  private void listen(byte[] message, McpMessage.Request request, McpChannel beside) {
    Thread.ofVirtual()
        .name("writ-mcp-listens")
        .start(() -> {
          byte[] last;
          try {
            last = withoutSession(message, request, beside).orElse(null);
          } catch (WritException e) {
            last = McpSurface.error(e, message);
          }
          if (last != null) {
            beside.send((JsonValue.Obj) Jcs.parse(last));
          }
        });
  }

  private Optional<byte[]> withoutSession(
      byte[] message, McpMessage.Request request, McpChannel beside) {
    HttpRequest.Builder call =
        call(Optional.empty()).header("Mcp-Method", encoded(request.method()));
    text(request.meta(StatelessProtocol.PROTOCOL_VERSION))
        .ifPresent(version -> call.header(McpSurface.VERSION, encoded(version)));
    String named =
        switch (request.method()) {
          case McpSchema.METHOD_TOOLS_CALL, McpSchema.METHOD_PROMPT_GET -> "name";
          case McpSchema.METHOD_RESOURCES_READ -> "uri";
          default -> "";
        };
    text(request.param(named)).ifPresent(name -> call.header("Mcp-Name", encoded(name)));
    HttpResponse<InputStream> response = send(posting(call, message));
    open.put(request.id(), response.body());
    try {
      return content(response, beside);
    } catch (WritException e) {
      if (open.containsKey(request.id())) {
        throw e;
      }
      return Optional.empty(); // cancelled
    } finally {
      open.remove(request.id());
    }
  }

  /** Over HTTP a request without a session is cancelled by closing its answer. */
  private boolean cancels(McpMessage.Notification notification) {
    if (!notification.method().equals(McpSurface.CANCELLED)) {
      return false;
    }
    Optional<InputStream> answer = notification.param("requestId").map(open::remove);
    answer.ifPresent(McpRelay::close);
    return answer.isPresent();
  }

  private static Optional<String> text(Optional<JsonValue> value) {
    return value
        .filter(JsonValue.Str.class::isInstance)
        .map(found -> ((JsonValue.Str) found).value());
  }

  private static String encoded(String name) {
    boolean plain =
        name.chars().allMatch(c -> c >= 0x20 && c < 0x7f)
            && name.equals(name.strip())
            && !name.startsWith("=?base64?");
    return plain
        ? name
        : "=?base64?"
            + Base64.getEncoder().encodeToString(name.getBytes(StandardCharsets.UTF_8))
            + "?=";
  }

  /** The session; a new one if the old one was dropped. */
  private String open(Optional<String> gone) {
    synchronized (beginning) {
      if (session.isEmpty() || session.equals(gone)) {
        begin();
        // Its client had its answer when it said it: a new session only has to know.
        logs.ifPresent(message -> discard(post(message, session)));
      }
      return session.orElseThrow(() -> new WritException(ClientError.REFUSED, "initialize"));
    }
  }

  private byte[] begin() {
    HttpResponse<InputStream> response = post(initialize, Optional.empty());
    session = response.headers().firstValue(McpSurface.SESSION);
    return content(response, McpChannel.NONE)
        .orElseThrow(() -> new WritException(ClientError.NO_ANSWER, "initialize"));
  }

  private HttpResponse<InputStream> post(byte[] message, Optional<String> in) {
    return send(posting(call(in), message));
  }

  private static HttpRequest.Builder posting(HttpRequest.Builder call, byte[] message) {
    return call.header("Content-Type", "application/json")
        .header("Accept", "application/json, " + EVENTS)
        .POST(HttpRequest.BodyPublishers.ofByteArray(message));
  }

  private HttpRequest.Builder call(Optional<String> in) {
    HttpRequest.Builder call =
        HttpRequest.newBuilder(server.resolve(view.path()))
            .timeout(WITHIN)
            .header("Authorization", authorization.get());
    in.ifPresent(id -> call.header(McpSurface.SESSION, id));
    return call;
  }

  private HttpResponse<InputStream> send(HttpRequest.Builder call) {
    try {
      return client.send(call.build(), HttpResponse.BodyHandlers.ofInputStream());
    } catch (IOException e) {
      throw new WritException(
          ClientError.NO_ANSWER, server + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, server + ": interrupted", e);
    }
  }

  private static void discard(HttpResponse<InputStream> response) {
    close(response.body());
  }

  private static void close(InputStream body) {
    try {
      body.close();
    } catch (IOException e) {
      // it has ended already
    }
  }

  /** A JSON-RPC answer unchanged; another refusal by the server as its message. */
  private Optional<byte[]> content(HttpResponse<InputStream> response, McpChannel beside) {
    try (InputStream body = response.body()) {
      if (response.statusCode() == 202) {
        return Optional.empty();
      }
      boolean streams =
          response.headers().firstValue("Content-Type").filter(McpRelay::isEvents).isPresent();
      return streams
          ? events(body, beside)
          : Optional.of(whole(response.statusCode(), body.readAllBytes()));
    } catch (IOException e) {
      throw new WritException(
          ClientError.NO_ANSWER, server + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /** A proxy on the way may have added a character set. */
  private static boolean isEvents(String type) {
    return type.split(";", 2)[0].strip().equalsIgnoreCase(EVENTS);
  }

  /** Hands on each message but the last, which is the answer; empty if there is none. */
  private static Optional<byte[]> events(InputStream body, McpChannel beside) throws IOException {
    BufferedReader lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (!line.startsWith(DATA)) {
        continue;
      }
      byte[] bytes = line.substring(DATA.length()).getBytes(StandardCharsets.UTF_8);
      JsonValue.Obj message = (JsonValue.Obj) Jcs.parse(bytes);
      if (message.get("method") == null) {
        return Optional.of(Jcs.write(message));
      }
      beside.send(message);
    }
    return Optional.empty();
  }

  private static byte[] whole(int status, byte[] bytes) {
    JsonValue read;
    try {
      read = Jcs.parse(bytes);
    } catch (WritException e) {
      throw new WritException(ClientError.REFUSED, "status " + status, e);
    }
    if (read instanceof JsonValue.Arr
        || read instanceof JsonValue.Obj o && o.get("jsonrpc") != null) {
      return Jcs.write(read); // on one line, whatever it was
    }
    String code =
        read instanceof JsonValue.Obj problem && problem.get("code") instanceof JsonValue.Str text
            ? " " + text.value()
            : "";
    throw new WritException(ClientError.REFUSED, "status " + status + code);
  }

  /** Ends the session, if the server is still there. */
  @Override
  public void close() {
    synchronized (beginning) {
      closed = true;
    }
    try {
      session.ifPresent(id -> discard(send(call(Optional.of(id)).DELETE())));
    } catch (WritException e) {
      // the server is gone, and the session with it
    } finally {
      client.shutdownNow(); // streams that are open end
    }
  }
}
