package dev.writ.sinks.post;

import dev.writ.canonicalize.WritException;
import dev.writ.sinks.error.RefusedForNow;
import dev.writ.sinks.error.SinkError;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import javax.net.ssl.SSLHandshakeException;

/** Posts messages to one address. Redirects are not followed. Used by one thread. */
public final class Poster implements AutoCloseable {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);

  /** Answers that say something of the receiver and not of what it was sent. */
  private static final List<Integer> OF_THE_RECEIVER = List.of(401, 403, 404, 407, 408, 425, 429);

  private static final int GONE = 410;

  /** No receiver puts a message off for longer by its {@code Retry-After}. */
  private static final Duration LATER_MAX = Duration.ofHours(1);

  private final PostSettings settings;
  private final String shown;
  private final InstantSource clock;
  private HttpClient client;

  /**
   * @param shown the receiver in messages, without any secret
   * @param clock for answers that do not say when they were given
   */
  public Poster(PostSettings settings, String shown, InstantSource clock) {
    this.settings = settings;
    this.shown = shown;
    this.clock = clock;
  }

  public void open() {
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_WITHIN);
    settings.authorities().ifPresent(builder::sslContext);
    client = builder.build();
  }

  /**
   * Returns when the receiver has confirmed the message by 2xx.
   *
   * @throws WritException {@code SNK-001}, {@code SNK-002}, {@code SNK-009}, {@code SNK-011},
   *     {@code SNK-012}
   */
  public void post(SortedMap<String, String> headers, byte[] body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(settings.url())
            .timeout(settings.answerWithin())
            .header("User-Agent", "writ")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    headers.forEach(request::header);
    HttpResponse<InputStream> answer = answer(request.build());
    int status = answer.statusCode();
    if (status / 100 == 2) {
      return;
    }
    SinkError code = refusal(status);
    String found = shown + " answered " + status;
    Optional<Duration> later = later(answer);
    throw code == SinkError.REFUSED && later.isPresent()
        ? new RefusedForNow(later.get(), found, null)
        : new WritException(code, found);
  }

  /** What the receiver says of when to come again. */
  private Optional<Duration> later(HttpResponse<?> answer) {
    return answer
        .headers()
        .firstValue("Retry-After")
        .flatMap(said -> RetryAfter.of(said, answer.headers().firstValue("Date"), clock.instant()))
        .map(wait -> wait.compareTo(LATER_MAX) > 0 ? LATER_MAX : wait);
  }

  private static SinkError refusal(int status) {
    if (status == GONE) {
      return SinkError.GONE;
    }
    return status / 100 == 4 && !OF_THE_RECEIVER.contains(status)
        ? SinkError.REJECTED
        : SinkError.REFUSED;
  }

  /** The answer, whose body is not read. */
  private HttpResponse<InputStream> answer(HttpRequest request) {
    try {
      HttpResponse<InputStream> answer =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      answer.body().close();
      return answer;
    } catch (SSLHandshakeException e) {
      throw new WritException(SinkError.CERTIFICATE, shown + ": " + innermost(e), e);
    } catch (IOException e) {
      throw new WritException(
          SinkError.UNREACHABLE, shown + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(SinkError.UNREACHABLE, "interrupted", e);
    }
  }

  /** The type of the innermost cause; messages quote the receiver's certificate. */
  public static String innermost(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null && cause.getCause() != cause) {
      cause = cause.getCause();
    }
    return cause.getClass().getSimpleName();
  }

  @Override
  public void close() {
    if (client != null) {
      client.shutdownNow();
    }
  }
}
