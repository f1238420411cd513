package dev.writ.sinks.webhook;

import dev.writ.canonicalize.WritException;
import dev.writ.sinks.error.SinkError;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLHandshakeException;

/** Posts each incident to its receiver, signed. Redirects are not followed. */
public final class WebhookSink implements RecordSink {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);

  /** Answers that say something of the receiver and not of what it was sent. */
  private static final List<Integer> OF_THE_RECEIVER = List.of(401, 403, 404, 407, 408, 425, 429);

  private static final int GONE = 410;

  private final WebhookSettings settings;
  private final InstantSource clock;
  private HttpClient client;

  public WebhookSink(WebhookSettings settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
  }

  @Override
  public boolean knowsLast() {
    return false;
  }

  @Override
  public Optional<RecordId> open() {
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_WITHIN);
    settings.authorities().ifPresent(builder::sslContext);
    client = builder.build();
    return Optional.empty();
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    records.forEach(this::deliver);
  }

  private void deliver(SinkRecord incident) {
    byte[] body = CloudEvent.bytes(incident);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(settings.url())
            .timeout(settings.answerWithin())
            .header("User-Agent", "writ")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    MessageSignature.headers(
            settings.key(), settings.url(), CloudEvent.MEDIA_TYPE, body, clock.instant())
        .forEach(request::header);
    settings.token().ifPresent(token -> request.header("Authorization", "Bearer " + token));
    int status = status(request.build());
    if (status / 100 != 2) {
      throw new WritException(refusal(status), settings + " answered " + status);
    }
  }

  private static SinkError refusal(int status) {
    if (status == GONE) {
      return SinkError.GONE;
    }
    return status / 100 == 4 && !OF_THE_RECEIVER.contains(status)
        ? SinkError.REJECTED
        : SinkError.REFUSED;
  }

  /** The answer's status; its body is not read. */
  private int status(HttpRequest request) {
    try {
      HttpResponse<InputStream> answer =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      answer.body().close();
      return answer.statusCode();
    } catch (SSLHandshakeException e) {
      throw new WritException(SinkError.CERTIFICATE, settings + ": " + cause(e), e);
    } catch (IOException e) {
      throw new WritException(
          SinkError.UNREACHABLE, settings + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(SinkError.UNREACHABLE, "interrupted", e);
    }
  }

  /** The type of the innermost cause; messages quote the receiver's certificate. */
  private static String cause(Throwable e) {
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
