package dev.writ.sinks.webhook;

import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.post.Poster;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Posts each incident or notice to its receiver, signed. */
public final class WebhookSink implements RecordSink {
  private final WebhookSettings settings;
  private final InstantSource clock;
  private final Poster poster;

  public WebhookSink(WebhookSettings settings, InstantSource clock) {
    this.settings = settings;
    this.clock = clock;
    this.poster = new Poster(settings.post(), settings.toString(), clock);
  }

  @Override
  public boolean knowsLast() {
    return false;
  }

  @Override
  public Optional<RecordId> open() {
    poster.open();
    return Optional.empty();
  }

  @Override
  public void deliver(List<SinkRecord> records) {
    records.forEach(this::deliver);
  }

  private void deliver(SinkRecord record) {
    byte[] body = settings.about().bytes(record);
    SortedMap<String, String> headers =
        new TreeMap<>(
            MessageSignature.headers(
                settings.key(),
                settings.post().url(),
                settings.about().tag(),
                body,
                clock.instant()));
    settings.token().ifPresent(token -> headers.put("Authorization", "Bearer " + token));
    poster.post(headers, body);
  }

  @Override
  public void close() {
    poster.close();
  }
}
