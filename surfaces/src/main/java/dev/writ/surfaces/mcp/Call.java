package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * The params of a tools/call.
 *
 * @param name absent where it is no name
 * @param arguments absent where they are no object; an empty one where there are none
 */
record Call(Optional<String> name, Optional<JsonValue.Obj> arguments) {
  private static final int NAME_MAX = 128;

  static Call of(Optional<JsonValue> params) {
    if (params.isEmpty() || !(params.get() instanceof JsonValue.Obj object)) {
      return new Call(Optional.empty(), Optional.empty());
    }
    Optional<String> name =
        object.get("name") instanceof JsonValue.Str text && isName(text.value())
            ? Optional.of(text.value())
            : Optional.empty();
    JsonValue arguments = object.get("arguments");
    return new Call(
        name,
        arguments == null
            ? Optional.of(JsonValue.object().build())
            : arguments instanceof JsonValue.Obj o ? Optional.of(o) : Optional.empty());
  }

  private static boolean isName(String text) {
    return !text.isEmpty()
        && text.length() <= NAME_MAX
        && text.chars().noneMatch(c -> c < 0x20 || c == 0x7f);
  }

  /** Where a request stood that this caller made before. */
  Optional<Digest> request() {
    return arguments
        .map(a -> a.get("request"))
        .filter(JsonValue.Str.class::isInstance)
        .map(v -> ((JsonValue.Str) v).value())
        .filter(text -> text.matches("sha256:[0-9a-f]{64}"))
        .map(Digest::parse);
  }
}
