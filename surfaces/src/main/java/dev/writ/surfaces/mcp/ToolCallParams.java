package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The params of a tools/call.
 *
 * @param name absent if it is not a valid name
 * @param arguments absent if they are no object; an empty object if there are none
 */
record ToolCallParams(Optional<String> name, Optional<JsonValue.Obj> arguments) {
  private static final int NAME_MAX = 128;

  static ToolCallParams of(Optional<JsonValue> params) {
    if (params.isEmpty() || !(params.get() instanceof JsonValue.Obj object)) {
      return new ToolCallParams(Optional.empty(), Optional.empty());
    }
    Optional<String> name =
        object.get("name") instanceof JsonValue.Str text && isName(text.value())
            ? Optional.of(text.value())
            : Optional.empty();
    JsonValue arguments = object.get("arguments");
    return new ToolCallParams(
        name,
        arguments == null
            ? Optional.of(JsonValue.object().build())
            : arguments instanceof JsonValue.Obj o ? Optional.of(o) : Optional.empty());
  }

  /**
   * Of a method of a server beside tools/call: its params are the arguments, but for what belongs
   * to the protocol.
   */
  static ToolCallParams ofMethod(String method, Optional<JsonValue> params) {
    TreeMap<String, JsonValue> arguments = new TreeMap<>();
    if (params.isPresent() && params.get() instanceof JsonValue.Obj object) {
      arguments.putAll(object.members());
      List.of("_meta", "inputResponses", "requestState").forEach(arguments::remove);
    }
    return new ToolCallParams(Optional.of(method), Optional.of(new JsonValue.Obj(arguments)));
  }

  private static boolean isName(String text) {
    return !text.isEmpty()
        && text.length() <= NAME_MAX
        && text.chars().noneMatch(c -> c < 0x20 || c == 0x7f);
  }

  /** The earlier request of this caller whose outcome is wanted. */
  Optional<Digest> request() {
    return arguments
        .map(a -> a.get("request"))
        .filter(JsonValue.Str.class::isInstance)
        .map(v -> ((JsonValue.Str) v).value())
        .filter(text -> text.matches("sha256:[0-9a-f]{64}"))
        .map(Digest::parse);
  }

  /** How long the outcome may be waited for. */
  Optional<Duration> waitsFor() {
    return arguments
        .map(a -> a.get(OutcomeTool.WAIT))
        .filter(JsonValue.Num.class::isInstance)
        .map(v -> ((JsonValue.Num) v).value())
        .filter(seconds -> seconds >= 1)
        .map(
            seconds -> Duration.ofSeconds(Math.min((long) (double) seconds, OutcomeTool.WAIT_MAX)));
  }
}
