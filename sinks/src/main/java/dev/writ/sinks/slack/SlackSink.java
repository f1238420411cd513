package dev.writ.sinks.slack;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.post.Poster;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Posts each notice as a message of Slack's incoming webhooks. */
public final class SlackSink implements RecordSink {
  private final SlackSettings settings;
  private final Poster poster;

  public SlackSink(SlackSettings settings, InstantSource clock) {
    this.settings = settings;
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
    for (SinkRecord notice : records) {
      poster.post(new TreeMap<>(Map.of("Content-Type", "application/json")), body(notice));
    }
  }

  private byte[] body(SinkRecord notice) {
    String text =
        "*"
            + settings.text().subject(notice)
            + "*\n"
            + String.join("\n", settings.text().lines(notice));
    return Jcs.write(JsonValue.object().put("text", text).build());
  }

  @Override
  public void close() {
    poster.close();
  }
}
