package dev.writ.gateway.ops;

import dev.writ.executor.Answer;
import dev.writ.gateway.pipeline.IncidentKind;
import dev.writ.gateway.pipeline.ToolWork;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.Verdict;
import java.util.Optional;

/**
 * How an effect ended, for telemetry.
 *
 * @param outcome a word of spec/telemetry.md, 2
 * @param code stable: an error code, or the driver's word for the cause
 * @param exitCode of its command
 */
record EffectEnd(
    String outcome,
    Optional<String> code,
    Optional<Long> exitCode,
    Optional<IncidentKind> incident) {
  static final String SUCCESS = "success";
  static final String FAILURE = "failure";
  static final String CANCELLED = "cancelled";
  private static final String TIMED_OUT = "timed_out";

  /**
   * The seeds' success: the receipt says succeeded, and a command exited with 0.
   *
   * @param known the kind by what the surface knows of it
   */
  static EffectEnd of(Receipt receipt, Effect effect, ToolWork work, Optional<IncidentKind> known) {
    Optional<Long> exit = work.exitCode();
    boolean failed = receipt.status() == Status.SUCCEEDED && exit.filter(e -> e != 0).isPresent();
    return new EffectEnd(
        failed
            ? FAILURE
            : switch (receipt.status()) {
              case SUCCEEDED -> SUCCESS;
              case FAILED -> FAILURE;
              case TIMED_OUT -> TIMED_OUT;
              case KILLED -> killed(receipt, known);
              case IN_DOUBT -> "in_doubt";
            },
        receipt.status() == Status.SUCCEEDED
            ? Optional.empty()
            : Optional.of(receipt.code().orElse(receipt.reason())),
        exit,
        IncidentKind.of(receipt, effect).or(() -> known));
  }

  private static String killed(Receipt receipt, Optional<IncidentKind> known) {
    if (!receipt.reason().equals(CANCELLED)) {
      return "killed";
    }
    return known.map(kind -> kind == IncidentKind.Timeout ? TIMED_OUT : "killed").orElse(CANCELLED);
  }

  /** The end of a request that was not allowed. */
  static EffectEnd notAllowed(Answer answer) {
    return new EffectEnd(
        answer.decision().verdict() == Verdict.ESCALATE ? "escalated" : "denied",
        answer.decision().code(),
        Optional.empty(),
        Optional.of(IncidentKind.PolicyDenied));
  }

  /** The end of one that the kernel refused before its dispatch. */
  static EffectEnd refused(String code) {
    return new EffectEnd(
        "refused", Optional.of(code), Optional.empty(), IncidentKind.ofRefusal(code));
  }

  /** The exit code as a label: codes that have a meaning of their own, and classes of others. */
  String exitLabel() {
    return exitCode.map(EffectEnd::label).orElse(EffectLabels.NONE);
  }

  private static String label(long exit) {
    if (exit >= 0 && exit <= 2 || exit == 126 || exit == 127) {
      return String.valueOf(exit);
    }
    return exit > 128 && exit <= 192 ? "signal" : EffectLabels.OTHER;
  }
}
