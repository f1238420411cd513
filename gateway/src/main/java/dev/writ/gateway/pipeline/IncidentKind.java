package dev.writ.gateway.pipeline;

import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.http.Problems;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Seed 004's taxonomy of incidents, by the seed's names; for executions of every surface. */
public enum IncidentKind {
  PolicyDenied,
  SandboxViolation,
  DependencyLoadFailure,
  Timeout,
  ResourceExceeded;

  /** All of them, in the order of their declaration. */
  public static final List<IncidentKind> ALL = List.of(values());

  /** Stage 3: the language runtime that would run the tool is not approved. */
  private static final String RUNTIME = "EXE-312";

  /** The engine's refusal of what waited for its turn longer than its time budget. */
  private static final String IN_THE_QUEUE = "GWY-207";

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
              "artifact-limit",
              "input-too-large"));

  private static final TreeSet<String> SANDBOX =
      new TreeSet<>(List.of("seccomp-violation", "egress-denied", "protocol-violation"));

  /** Refusals of stages 1 and 2 because the decision no longer stands. */
  private static final EnumSet<ExecutorError> TAKEN_BACK =
      EnumSet.of(ExecutorError.EXPIRED, ExecutorError.SUPERSEDED, ExecutorError.SNAPSHOT);

  /** The kind that a receipt shows; absent for a success, and for a failure of the tool's own. */
  public static Optional<IncidentKind> of(Receipt receipt, Effect effect) {
    return switch (receipt.status()) {
      case SUCCEEDED, IN_DOUBT -> Optional.empty();
      case TIMED_OUT -> Optional.of(Timeout);
      case KILLED -> ofReason(receipt);
      case FAILED -> ofReason(receipt).or(() -> ofSize(receipt, effect));
    };
  }

  private static Optional<IncidentKind> ofReason(Receipt receipt) {
    String reason = receipt.code().orElse(receipt.reason());
    if (RESOURCES.contains(reason)) {
      return Optional.of(ResourceExceeded);
    }
    if (SANDBOX.contains(reason)) {
      return Optional.of(SandboxViolation);
    }
    return reason.equals("dependency-load-failure")
        ? Optional.of(DependencyLoadFailure)
        : Optional.empty();
  }

  /** An output larger than the effect allows is a broken contract, with a kind of its own. */
  private static Optional<IncidentKind> ofSize(Receipt receipt, Effect effect) {
    boolean tooLarge =
        receipt.code().filter(ExecutorError.CONTRACT_DRIFT.code()::equals).isPresent()
            && receipt
                .rawOutput()
                .filter(raw -> raw.size() > effect.resources().outputBytes())
                .isPresent();
    return tooLarge ? Optional.of(ResourceExceeded) : Optional.empty();
  }

  /** The kind of a refusal before the dispatch; absent where the server could not run it. */
  public static Optional<IncidentKind> ofRefusal(String code) {
    if (code.equals(IN_THE_QUEUE)) {
      return Optional.of(Timeout);
    }
    return isPolicys(code) ? Optional.of(PolicyDenied) : Optional.empty();
  }

  /** Whether a refusal before the dispatch withdraws the permission. */
  public static boolean isPolicys(String code) {
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
}
