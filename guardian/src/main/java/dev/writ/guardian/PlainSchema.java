package dev.writ.guardian;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A schema of the keywords that most manifests are written in, with values that the metaschema
 * allows: types, members, items, lengths and bounds, a choice of texts or of schemas. It is
 * acceptable by {@link SchemaRules}, and what it accepts the library accepts as well; a test holds
 * it against the library. Of what it does not accept it tells wrong names of parameters alone.
 */
final class PlainSchema {
  private static final int SCHEMAS_MAX = 500;
  private static final int DEPTH_MAX = 16;

  /** Keywords that only describe. */
  private static final List<String> WORDS = List.of("$comment", "description", "title");

  private static final List<String> TYPES =
      List.of("array", "boolean", "integer", "null", "number", "object", "string");

  private final List<String> types = new ArrayList<>();
  private final List<String> texts = new ArrayList<>();
  private final List<String> required = new ArrayList<>();
  private final TreeMap<String, Long> sizes = new TreeMap<>();
  private final TreeMap<String, Double> bounds = new TreeMap<>();
  private final TreeMap<String, PlainSchema> members = new TreeMap<>();
  private Optional<PlainSchema> others = Optional.empty();
  private Optional<PlainSchema> items = Optional.empty();
  private List<PlainSchema> choices = List.of();
  private boolean nothing;
  private boolean chosen;

  private PlainSchema() {}

  /** The schema, or empty where it is not plain. */
  static Optional<PlainSchema> of(JsonValue.Obj schema) {
    return new Reader().read(schema, 0);
  }

  private static final class Reader {
    private int schemas;

    Optional<PlainSchema> read(JsonValue value, int depth) {
      if (++schemas > SCHEMAS_MAX || depth > DEPTH_MAX) {
        return Optional.empty();
      }
      PlainSchema plain = new PlainSchema();
      if (value instanceof JsonValue.Bool all) {
        plain.nothing = !all.value();
        return Optional.of(plain);
      }
      if (!(value instanceof JsonValue.Obj schema)) {
        return Optional.empty();
      }
      for (var member : schema.members().entrySet()) {
        if (!keyword(plain, member.getKey(), member.getValue(), depth)) {
          return Optional.empty();
        }
      }
      return Optional.of(plain);
    }

    private boolean keyword(PlainSchema plain, String key, JsonValue value, int depth) {
      return switch (key) {
        case "$schema" -> depth == 0 && value.equals(JsonValue.of(SchemaRules.DIALECT));
        case "type" -> types(plain, value);
        case "enum" -> plain.chosen = texts(value, plain.texts) && !plain.texts.isEmpty();
        case "required" -> texts(value, plain.required);
        case "properties" -> members(plain, value, depth);
        case "additionalProperties" -> {
          plain.others = read(value, depth + 1);
          yield plain.others.isPresent();
        }
        case "items" -> {
          plain.items = read(value, depth + 1);
          yield plain.items.isPresent();
        }
        case "anyOf" -> {
          plain.choices = schemas(value, depth);
          yield !plain.choices.isEmpty();
        }
        case "maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties" ->
            size(plain, key, value);
        case "maximum", "minimum" ->
            value instanceof JsonValue.Num number
                && number.isInteger()
                && plain.bounds.put(key, number.value()) == null;
        default -> WORDS.contains(key) && value instanceof JsonValue.Str;
      };
    }

    /** A list of schemas, none of which is left out; empty where one is not plain. */
    private List<PlainSchema> schemas(JsonValue value, int depth) {
      if (!(value instanceof JsonValue.Arr list)) {
        return List.of();
      }
      List<PlainSchema> all = new ArrayList<>();
      for (JsonValue item : list.items()) {
        Optional<PlainSchema> one = read(item, depth + 1);
        if (one.isEmpty()) {
          return List.of();
        }
        all.add(one.get());
      }
      return all;
    }

    private static boolean types(PlainSchema plain, JsonValue value) {
      if (value instanceof JsonValue.Str one) {
        plain.types.add(one.value());
      } else if (!texts(value, plain.types) || plain.types.isEmpty()) {
        return false;
      }
      return TYPES.containsAll(plain.types);
    }

    /** A list of different texts. */
    private static boolean texts(JsonValue value, List<String> to) {
      if (!(value instanceof JsonValue.Arr list)) {
        return false;
      }
      for (JsonValue item : list.items()) {
        if (!(item instanceof JsonValue.Str text) || to.contains(text.value())) {
          return false;
        }
        to.add(text.value());
      }
      return true;
    }

    private boolean members(PlainSchema plain, JsonValue value, int depth) {
      if (!(value instanceof JsonValue.Obj named)) {
        return false;
      }
      for (var member : named.members().entrySet()) {
        Optional<PlainSchema> below = read(member.getValue(), depth + 1);
        // A member may be called as keywords are, which not every reader of schemas expects.
        if (below.isEmpty() || member.getKey().startsWith("$")) {
          return false;
        }
        plain.members.put(member.getKey(), below.get());
      }
      return true;
    }

    private static boolean size(PlainSchema plain, String key, JsonValue value) {
      return value instanceof JsonValue.Num number
          && number.isInteger()
          && number.value() >= 0
          && number.value() <= Integer.MAX_VALUE
          && plain.sizes.put(key, (long) number.value()) == null;
    }
  }

  /** Whether the library accepts this value for sure. */
  boolean accepts(JsonValue value) {
    if (nothing || !types.isEmpty() && !isOfType(value)) {
      return false;
    }
    if (chosen && !(value instanceof JsonValue.Str text && texts.contains(text.value()))) {
      return false;
    }
    if (!choices.isEmpty() && choices.stream().noneMatch(choice -> choice.accepts(value))) {
      return false;
    }
    if (value instanceof JsonValue.Obj object) {
      return acceptsMembers(object);
    }
    if (value instanceof JsonValue.Arr array) {
      return isWithin("Items", array.items().size())
          && (items.isEmpty() || array.items().stream().allMatch(items.get()::accepts));
    }
    if (value instanceof JsonValue.Str text) {
      return isWithin("Length", text.value().codePointCount(0, text.value().length()));
    }
    return !(value instanceof JsonValue.Num number)
        || number.value() >= bounds.getOrDefault("minimum", Double.NEGATIVE_INFINITY)
            && number.value() <= bounds.getOrDefault("maximum", Double.POSITIVE_INFINITY);
  }

  /** All that is wrong with an object, where that is names of its members alone; else empty. */
  Optional<WrongNames> wrongNames(JsonValue value) {
    if (!(value instanceof JsonValue.Obj object)
        || chosen
        || !choices.isEmpty()
        || !types.isEmpty() && !isOfType(value)
        || !isWithin("Properties", object.members().size())) {
      return Optional.empty();
    }
    List<String> unknown = new ArrayList<>();
    for (var member : object.members().entrySet()) {
      PlainSchema below = members.get(member.getKey());
      Optional<PlainSchema> judge = below == null ? others : Optional.of(below);
      if (below == null && judge.filter(other -> other.nothing).isPresent()) {
        unknown.add(member.getKey());
      } else if (judge.isPresent() && !judge.get().accepts(member.getValue())) {
        return Optional.empty();
      }
    }
    List<String> missing =
        required.stream().filter(name -> !object.members().containsKey(name)).toList();
    return Optional.of(new WrongNames(missing, unknown));
  }

  private boolean isOfType(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj _ -> types.contains("object");
      case JsonValue.Arr _ -> types.contains("array");
      case JsonValue.Str _ -> types.contains("string");
      case JsonValue.Num number ->
          types.contains("number")
              || types.contains("integer") && Math.rint(number.value()) == number.value();
      case JsonValue.Bool _ -> types.contains("boolean");
      case JsonValue.Null _ -> types.contains("null");
    };
  }

  private boolean acceptsMembers(JsonValue.Obj object) {
    if (!isWithin("Properties", object.members().size())
        || !object.members().keySet().containsAll(required)) {
      return false;
    }
    for (var member : object.members().entrySet()) {
      PlainSchema below = members.get(member.getKey());
      Optional<PlainSchema> judge = below == null ? others : Optional.of(below);
      if (judge.isPresent() && !judge.get().accepts(member.getValue())) {
        return false;
      }
    }
    return true;
  }

  private boolean isWithin(String what, int size) {
    return size >= sizes.getOrDefault("min" + what, 0L)
        && size <= sizes.getOrDefault("max" + what, Long.MAX_VALUE);
  }
}
