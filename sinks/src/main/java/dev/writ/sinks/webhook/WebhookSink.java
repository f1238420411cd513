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

/** Posts each incident to its receiver, signed. Redirects are not followed. */
public final class WebhookSink implements RecordSink {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(5);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(15);

  /** Answers that say something of the receiver and not of what it was sent. */
  private static final List<Integer> OF_THE_RECEIVER = List.of(401, 403, 404, 407, 408, 425, 429);

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
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(CONNECT_WITHIN)
            .build();
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
            .timeout(ANSWER_WITHIN)
            .header("User-Agent", "writ")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    MessageSignature.headers(
            settings.key(), settings.url(), CloudEvent.MEDIA_TYPE, body, clock.instant())
        .forEach(request::header);
    settings.token().ifPresent(token -> request.header("Authorization", "Bearer " + token));
    int status = status(request.build());
    if (status / 100 != 2) {
      throw new WritException(
          status / 100 == 4 && !OF_THE_RECEIVER.contains(status)
              ? SinkError.REJECTED
              : SinkError.REFUSED,
          settings + " answered " + status);
    }
  }

  /** The answer's status; its body is not read. */
  private int status(HttpRequest request) {
    try {
      HttpResponse<InputStream> answer =
          client.send(request, HttpResponse.BodyHandlers.ofInputStream());
      answer.body().close();
      return answer.statusCode();
    } catch (IOException e) {
      throw new WritException(
          SinkError.UNREACHABLE, settings + ": " + e.getClass().getSimpleName(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new WritException(SinkError.UNREACHABLE, "interrupted", e);
    }
  }

  @Override
  public void close() {
    if (client != null) {
      client.shutdownNow();
    }
  }
}
