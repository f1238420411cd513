package dev.writ.gateway.statistics;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.OptionalLong;

/**
 * What was counted.
 *
 * @param calls answers that were no repetitions
 * @param allowed effects that were dispatched and have a receipt
 * @param failed of these, those that did not succeed; and what was refused before a dispatch
 * @param cost in the unit of policy's prices
 * @param p50Ms half of the effects took no longer; a little more than exact
 */
public record Counts(
    long calls,
    long allowed,
    long denied,
    long waiting,
    long failed,
    long cost,
    OptionalLong p50Ms,
    OptionalLong p99Ms) {

  ObjectBuilder addTo(ObjectBuilder json) {
    json.put("calls", calls)
        .put("allowed", allowed)
        .put("denied", denied)
        .put("waiting", waiting)
        .put("failed", failed)
        .put("cost", cost);
    p50Ms.ifPresent(ms -> json.put("p50_ms", JsonValue.of(ms)));
    p99Ms.ifPresent(ms -> json.put("p99_ms", JsonValue.of(ms)));
    return json;
  }
}
