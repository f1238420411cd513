package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Converts our JSON to the maps, lists and boxes that the SDK uses. */
final class PlainJson {
  private PlainJson() {}

  static Object of(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> object(object);
      case JsonValue.Arr array -> {
        List<Object> items = new ArrayList<>();
        array.items().forEach(item -> items.add(of(item)));
        yield items;
      }
      case JsonValue.Str text -> text.value();
      case JsonValue.Num number ->
          number.isInteger() ? (Object) (long) number.value() : (Object) number.value();
      case JsonValue.Bool bool -> bool.value();
      case JsonValue.Null _ -> null;
    };
  }

  static Map<String, Object> object(JsonValue.Obj object) {
    TreeMap<String, Object> members = new TreeMap<>();
    object.members().forEach((key, value) -> members.put(key, of(value)));
    return members;
  }
}
