package dev.writ.executor.driver;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a tool is told of the trace that its call belongs to. All of it comes from the signed
 * request, so a replay tells the same.
 *
 * @param traceparent W3C Trace Context, whose span is that of the tool's execution
 * @param tracestate what the caller's tracing system passes on beside it
 * @param correlationId the caller's own name for what the call is part of
 */
public record CallTrace(
    Optional<String> traceparent, Optional<String> tracestate, Optional<String> correlationId) {
  public static final CallTrace NONE =
      new CallTrace(Optional.empty(), Optional.empty(), Optional.empty());

  private static final String TRACEPARENT = "traceparent";
  private static final String STATE = "tracestate";
  private static final String CORRELATION = "correlationId";
  private static final int CORRELATION_CHARS_MAX = 200;
  private static final Pattern PARENT =
      Pattern.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})");
  private static final Pattern STATE_FORM = Pattern.compile("[ -~]{1,512}");

  /**
   * From a request's context; what is malformed is left out.
   *
   * @param request its id, of which the span's id is made: a request is dispatched at most once
   */
  public static CallTrace of(Digest request, JsonValue.Obj context) {
    var parent = PARENT.matcher(text(context, TRACEPARENT).orElse(""));
    return new CallTrace(
        parent.matches()
            ? Optional.of("00-" + parent.group(1) + "-" + span(request) + "-" + parent.group(2))
            : Optional.empty(),
        text(context, STATE)
            .filter(state -> parent.matches() && STATE_FORM.matcher(state).matches()),
        text(context, CORRELATION).filter(id -> id.length() <= CORRELATION_CHARS_MAX));
  }

  private static Optional<String> text(JsonValue.Obj context, String name) {
    return context.get(name) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  /** The id of the span of the request's execution: 16 hexadecimal digits. */
  public static String span(Digest request) {
    return request.hex().substring(0, 16);
  }
}
