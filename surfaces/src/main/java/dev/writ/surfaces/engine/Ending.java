package dev.writ.surfaces.engine;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.http.Problems;
import dev.writ.guardian.document.CheckOutcome;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Verdict;
import dev.writ.surfaces.engine.ToolExecutionIncident.Kind;
import dev.writ.surfaces.engine.ToolExecutionResult.Failure;
import dev.writ.surfaces.engine.ToolExecutionResult.Status;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

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

  /** Stage 3: the language runtime that would run the tool is not approved. */
  private static final String RUNTIME = "EXE-312";

  private static final TreeSet<String> RESOURCES =
      new TreeSet<>(
          List.of(
              "out-of-memory",
              "host-memory",
              "output-limit",
              "cpu-limit",
              "cpu-time",
              "disk-limit",
              "pids-limit",
              "input-too-large"));

  /** Refusals of stages 1 and 2 because the decision no longer stands. */
  private static final EnumSet<ExecutorError> TAKEN_BACK =
      EnumSet.of(ExecutorError.EXPIRED, ExecutorError.SUPERSEDED, ExecutorError.SNAPSHOT);

  private static final TreeSet<String> SANDBOX =
      new TreeSet<>(List.of("seccomp-violation", "egress-denied", "protocol-violation"));

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
          with(ExecutionState.TimedOut, Status.TimedOut, Kind.Timeout, reason, message);
      case KILLED ->
          reason.equals(CANCELLED)
              ? cancelled(why, message)
              : failed(ExecutionState.Killed, reason, message, kind(reason));
      case FAILED ->
          failed(
              ExecutionState.Failed, reason, message, kind(reason).or(() -> size(receipt, effect)));
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
              Kind.Timeout,
              CANCELLED,
              "it took longer than its timeoutBudgetMs");
      case TOOL_REVOKED ->
          with(
              ExecutionState.Killed,
              Status.PolicyDenied,
              Kind.PolicyDenied,
              ExecutorError.TOOL_PROHIBITED.code(),
              "the tool was revoked while it ran");
    };
  }

  /** An output larger than the effect allows is a broken contract, with a kind of its own. */
  private static Optional<Kind> size(Receipt receipt, Effect effect) {
    boolean tooLarge =
        receipt.code().filter(ExecutorError.CONTRACT_DRIFT.code()::equals).isPresent()
            && receipt
                .rawOutput()
                .filter(raw -> raw.size() > effect.resources().outputBytes())
                .isPresent();
    return tooLarge ? Optional.of(Kind.ResourceExceeded) : Optional.empty();
  }

  private static Optional<Kind> kind(String reason) {
    if (RESOURCES.contains(reason)) {
      return Optional.of(Kind.ResourceExceeded);
    }
    if (SANDBOX.contains(reason)) {
      return Optional.of(Kind.SandboxViolation);
    }
    return reason.equals("dependency-load-failure")
        ? Optional.of(Kind.DependencyLoadFailure)
        : Optional.empty();
  }

  /** The ending of a request that the Guardian did not allow. */
  static Ending of(Decision decision) {
    String message =
        decision.checks().stream()
            .filter(check -> check.code().isPresent())
            .findFirst()
            .map(CheckOutcome::detail)
            .orElse("");
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
        List.of(new ToolExecutionIncident(Kind.PolicyDenied, code, message, approval)),
        Optional.of(new Failure(code, message)));
  }

  /** The ending by a recorded refusal of stages 1 to 3. */
  static Ending of(Refusal refusal) {
    return isPolicys(refusal.code())
        ? with(
            ExecutionState.Failed,
            Status.PolicyDenied,
            Kind.PolicyDenied,
            refusal.code(),
            refusal.found())
        : failed(ExecutionState.Failed, refusal.code(), refusal.found(), Optional.empty());
  }

  /** Whether a refusal before the dispatch withdraws the permission. */
  static boolean isPolicys(String code) {
    if (code.equals(RUNTIME)) {
      return true;
    }
    for (ExecutorError error : ExecutorError.values()) {
      if (error.code().equals(code)) {
        return TAKEN_BACK.contains(error) || Problems.status(error) == 403;
      }
    }
    return false;
  }

  /** The time was over before it got its turn. */
  static Ending inTheQueue() {
    return with(
        ExecutionState.TimedOut,
        Status.TimedOut,
        Kind.Timeout,
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
    return isPolicys(code.code())
        ? with(
            ExecutionState.Failed,
            Status.PolicyDenied,
            Kind.PolicyDenied,
            code.code(),
            code.meaning())
        : failed(ExecutionState.Failed, code.code(), code.meaning(), Optional.empty());
  }

  private static Ending with(
      ExecutionState state, Status status, Kind kind, String code, String message) {
    return new Ending(
        state,
        status,
        List.of(new ToolExecutionIncident(kind, code, message)),
        Optional.of(new Failure(code, message)));
  }

  private static Ending failed(
      ExecutionState state, String code, String message, Optional<Kind> kind) {
    Status status =
        kind.filter(Kind.SandboxViolation::equals).isPresent()
            ? Status.SandboxViolation
            : Status.Failed;
    return new Ending(
        state,
        status,
        kind.map(k -> new ToolExecutionIncident(k, code, message)).stream().toList(),
        Optional.of(new Failure(code, message)));
  }
}
