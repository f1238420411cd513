package dev.writ.gateway.view;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One row: what became of one request (spec/gateway.md, Effects).
 *
 * @param index where in the log the request was received, which orders the rows
 * @param onBehalfOf the subjects that delegated, and are charged too
 * @param surface that vouched; absent where an agent signed
 * @param verdict of the latest decision
 * @param outcome as the receipt writes it; absent without one
 * @param code why it was not allowed, was refused, or did not succeed
 * @param reason the same for people; it may tell of parameters
 * @param decidedAt time of the latest decision
 * @param finishedAt of the receipt, or of the refusal
 * @param durationMs from the dispatch to the end
 * @param waitedMs from the reception to the decision that ended the wait for approvals
 * @param cost what the policy of the decision charges for it; absent where it has no price, and for
 *     what was denied
 */
public record EffectView(
    long index,
    Digest request,
    Scope scope,
    List<String> onBehalfOf,
    String tool,
    String version,
    String operation,
    Optional<String> surface,
    Verdict verdict,
    State state,
    Optional<Status> outcome,
    Optional<String> code,
    Optional<String> reason,
    Instant receivedAt,
    Instant decidedAt,
    Optional<Instant> finishedAt,
    Optional<Long> durationMs,
    Optional<Long> waitedMs,
    Optional<Long> cost,
    Digest decision,
    Optional<Digest> receipt) {

  /** How far a request has come. */
  public enum State {
    /** It was allowed, and is not known to have been dispatched. */
    JUDGED,
    /** For approvals. */
    WAITING,
    EXECUTING,
    /** There is a receipt, whatever it says. */
    DONE,
    /** It was allowed, and refused before its dispatch: nothing happened. */
    REFUSED,
    /** Nobody knows whether it happened, and no operator has resolved that. */
    IN_DOUBT,
    DENIED;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public EffectView {
    onBehalfOf = List.copyOf(onBehalfOf);
  }

  /** Whether nothing will change in it any more, but for a repetition or an operator's word. */
  public boolean isFinal() {
    return state == State.DONE || state == State.DENIED;
  }

  /**
   * @param contents whether the reader may know what it tells of parameters
   */
  public JsonValue.Obj toJson(boolean contents) {
    return JsonValue.object()
        .put("request_id", request)
        .put("tenant", scope.tenant())
        .put("run", scope.run())
        .put("subject", scope.subject())
        .putIfPresent(
            "on_behalf_of",
            Optional.of(onBehalfOf).filter(names -> !names.isEmpty()),
            names -> JsonValue.of(names.stream().<JsonValue>map(JsonValue::of).toList()))
        .put("tool", tool)
        .put("version", version)
        .put("operation", operation)
        .putIfPresent("surface", surface, JsonValue::of)
        .put("verdict", verdict.name())
        .put("state", state.text())
        .putIfPresent("outcome", outcome, status -> JsonValue.of(status.text()))
        .putIfPresent("code", code, JsonValue::of)
        .putIfPresent("reason", reason.filter(_ -> contents), JsonValue::of)
        .put("received_at", receivedAt)
        .put("decided_at", decidedAt)
        .putIfPresent("finished_at", finishedAt, at -> JsonValue.of(Timestamps.format(at)))
        .putIfPresent("duration_ms", durationMs, JsonValue::of)
        .putIfPresent("waited_ms", waitedMs, JsonValue::of)
        .putIfPresent("cost", cost, JsonValue::of)
        .put("decision_id", decision)
        .putIfPresent("receipt_id", receipt, id -> JsonValue.of(id.toString()))
        .put("index", index)
        .build();
  }
}
