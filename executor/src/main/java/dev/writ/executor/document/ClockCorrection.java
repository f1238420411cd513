package dev.writ.executor.document;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import java.time.Instant;
import java.util.Optional;

/**
 * The detail of a {@code clock.corrected}: an operator sets the log's time to another one than that
 * of its last event. It is valid at one position of the log only.
 *
 * @param from the log's latest time before it
 * @param to the time of its event; no later event has an earlier one, until the next correction
 * @param treeSize number of events before it
 * @param incarnation the incarnation that begins with it, if time goes back; absent if it goes
 *     forward
 */
public record ClockCorrection(Instant from, Instant to, long treeSize, Optional<Long> incarnation) {

  /**
   * @throws WritException {@code EXE-981} where {@code incarnation} is there without need, or is
   *     missing
   */
  public ClockCorrection {
    if (to.isBefore(from) != incarnation.isPresent()) {
      throw new WritException(
          ExecutorError.CLOCK_CORRECTION,
          "from "
              + from
              + " to "
              + to
              + incarnation.map(i -> " with incarnation " + i).orElse(" without an incarnation"));
    }
  }

  public static ClockCorrection read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    ClockCorrection correction =
        new ClockCorrection(
            fields.time("from"),
            fields.time("to"),
            fields.count("tree_size"),
            fields.optional("incarnation", fields::count));
    fields.end();
    return correction;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("from", from)
        .put("to", to)
        .put("tree_size", treeSize)
        .putIfPresent("incarnation", incarnation, JsonValue::of)
        .build();
  }

  /** Whether time goes back. */
  public boolean goesBack() {
    return incarnation.isPresent();
  }
}
