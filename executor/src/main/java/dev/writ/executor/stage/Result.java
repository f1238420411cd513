package dev.writ.executor.stage;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Dispatch.Ran;
import dev.writ.guardian.document.Status;
import java.util.List;
import java.util.Optional;

/**
 * The outcome of a dispatched effect so far. Stages 5 to 7 pass it on or refuse it; a refused
 * outcome keeps the tool's output and goes on to the receipt, since every dispatched effect gets
 * one.
 *
 * @param raw the tool's output
 * @param output the output as far as stages accepted it
 * @param parsed the output as a value, where its media type is JSON and it is well-formed
 */
public record Result(
    Status status,
    Optional<String> code,
    String reason,
    String message,
    Optional<DriverOutcome.Output> raw,
    Optional<DriverOutcome.Output> output,
    Optional<JsonValue> parsed,
    List<DriverOutcome.Artifact> artifacts) {

  /** Longest message of a tool that a receipt quotes, in characters. */
  static final int MESSAGE_MAX = 500;

  public static Result of(Ran ran) {
    DriverOutcome outcome = ran.outcome();
    Status status = outcome.end().status();
    Result ended =
        new Result(
            status,
            ran.driverFailure().map(_ -> ExecutorError.DRIVER_FAILED.code()),
            outcome.reason(),
            bounded(outcome.message()),
            outcome.output(),
            status == Status.SUCCEEDED ? outcome.output() : Optional.empty(),
            Optional.empty(),
            outcome.artifacts());
    return ran.workspace()
        .failure()
        .map(found -> ended.refuse(ExecutorError.WORKSPACE_UNMEASURED, found))
        .orElse(ended);
  }

  boolean succeeded() {
    return status == Status.SUCCEEDED;
  }

  /** This outcome as a failure, refused by a stage. */
  public Result refuse(ErrorCode refusal, String found) {
    return new Result(
        Status.FAILED,
        Optional.of(refusal.code()),
        refusal.meaning(),
        bounded(found),
        raw,
        Optional.empty(),
        Optional.empty(),
        artifacts);
  }

  Result withParsed(JsonValue value) {
    return new Result(status, code, reason, message, raw, output, Optional.of(value), artifacts);
  }

  Result withOutput(byte[] canonical) {
    DriverOutcome.Output next =
        new DriverOutcome.Output(canonical, output.orElseThrow().mediaType());
    return new Result(status, code, reason, message, raw, Optional.of(next), parsed, artifacts);
  }

  /** Cuts between code points, so that the text stays valid Unicode. */
  static String bounded(String text) {
    if (text.length() <= MESSAGE_MAX) {
      return wellFormed(text);
    }
    return wellFormed(text.substring(0, MESSAGE_MAX)) + "…";
  }

  private static boolean hasNoSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  /** Replaces unpaired surrogates, which a tool's message may hold and documents may not. */
  private static String wellFormed(String text) {
    if (hasNoSurrogate(text)) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 0xFFFD : c)
        .forEach(out::appendCodePoint);
    return out.toString();
  }
}
