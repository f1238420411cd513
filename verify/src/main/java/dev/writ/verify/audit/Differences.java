package dev.writ.verify.audit;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.TreeSet;

/** Finds the first difference of two documents, in the canonical order of their members. */
final class Differences {
  /**
   * A place as JSON Pointer (RFC 6901), and the value there in each document; "nothing" if absent.
   */
  record Difference(String pointer, String recorded, String recomputed) {}

  private Differences() {}

  static Optional<Difference> first(JsonValue recorded, JsonValue recomputed) {
    return first("", recorded, recomputed);
  }

  private static Optional<Difference> first(String at, JsonValue one, JsonValue other) {
    if (one instanceof JsonValue.Obj a && other instanceof JsonValue.Obj b) {
      TreeSet<String> keys = new TreeSet<>(a.members().keySet());
      keys.addAll(b.members().keySet());
      for (String key : keys) {
        String pointer = at + "/" + key.replace("~", "~0").replace("/", "~1");
        Optional<Difference> found = first(pointer, a.get(key), b.get(key));
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    }
    if (one instanceof JsonValue.Arr a && other instanceof JsonValue.Arr b) {
      int size = Math.max(a.items().size(), b.items().size());
      for (int i = 0; i < size; i++) {
        JsonValue left = i < a.items().size() ? a.items().get(i) : null;
        JsonValue right = i < b.items().size() ? b.items().get(i) : null;
        Optional<Difference> found = first(at + "/" + i, left, right);
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    }
    boolean same = one == null ? other == null : one.equals(other);
    return same ? Optional.empty() : Optional.of(new Difference(at, text(one), text(other)));
  }

  private static String text(JsonValue value) {
    return value == null ? "nothing" : new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
