package dev.writ.surfaces.text;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.stage.Served;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * A tool's outcome in the form of the seeds: texts and an exit code. Process tools give a JSON
 * object with {@code stdout}, {@code stderr} and {@code exit_code}; the output of any other tool
 * counts as standard output.
 *
 * @param exitCode 0 only if the receipt says succeeded; 124 after a timeout, 137 after a kill
 * @param members the tool's JSON object; empty if its output is none
 * @param isWhole whether there was no output or it could be read; otherwise the texts and members
 *     are missing, and so is an exit code that only they tell
 */
public record ToolText(
    String stdout, String stderr, int exitCode, JsonValue.Obj members, boolean isWhole) {
  private static final String EGRESS_DENIED = "egress-denied";
  private static final int TIMED_OUT = 124;
  private static final int KILLED = 137;
  private static final long BYTES_MAX = 64L << 20;

  /** The same over a pipeline. */
  public static ToolText of(Served served, Pipeline pipeline) {
    return of(served, pipeline::content);
  }

  /** From what was served, with as much of the output as is still available. */
  public static ToolText of(Served served, ContentSource contents) {
    Receipt receipt = served.receipt();
    Optional<Content> content = receipt.output().or(receipt::rawOutput);
    Optional<byte[]> bytes =
        served
            .output()
            .or(served::rawOutput)
            .or(() ->
                content
                    .filter(_ -> receipt.retained())
                    .flatMap(c -> contents.content(receipt.scope().tenant(), c, BYTES_MAX)));
    return of(
        receipt,
        content.map(Content::mediaType).orElse(""),
        bytes.orElse(new byte[0]),
        content.isEmpty() || bytes.isPresent());
  }

  private static ToolText of(Receipt receipt, String mediaType, byte[] output, boolean isWhole) {
    JsonValue.Obj members = JsonValue.object().build();
    String stdout = text(output);
    if (mediaType.equals("application/json") && parsed(output).isPresent()) {
      members = parsed(output).get();
      if (members.get("stdout") instanceof JsonValue.Str text) {
        stdout = text.value();
      }
    }
    String stderr = members.get("stderr") instanceof JsonValue.Str text ? text.value() : "";
    if (receipt.status() != Status.SUCCEEDED) {
      // A program rarely tells why the egress proxy refused it; the receipt does.
      boolean alone = stderr.isEmpty();
      if (alone || receipt.reason().equals(EGRESS_DENIED)) {
        stderr = stderr + (alone || stderr.endsWith("\n") ? "" : "\n") + receipt.message();
      }
    }
    return new ToolText(stdout, stderr, exitCode(receipt.status(), members), members, isWhole);
  }

  private static Optional<JsonValue.Obj> parsed(byte[] output) {
    try {
      return Jcs.parse(output) instanceof JsonValue.Obj object
          ? Optional.of(object)
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty(); // partial output, most likely: treated as text
    }
  }

  private static int exitCode(Status status, JsonValue.Obj members) {
    int told =
        members.get("exit_code") instanceof JsonValue.Num n && n.isInteger()
            ? Math.clamp((long) n.value(), Integer.MIN_VALUE, Integer.MAX_VALUE)
            : 0;
    return switch (status) {
      case SUCCEEDED -> told;
      case TIMED_OUT -> TIMED_OUT;
      case KILLED -> told == 0 ? KILLED : told;
      case FAILED, IN_DOUBT -> told == 0 ? 1 : told;
    };
  }

  /** Invalid UTF-8 is replaced, since the seeds' answers are texts. */
  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Whether the exit code is the tool's. A receipt that says succeeded leaves it to the output,
   * which may be missing.
   */
  public boolean isExitKnown() {
    return isWhole || exitCode != 0;
  }

  /** Whether the seeds call it a success. */
  public boolean succeeded() {
    return exitCode == 0;
  }

  /** From dispatch to receipt, in milliseconds. */
  public static long durationMs(Receipt receipt) {
    return Duration.between(receipt.startedAt(), receipt.finishedAt()).toMillis();
  }
}
