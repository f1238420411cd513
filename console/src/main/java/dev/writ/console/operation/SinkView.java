package dev.writ.console.operation;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.Optional;

/**
 * How far a sink is. Where it sends to is not told: that is its owner's alone.
 *
 * @param state {@code current}, {@code behind}, {@code failing} or {@code paused}
 * @param position the next event of the log that it reads
 * @param behind events that it has not read
 * @param seconds age of the oldest of them
 * @param failures attempts that failed since the server started
 * @param deadLetters records that it gave up on; absent for one that never does
 */
public record SinkView(
    String name,
    String kind,
    String state,
    long position,
    long behind,
    long seconds,
    long delivered,
    long failures,
    Optional<Long> deadLetters,
    Optional<Trouble> trouble) {

  /**
   * Why nothing is delivered.
   *
   * @param code of the refusal
   */
  public record Trouble(String code, Instant since) {}

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .put("kind", kind)
        .put("state", state)
        .put("position", position)
        .put("behind", behind)
        .put("seconds", seconds)
        .put("delivered", delivered)
        .put("failures", failures)
        .putIfPresent("dead_letters", deadLetters, JsonValue::of)
        .putIfPresent(
            "trouble",
            trouble,
            t -> JsonValue.object().put("code", t.code()).put("since", t.since()).build())
        .build();
  }
}
