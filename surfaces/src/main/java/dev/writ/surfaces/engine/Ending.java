package dev.writ.surfaces.engine;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Verdict;
import dev.writ.surfaces.engine.ToolExecutionResult.Failure;
import dev.writ.surfaces.engine.ToolExecutionResult.Status;
import java.util.List;
import java.util.Optional;

/**
 * How an execution ended, in the words of seed 004: the table of spec/surface-engine.md.
 *
 * @param failure absent only for a success
 */
record Ending(
    ExecutionState state,
    Status status,
    List<ToolExecutionIncident> incidents,
    Optional<Failure> failure) {

  /** Ended because of a cancellation. */
  static final String CANCELLED = "cancelled";

  /** Why an effect was cancelled. */
  enum Cancelled {
    BY_ITS_CALLER,
    OVER_BUDGET,
    TOOL_REVOKED
  }

  /** The ending that a dispatched effect's receipt states. */
  static Ending of(Receipt receipt, Effect effect, Cancelled why) {
    String reason = receipt.code().orElse(receipt.reason());
    String message = receipt.message().isEmpty() ? receipt.reason() : receipt.message();
    return switch (receipt.status()) {
      case SUCCEEDED ->
          new Ending(ExecutionState.Completed, Status.Succeeded, List.of(), Optional.empty());
      case TIMED_OUT ->
          with(ExecutionState.TimedOut, Status.TimedOut, IncidentKind.Timeout, reason, message);
      case KILLED ->
          reason.equals(CANCELLED)
              ? cancelled(why, message)
              : failed(ExecutionState.Killed, reason, message, IncidentKind.of(receipt, effect));
      case FAILED ->
          failed(ExecutionState.Failed, reason, message, IncidentKind.of(receipt, effect));
      case IN_DOUBT -> failed(ExecutionState.Failed, reason, message, Optional.empty());
    };
  }

  private static Ending cancelled(Cancelled why, String message) {
    return switch (why) {
      case BY_ITS_CALLER -> failed(ExecutionState.Killed, CANCELLED, message, Optional.empty());
      case OVER_BUDGET ->
          with(
              ExecutionState.TimedOut,
              Status.TimedOut,
              IncidentKind.Timeout,
              CANCELLED,
              "it took longer than its timeoutBudgetMs");
      case TOOL_REVOKED ->
          with(
              ExecutionState.Killed,
              Status.PolicyDenied,
              IncidentKind.PolicyDenied,
              ExecutorError.TOOL_PROHIBITED.code(),
              "the tool was revoked while it ran");
    };
  }

  /** The ending of a request that the Guardian did not allow. */
  static Ending of(Decision decision, Optional<Guidance> guidance) {
    String message = decision.refusing().map(CheckOutcome::detail).orElse("");
    String code = decision.code().orElse("");
    Optional<JsonValue.Obj> approval =
        decision.verdict() == Verdict.ESCALATE
            ? Optional.of(
                JsonValue.object()
                    .put("request", decision.request())
                    .put("effect", decision.effect())
                    .put("policy", decision.policy())
                    .build())
            : Optional.empty();
    return new Ending(
        ExecutionState.Failed,
        Status.PolicyDenied,
        List.of(new ToolExecutionIncident(IncidentKind.PolicyDenied, code, message, approval)),
        Optional.of(new Failure(code, message, guidance)));
  }

  /** The ending by a recorded refusal of stages 1 to 3. */
  static Ending of(Refusal refusal) {
    if (refusal.code().equals(EngineError.IN_THE_QUEUE.code())) {
      return inTheQueue();
    }
    return IncidentKind.isPolicys(refusal.code())
        ? with(
            ExecutionState.Failed,
            Status.PolicyDenied,
            IncidentKind.PolicyDenied,
            refusal.code(),
            refusal.found())
        : failed(ExecutionState.Failed, refusal.code(), refusal.found(), Optional.empty());
  }

  /** The time was over before it got its turn. */
  static Ending inTheQueue() {
    return with(
        ExecutionState.TimedOut,
        Status.TimedOut,
        IncidentKind.Timeout,
        EngineError.IN_THE_QUEUE.code(),
        EngineError.IN_THE_QUEUE.meaning());
  }

  /** Allowed, and ended before dispatch: by its caller, or at a server's shutdown. */
  static Ending notDispatched() {
    return failed(
        ExecutionState.Killed,
        EngineError.NOT_DISPATCHED.code(),
        EngineError.NOT_DISPATCHED.meaning(),
        Optional.empty());
  }

  /** Allowed, and refused by the queue or the kernel before dispatch. */
  static Ending refused(ErrorCode code) {
    return IncidentKind.isPolicys(code.code())
        ? with(
            ExecutionState.Failed,
            Status.PolicyDenied,
            IncidentKind.PolicyDenied,
            code.code(),
            code.meaning())
        : failed(ExecutionState.Failed, code.code(), code.meaning(), Optional.empty());
  }

  private static Ending with(
      ExecutionState state, Status status, IncidentKind kind, String code, String message) {
    return new Ending(
        state,
        status,
        List.of(new ToolExecutionIncident(kind, code, message)),
        Optional.of(new Failure(code, message)));
  }

  private static Ending failed(
      ExecutionState state, String code, String message, Optional<IncidentKind> kind) {
    Status status =
        kind.filter(IncidentKind.SandboxViolation::equals).isPresent()
            ? Status.SandboxViolation
            : Status.Failed;
    return new Ending(
        state,
        status,
        kind.map(k -> new ToolExecutionIncident(k, code, message)).stream().toList(),
        Optional.of(new Failure(code, message)));
  }
}
