package dev.writ.guardian;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/** JSON Pointers (RFC 6901) through objects. */
public final class JsonPointers {
  private JsonPointers() {}

  /** Whether a text has the form of a pointer. */
  public static boolean isPointer(String text) {
    return text.isEmpty()
        || text.charAt(0) == '/' && !text.replace("~0", "").replace("~1", "").contains("~");
  }

  /**
   * The value at a pointer; empty if an object on the way has no such member. If a value on the way
   * is no object the result is null, which no capability accepts: a list must not hide the values
   * in it.
   */
  public static Optional<JsonValue> find(JsonValue root, String pointer) {
    JsonValue value = root;
    if (pointer.isEmpty()) {
      return Optional.of(value);
    }
    for (String part : pointer.substring(1).split("/", -1)) {
      String key = part.replace("~1", "/").replace("~0", "~");
      if (!(value instanceof JsonValue.Obj object)) {
        return Optional.of(JsonValue.NULL);
      }
      if (object.get(key) == null) {
        return Optional.empty();
      }
      value = object.get(key);
    }
    return Optional.of(value);
  }
}
