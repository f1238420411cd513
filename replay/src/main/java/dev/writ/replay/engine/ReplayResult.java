package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.ErrorJson;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.event.RunId;
import java.util.List;
import java.util.Optional;

/**
 * The result of a replay.
 *
 * @param events of the run
 * @param runHash digest of the recorded run's last event
 * @param replayHash digest of the replay's last event, which is the one that differs if the replay
 *     ended there
 * @param failure why it could not continue
 * @param reexecuted what was executed again, with counts
 * @param checked what was only checked for consistency
 * @param neither what was taken from the record, each with the reason
 */
public record ReplayResult(
    State state,
    RunId run,
    long events,
    Optional<Digest> runHash,
    Optional<Digest> replayHash,
    List<Divergence> divergences,
    Optional<WritException> failure,
    List<String> reexecuted,
    List<String> checked,
    List<String> neither) {

  /** Where a session is. */
  public enum State {
    RUNNING,
    /** Everything was executed again, or taken over as listed, and nothing differs. */
    COMPLETE,
    DIVERGED,
    /** It could not be completed. */
    FAILED
  }

  public ReplayResult {
    divergences = List.copyOf(divergences);
    reexecuted = List.copyOf(reexecuted);
    checked = List.copyOf(checked);
    neither = List.copyOf(neither);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("state", state.name())
        .put("tenant", run.tenant())
        .put("run", run.run())
        .put("events", events)
        .putIfPresent("run_hash", runHash, d -> JsonValue.of(d.toString()))
        .putIfPresent("replay_hash", replayHash, d -> JsonValue.of(d.toString()))
        .putList("divergences", divergences, Divergence::toJson)
        .putIfPresent("failure", failure, ErrorJson::of)
        .putList("reexecuted", reexecuted, JsonValue::of)
        .putList("checked", checked, JsonValue::of)
        .putList("neither", neither, JsonValue::of)
        .build();
  }
}
