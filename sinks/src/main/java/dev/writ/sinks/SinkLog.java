package dev.writ.sinks;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sinks.feed.FeedObserver;
import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkRecord;
import java.time.InstantSource;
import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Lines for the server's log: when trouble begins, changes and ends, not each attempt. */
public final class SinkLog implements FeedObserver {
  private final Consumer<JsonValue.Obj> lines;
  private final InstantSource clock;
  private final ConcurrentHashMap<String, String> told = new ConcurrentHashMap<>();

  public SinkLog(Consumer<JsonValue.Obj> lines, InstantSource clock) {
    this.lines = lines;
    this.clock = clock;
  }

  @Override
  public void failed(String sink, WritException why) {
    if (!why.code().code().equals(told.put(sink, why.code().code()))) {
      lines.accept(
          line("error", "sink-failed", sink)
              .put("code", why.code().code())
              .put("detail", why.found())
              .build());
    }
  }

  @Override
  public void recovered(String sink) {
    told.remove(sink);
    lines.accept(line("info", "sink-recovered", sink).build());
  }

  @Override
  public void gaveUp(String sink, SinkRecord record, WritException why) {
    lines.accept(
        line("error", "sink-gave-up", sink)
            .put("record", record.id().toString())
            .put("code", why.code().code())
            .build());
  }

  @Override
  public void rewound(String sink, long position) {
    lines.accept(line("error", "sink-rewound", sink).put("position", position).build());
  }

  @Override
  public void ordered(String sink, SinkOrder order) {
    lines.accept(
        line("info", "sink-ordered", sink)
            .put("detail", order.action().name().toLowerCase(Locale.ROOT))
            .build());
  }

  private ObjectBuilder line(String level, String event, String sink) {
    return JsonValue.object()
        .put("at", clock.instant())
        .put("level", level)
        .put("event", event)
        .put("sink", sink);
  }
}
