package dev.writ.console.operation;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.ops.Readiness;
import dev.writ.gateway.ops.ServerHealth;
import dev.writ.ledger.LedgerView;
import java.time.Instant;
import java.util.List;

/** The server on one page. */
final class Overview {
  private Overview() {}

  /**
   * @param waived guarantees of sandboxes that policy does without
   */
  static JsonValue.Obj of(
      String version, ServerHealth health, LedgerView ledger, List<String> waived, Instant now) {
    ObjectBuilder json =
        JsonValue.object()
            .put("now", now)
            .put("version", version)
            .put("started_at", health.startedAt())
            .put("ready", health.checks().stream().allMatch(Readiness.Check::ok))
            .putList(
                "checks",
                health.checks(),
                check ->
                    JsonValue.object()
                        .put("name", check.name())
                        .put("ok", check.ok())
                        .putIfPresent("why", check.why(), JsonValue::of)
                        .build())
            .put(
                "queue",
                JsonValue.object()
                    .put("waiting", health.waiting())
                    .put("running", health.running())
                    .put("commits_waiting", health.commitsWaiting())
                    .build())
            .put("log", log(ledger));
    health.diskFree().ifPresent(bytes -> json.put("disk_free_bytes", bytes));
    health.sandboxes().ifPresent(sandboxes -> json.put("sandboxes", sandboxes(sandboxes, waived)));
    return json.build();
  }

  private static JsonValue.Obj log(LedgerView ledger) {
    return JsonValue.object()
        .put("origin", ledger.origin())
        .put("size", ledger.treeSize())
        .put("last_event_at", ledger.highWater())
        .putIfPresent(
            "checkpoint_size", ledger.latestCheckpoint(), latest -> JsonValue.of(latest.size()))
        .build();
  }

  private static JsonValue guarantee(ServerHealth.Guarantee guarantee, List<String> waived) {
    return JsonValue.object()
        .put("name", guarantee.name())
        .put("held", JsonValue.of(guarantee.held()))
        .put("required", JsonValue.of(guarantee.required()))
        .put("waived", JsonValue.of(waived.contains(guarantee.name())))
        .put("how", guarantee.how())
        .build();
  }

  private static JsonValue.Obj sandboxes(ServerHealth.Sandboxes sandboxes, List<String> waived) {
    ObjectBuilder ended = JsonValue.object();
    sandboxes.ended().forEach(ended::put);
    return JsonValue.object()
        .putIfPresent("found", sandboxes.found(), JsonValue::of)
        .put("running", sandboxes.running())
        .put("started", sandboxes.started())
        .put("ended", ended.build())
        .putList("waived", waived, JsonValue::of)
        .putList("guarantees", sandboxes.guarantees(), guarantee -> guarantee(guarantee, waived))
        .build();
  }
}
