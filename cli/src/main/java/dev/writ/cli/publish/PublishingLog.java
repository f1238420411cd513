package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.ledger.note.Checkpoint;
import java.time.InstantSource;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

/** What a server logs and counts of publishing. */
final class PublishingLog {
  /** Who can be in the way; the names of witnesses and authorities are no labels. */
  static final List<String> PARTIES = List.of("bucket", "folder", "log", "stamp", "witness");

  private final Consumer<JsonValue.Obj> lines;
  private final InstantSource clock;
  private final LongAdder published = new LongAdder();
  private final TreeMap<String, LongAdder> failures = new TreeMap<>();

  PublishingLog(Consumer<JsonValue.Obj> lines, InstantSource clock) {
    this.lines = lines;
    this.clock = clock;
    PARTIES.forEach(party -> failures.put(party, new LongAdder()));
  }

  void published(Checkpoint note, List<String> places) {
    published.increment();
    lines.accept(
        line("info", "checkpoint-published")
            .put("size", note.size())
            .put("signatures", note.note().signatures().size())
            .putList("places", places, JsonValue::of)
            .build());
  }

  /**
   * @param isNew whether it was not the same before; only then there is a line
   */
  void failed(String who, WritException why, boolean isNew) {
    PARTIES.stream().filter(who::startsWith).forEach(party -> failures.get(party).increment());
    if (isNew) {
      lines.accept(
          line("error", "checkpoint-not-published")
              .put("who", who)
              .put("code", why.code().code())
              .put("detail", why.found())
              .build());
    }
  }

  private ObjectBuilder line(String level, String event) {
    return JsonValue.object().put("at", clock.instant()).put("level", level).put("event", event);
  }

  long published() {
    return published.sum();
  }

  long failures(String party) {
    return failures.get(party).sum();
  }
}
