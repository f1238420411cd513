package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
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

  /** The other way, of values that we made: texts, whole numbers, truth values, maps, lists. */
  static JsonValue from(Object value) {
    return switch (value) {
      case Map<?, ?> object -> {
        ObjectBuilder built = JsonValue.object();
        object.forEach((key, member) -> built.put(String.valueOf(key), from(member)));
        yield built.build();
      }
      case List<?> items -> JsonValue.of(items.stream().map(PlainJson::from).toList());
      case Boolean bool -> JsonValue.of(bool);
      case Number number -> JsonValue.of(number.longValue());
      default -> JsonValue.of(value.toString());
    };
  }
}
