package dev.writ.gateway.http.message;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * W3C Trace Context, level 1: the span of a call. It is recorded, and no decision depends on it.
 *
 * @param traceId 32 lower-case hexadecimal digits, not all zero
 * @param spanId 16 of them: the span of this call
 * @param flags two of them
 * @param state the {@code tracestate} header, where it is well-formed
 * @param parent the caller's span; absent where the trace begins here
 */
public record TraceContext(
    String traceId, String spanId, String flags, Optional<String> state, Optional<String> parent) {
  private static final Pattern PARENT =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?");
  private static final int STATE_CHARS_MAX = 512;

  /**
   * From a call's headers; empty if absent or malformed, which restarts the trace (4.3).
   *
   * @param newSpan makes the id of the call's span
   */
  public static Optional<TraceContext> of(Headers headers, Supplier<String> newSpan) {
    return headers.all("traceparent").size() == 1
        ? of(
            headers.all("traceparent").getFirst(),
            String.join(",", headers.all("tracestate")),
            newSpan)
        : Optional.empty();
  }

  /**
   * From the caller's two texts; empty if the first is malformed.
   *
   * @param state ignored if it is malformed; empty for none
   */
  public static Optional<TraceContext> of(String parent, String state, Supplier<String> newSpan) {
    var match = PARENT.matcher(parent);
    if (!match.matches()
        || match.group(1).equals("ff")
        || match.group(1).equals("00") && match.group(5) != null
        || match.group(2).equals("0".repeat(32))
        || match.group(3).equals("0".repeat(16))) {
      return Optional.empty();
    }
    boolean usable =
        !state.isEmpty()
            && state.length() <= STATE_CHARS_MAX
            && state.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
    return Optional.of(
        new TraceContext(
            match.group(2),
            newSpan.get(),
            match.group(4),
            usable ? Optional.of(state) : Optional.empty(),
            Optional.of(match.group(3))));
  }

  /** Whether its spans are to be kept, by its flags. */
  public boolean isSampled() {
    return (HexFormat.fromHexDigits(flags) & 1) == 1;
  }

  /** Puts it into the context of a request, for the tool that is called. */
  public ObjectBuilder putTo(ObjectBuilder context) {
    return context
        .put("traceparent", traceparent())
        .putIfPresent("tracestate", state, JsonValue::of);
  }

  /** The {@code traceparent} header for this context. */
  public String traceparent() {
    return "00-" + traceId + "-" + spanId + "-" + flags;
  }
}
