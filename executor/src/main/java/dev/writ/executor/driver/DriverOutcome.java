package dev.writ.executor.driver;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Status;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;

/**
 * What happened when an operation ran.
 *
 * @param end how it ended
 * @param reason a stable word for the cause, such as {@code out-of-memory}; {@code ok} for success
 * @param message for people: the tool's own words where it failed; bounded
 * @param output the raw output; a failure may have some, too; bounded by the resources
 * @param metrics what was used
 * @param observations what else the driver saw, as data: truncation marks, captured stderr, …
 */
public record DriverOutcome(
    End end,
    String reason,
    String message,
    Optional<Output> output,
    List<Artifact> artifacts,
    Metrics metrics,
    JsonValue.Obj observations) {

  /**
   * @throws IllegalArgumentException for values that no receipt can state, which is an error of the
   *     driver
   */
  public DriverOutcome {
    Objects.requireNonNull(end);
    requireName("reason", reason);
    Objects.requireNonNull(message);
    Objects.requireNonNull(output);
    artifacts = List.copyOf(artifacts);
    Objects.requireNonNull(metrics);
    Objects.requireNonNull(observations);
  }

  /** The rule of {@code Fields.name}, and whole characters. */
  private static void requireName(String what, String name) {
    boolean isName =
        !name.isEmpty()
            && name.length() <= 256
            && name.chars().noneMatch(c -> c < 0x20 || c == 0x7f)
            && name.codePoints().noneMatch(c -> c >= 0xD800 && c <= 0xDFFF);
    if (!isName) {
      throw new IllegalArgumentException(what + " of " + name.length() + " characters");
    }
  }

  /** How an operation ended. */
  public enum End {
    SUCCEEDED,
    FAILED,
    TIMED_OUT,
    KILLED,

    /**
     * Nobody knows whether the effect happened, for example where a server was sent a request and
     * gave no answer. The receipt is final and in doubt, without an output.
     */
    IN_DOUBT;

    public String text() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The status in the receipt of an effect that ended like this. */
    public Status status() {
      return switch (this) {
        case SUCCEEDED -> Status.SUCCEEDED;
        case FAILED -> Status.FAILED;
        case TIMED_OUT -> Status.TIMED_OUT;
        case KILLED -> Status.KILLED;
        case IN_DOUBT -> Status.IN_DOUBT;
      };
    }
  }

  /** Raw output and the media type that the tool states for it. */
  public record Output(byte[] bytes, String mediaType) {
    public Output {
      Objects.requireNonNull(bytes);
      requireName("media type", mediaType);
    }
  }

  /** A file that the tool produced as an artifact. */
  public record Artifact(String name, byte[] bytes, String mediaType) {
    public Artifact {
      Objects.requireNonNull(bytes);
      requireName("name", name);
      requireName("media type", mediaType);
    }
  }

  /**
   * What was used, as measured: a recorded input of replay, which a live replay does not compare. 0
   * where a driver cannot tell.
   *
   * @param cpuMs processor time in milliseconds
   * @param memoryBytes peak memory in bytes
   * @param wallMs elapsed time in milliseconds
   * @param fuel instructions executed, where the driver counts them
   */
  public record Metrics(long cpuMs, long memoryBytes, long wallMs, long fuel) {
    public static final Metrics NONE = new Metrics(0, 0, 0, 0);

    public Metrics {
      requireCount(cpuMs);
      requireCount(memoryBytes);
      requireCount(wallMs);
      requireCount(fuel);
    }

    private static void requireCount(long value) {
      if (value < 0 || value > JsonValue.Num.MAX_INTEGER) {
        throw new IllegalArgumentException("a metric of " + value);
      }
    }
  }

  public static DriverOutcome succeeded(byte[] output, String mediaType, Metrics metrics) {
    return new DriverOutcome(
        End.SUCCEEDED,
        "ok",
        "",
        Optional.of(new Output(output, mediaType)),
        List.of(),
        metrics,
        JsonValue.object().build());
  }

  /**
   * An effect of which nobody knows whether it happened.
   *
   * @param message what is known, for the operator who finds it out
   */
  public static DriverOutcome inDoubt(String message) {
    return failed(End.IN_DOUBT, "in-doubt", message, Metrics.NONE);
  }

  public static DriverOutcome failed(End end, String reason, String message, Metrics metrics) {
    return new DriverOutcome(
        end, reason, message, Optional.empty(), List.of(), metrics, JsonValue.object().build());
  }
}
