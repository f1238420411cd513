package dev.writ.replay.engine;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.replay.engine.Divergence.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;

/** Finds every place where two documents differ, in the canonical order of their members. */
final class FieldDifferences {
  private static final String NOTHING = "nothing";

  private FieldDifferences() {}

  static List<Field> of(String at, JsonValue recorded, JsonValue replayed) {
    List<Field> fields = new ArrayList<>();
    walk(at, recorded, replayed, fields);
    return fields;
  }

  private static void walk(String at, JsonValue one, JsonValue other, List<Field> out) {
    if (one instanceof JsonValue.Obj a && other instanceof JsonValue.Obj b) {
      TreeSet<String> keys = new TreeSet<>(a.members().keySet());
      keys.addAll(b.members().keySet());
      for (String key : keys) {
        String pointer = at + "/" + key.replace("~", "~0").replace("/", "~1");
        walk(pointer, a.get(key), b.get(key), out);
      }
    } else if (one instanceof JsonValue.Arr a && other instanceof JsonValue.Arr b) {
      int size = Math.max(a.items().size(), b.items().size());
      for (int i = 0; i < size; i++) {
        JsonValue left = i < a.items().size() ? a.items().get(i) : null;
        JsonValue right = i < b.items().size() ? b.items().get(i) : null;
        walk(at + "/" + i, left, right, out);
      }
    } else if (!Objects.equals(one, other)) {
      out.add(new Field(at, text(one), text(other)));
    }
  }

  /** Text unchanged; anything else as canonical JSON. */
  static String text(JsonValue value) {
    return switch (value) {
      case null -> NOTHING;
      case JsonValue.Str s -> s.value();
      default -> json(value);
    };
  }

  static String json(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
