package dev.writ.client;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.TlsAuthorities;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.client.error.ClientError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;

/** Sends calls and repeats those that may be repeated (spec/client.md, Repeating). Thread safe. */
final class Wire implements AutoCloseable {
  private static final List<String> LOOPBACK = List.of("127.0.0.1", "localhost", "[::1]");
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(10);
  private static final long LONGEST_PAUSE_MS = 5000;

  /** How much of a body has to come within {@link ClientSettings#answerWithin}, unless it ends. */
  private static final int PIECE_BYTES = 1 << 16;

  /** What a Writ answers with, beside problems: 403 is a denial, with its decision. */
  private static final Set<Integer> STATUSES = Set.of(200, 201, 202, 206, 403);

  private final String server;
  private final ClientSettings settings;
  private final HttpClient http;

  /**
   * @throws WritException {@code GWY-063}, {@code GWY-064}
   */
  Wire(URI server, ClientSettings settings) {
    this.server = address(server);
    this.settings = settings;
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_WITHIN);
    settings.authority().map(Wire::trusting).ifPresent(builder::sslContext);
    this.http = builder.build();
  }

  /** Secrets go over TLS, or stay on this machine. */
  private static String address(URI server) {
    if (server.getHost() == null
        || server.getUserInfo() != null
        || server.getQuery() != null
        || server.getFragment() != null) {
      throw new WritException(
          ClientError.ADDRESS, "it has no host, or a user, a query or a fragment");
    }
    boolean here = "http".equals(server.getScheme()) && LOOPBACK.contains(server.getHost());
    if (!here && !"https".equals(server.getScheme())) {
      throw new WritException(ClientError.ADDRESS, server.getScheme() + " to " + server.getHost());
    }
    return server.toString().replaceAll("/$", "");
  }

  static SSLContext trusting(Path authority) {
    try {
      return TlsAuthorities.trusting(Files.readAllBytes(authority));
    } catch (IOException | CertificateException e) {
      throw new WritException(
          ClientError.AUTHORITY_UNREADABLE, authority + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /** An answer within its limit. */
  record Reply(int status, byte[] body) {
    /**
     * @throws WritException {@code CAN-0xx}, {@code GWY-062}
     */
    JsonValue.Obj object() {
      if (Jcs.parse(body) instanceof JsonValue.Obj object) {
        return object;
      }
      throw new WritException(ClientError.ANSWER_REFUSED, "it is no object");
    }
  }

  /** What went wrong, and whether anything of the request may have arrived. */
  private static final class NoAnswer extends WritException {
    private static final long serialVersionUID = 1L;
    private final boolean sent;

    NoAnswer(String found, boolean sent, Throwable cause) {
      super(ClientError.NO_ANSWER, found, cause);
      this.sent = sent;
    }
  }

  /** A refusal of the moment, with the pause that the server asks for. */
  private record Busy(RefusedException refused, long pauseMs) {}

  /**
   * Sends until it is answered. What may not be repeated is sent again only where it never arrived,
   * or where the server says that it did nothing.
   *
   * @param call makes the request anew each time, since what it signs grows old
   * @throws WritException {@code GWY-060} to {@code GWY-062}
   */
  Reply send(
      Function<HttpRequest.Builder, HttpRequest.Builder> call,
      String path,
      boolean repeatable,
      long bytesMax) {
    long until = System.nanoTime() + settings.retryFor().toNanos();
    for (int attempt = 1; ; attempt++) {
      long pause = pause(attempt);
      WritException failure;
      try {
        Object answer = once(call, path, repeatable, bytesMax);
        if (answer instanceof Reply reply) {
          return reply;
        }
        Busy busy = (Busy) answer;
        pause = Math.max(pause, busy.pauseMs());
        failure = busy.refused();
      } catch (NoAnswer e) {
        if (e.sent && !repeatable) {
          throw e;
        }
        failure = e;
      }
      if (System.nanoTime() + pause * 1_000_000 > until) {
        throw failure;
      }
      sleep(pause);
    }
  }

  private long pause(int attempt) {
    long most = Math.min(LONGEST_PAUSE_MS, 100L << Math.min(attempt, 10));
    return most / 2 + settings.random().nextLong(most / 2 + 1);
  }

  static void sleep(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }

  /** A {@link Reply}, or {@link Busy}. */
  private Object once(
      Function<HttpRequest.Builder, HttpRequest.Builder> call,
      String path,
      boolean repeatable,
      long bytesMax) {
    try {
      HttpResponse<InputStream> response = open(call, path);
      byte[] body = body(response, Math.min(Integer.MAX_VALUE - 8, bytesMax + 1));
      if (body.length > bytesMax) {
        throw new WritException(ClientError.ANSWER_REFUSED, "it has more than " + bytesMax);
      }
      return judged(response, body, repeatable);
    } catch (IOException e) {
      boolean never = e instanceof ConnectException || e instanceof HttpConnectTimeoutException;
      String what = (never ? "no connection to " : "no answer from ") + server + ": ";
      throw new NoAnswer(what + why(e), !never, e);
    }
  }

  /** What failed below. Of TLS in its words; other texts may be what a stranger sent. */
  private static String why(IOException e) {
    String kind = e.getClass().getSimpleName();
    return e instanceof SSLException ? kind + ": " + e.getMessage() : kind;
  }

  /**
   * The body, or as much of it as was asked for. The client's own timeout ends with the head, and
   * what stands still in the middle of a body would be waited for without end.
   */
  private byte[] body(HttpResponse<InputStream> response, long most) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (InputStream in = response.body();
        SilenceWatch watch = new SilenceWatch(in, settings.answerWithin())) {
      int wanted = PIECE_BYTES;
      for (int came = wanted; came == wanted && body.size() < most; watch.heard()) {
        wanted = (int) Math.min(PIECE_BYTES, most - body.size());
        byte[] piece = in.readNBytes(wanted);
        watch.requireInTime();
        body.writeBytes(piece);
        came = piece.length;
      }
    }
    return body.toByteArray();
  }

  private static Object judged(HttpResponse<?> response, byte[] body, boolean repeatable) {
    int status = response.statusCode();
    if (isOf("application/problem+json", response)) {
      RefusedException refused = refusal(status, body);
      if (passes(refused, repeatable)) {
        String after = response.headers().firstValue("Retry-After").orElse("0");
        return new Busy(refused, after.matches("[0-9]{1,6}") ? Long.parseLong(after) * 1000 : 0);
      }
      throw refused;
    }
    if (status >= 500) {
      throw new NoAnswer("status " + status + " of something that is no Writ", true, null);
    }
    // A redirect, a proxy's page, somebody else's server: nothing of it says that the work was
    // done.
    if (!STATUSES.contains(status) || isOf("text/html", response)) {
      throw notOfWrit(status);
    }
    return new Reply(status, body);
  }

  private static WritException notOfWrit(int status) {
    return new WritException(
        ClientError.ANSWER_REFUSED, "status " + status + " of something that is no Writ");
  }

  /** Whether the answer is of that media type, whatever its parameters are. */
  static boolean isOf(String mediaType, HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Content-Type")
        .filter(type -> type.split(";", 2)[0].strip().equalsIgnoreCase(mediaType))
        .isPresent();
  }

  /** Whether a refusal is of the moment. 503 GWY-038 may come after the work was done. */
  private static boolean passes(RefusedException refused, boolean repeatable) {
    if (refused.status() == 409 && refused.serverCode().equals("EXE-109")) {
      return repeatable;
    }
    return (refused.status() == 429 || refused.status() == 503)
        && (repeatable || !refused.serverCode().equals("GWY-038"));
  }

  /**
   * @throws WritException {@code GWY-062} for what is no problem in JSON
   */
  static RefusedException refusal(int status, byte[] body) {
    JsonValue.Obj problem;
    try {
      problem = new Reply(status, body).object();
    } catch (WritException e) {
      throw notOfWrit(status);
    }
    return new RefusedException(
        status, text(problem, "code"), text(problem, "title"), text(problem, "detail"));
  }

  private static String text(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str text ? text.value() : "";
  }

  /** The answer as it comes. */
  HttpResponse<InputStream> open(
      Function<HttpRequest.Builder, HttpRequest.Builder> call, String path) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server + path)).timeout(settings.answerWithin());
    try {
      return http.send(call.apply(request).build(), HttpResponse.BodyHandlers.ofInputStream());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(ClientError.NO_ANSWER, "interrupted", e);
    }
  }

  @Override
  public void close() {
    http.shutdownNow(); // a stream that is being read has no end of its own
    http.close();
  }
}
