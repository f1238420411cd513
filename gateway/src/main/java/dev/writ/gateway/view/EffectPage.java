package dev.writ.gateway.view;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Some rows, the newest first, and how far was looked for them. One call reads a bounded part of
 * the log, so a page may be short, or empty, with more behind it.
 *
 * @param nextBefore where the next page begins; absent where there is none
 * @param searched what was looked at
 */
public record EffectPage(List<Shown> effects, Optional<Long> nextBefore, Searched searched) {

  /**
   * A row with what its reader may see of it.
   *
   * @param contents whether the reader may see parameters and reasons
   */
  public record Shown(EffectView row, boolean contents) {
    public JsonValue.Obj toJson() {
      return row.toJson(contents);
    }
  }

  /**
   * A part of the log.
   *
   * @param fromIndex inclusive
   * @param toIndex exclusive
   * @param fromAt time of the oldest event in it; absent where nothing was looked at
   */
  public record Searched(long fromIndex, long toIndex, Optional<Instant> fromAt) {}

  public EffectPage {
    effects = List.copyOf(effects);
  }

  /** Whether there is nothing more behind it. */
  public boolean complete() {
    return nextBefore.isEmpty();
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("effects", effects, Shown::toJson)
        .putIfPresent("next_before", nextBefore, JsonValue::of)
        .put(
            "searched",
            JsonValue.object()
                .put("from_index", searched.fromIndex())
                .put("to_index", searched.toIndex())
                .putIfPresent(
                    "from_at", searched.fromAt(), at -> JsonValue.of(Timestamps.format(at)))
                .build())
        .put("complete", complete())
        .build();
  }
}
