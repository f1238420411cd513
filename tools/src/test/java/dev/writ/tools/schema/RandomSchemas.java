package dev.writ.tools.schema;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Schemas as strangers write them, from a seed: nested, with references and circles, with keywords
 * of other versions and of nobody; and values, many of which fit.
 */
public final class RandomSchemas {
  private static final List<String> NAMES = List.of("a", "b", "c", "x-y", "p/q", "m~n", "é");

  /** No ends of lines, at which java.util.regex means something else. */
  private static final List<String> TEXTS =
      List.of(
          "",
          "a",
          "b",
          "ab",
          "abc",
          "a-1",
          "Z9",
          "é",
          "a b",
          "\u00a0",
          "😀",
          "2026-01-02",
          "x@y.z");

  private static final List<String> PATTERNS =
      List.of(
          "^a",
          "b$",
          "^[a-c]+$",
          "[^a]",
          "^\\d{4}-\\d{2}-\\d{2}$",
          "^(?:a|b)?$",
          "\\w+@\\w+\\.\\w+",
          "^(?!a)",
          "(?<=a)b",
          "^.$",
          "^[^ -]*$",
          "\\bab\\b",
          "^\\p{L}+$",
          "",
          "^[\\w.-]{1,3}$");

  private static final List<Double> NUMBERS =
      List.of(
          0.0,
          1.0,
          -1.0,
          2.0,
          3.0,
          10.0,
          0.5,
          1.5,
          -0.1,
          0.3,
          1e20,
          4294967296.0,
          9007199254740991.0);

  /** Which keywords a version of JSON Schema has, beside those of others. */
  public enum Written {
    MODERN("https://json-schema.org/draft/2020-12/schema", "$defs"),
    UNSAID(null, "$defs"),
    OF_2019("https://json-schema.org/draft/2019-09/schema", "$defs"),
    OF_7("http://json-schema.org/draft-07/schema#", "definitions"),
    OF_6("http://json-schema.org/draft-06/schema#", "definitions"),
    OF_4("http://json-schema.org/draft-04/schema#", "definitions");

    private final String dialect;
    private final String definitions;

    Written(String dialect, String definitions) {
      this.dialect = dialect;
      this.definitions = definitions;
    }
  }

  private final Random random;
  private final Written written;
  private int definitions;

  /**
   * References lead to definitions from this one on: a circle has to lead through a value, or
   * validating by the book comes to no end. None where it is below a value.
   */
  private int floor;

  private JsonValue.Obj root = JsonValue.object().build();

  /** In a version that the random numbers say. */
  public static RandomSchemas any(Random random) {
    return new RandomSchemas(random, Written.values()[random.nextInt(Written.values().length)]);
  }

  public RandomSchemas(Random random, Written written) {
    this.random = random;
    this.written = written;
  }

  private boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  private <T> T one(List<T> all) {
    return all.get(random.nextInt(all.size()));
  }

  private boolean is(Written... all) {
    return List.of(all).contains(written);
  }

  /** A whole schema, of an object as the arguments of a tool are. */
  public JsonValue.Obj schema() {
    definitions = random.nextInt(4);
    TreeMap<String, JsonValue> members = new TreeMap<>(objects(3).members());
    if (written.dialect != null) {
      members.put("$schema", JsonValue.of(written.dialect));
    }
    if (definitions > 0) {
      TreeMap<String, JsonValue> defs = new TreeMap<>();
      for (int i = 0; i < definitions; i++) {
        floor = i + 1;
        defs.put("D" + i, schema(3));
      }
      floor = 0;
      members.put(written.definitions, new JsonValue.Obj(defs));
    }
    if (chance(10) && definitions > 0) {
      members.put("$ref", JsonValue.of("#/" + written.definitions + "/D0"));
    }
    root = new JsonValue.Obj(members);
    return root;
  }

  private JsonValue reference() {
    if (floor == 0 && chance(5)) {
      return JsonValue.of("#");
    }
    return JsonValue.of(
        "#/" + written.definitions + "/D" + (floor + random.nextInt(definitions - floor)));
  }

  /** A schema of what is in a value. */
  private JsonValue within(int depth) {
    int before = floor;
    floor = 0;
    JsonValue schema = schema(depth - 1);
    floor = before;
    return schema;
  }

  private JsonValue.Obj objects(int depth) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    members.put("type", JsonValue.of("object"));
    TreeMap<String, JsonValue> properties = new TreeMap<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      properties.put(one(NAMES), within(depth));
    }
    members.put("properties", new JsonValue.Obj(properties));
    if (chance(50)) {
      members.put("required", names());
    }
    if (chance(40)) {
      members.put("additionalProperties", chance(70) ? JsonValue.of(chance(20)) : within(depth));
    }
    if (chance(15)) {
      TreeMap<String, JsonValue> patterns = new TreeMap<>();
      patterns.put(one(PATTERNS), within(depth));
      patterns.put(one(PATTERNS), within(depth));
      members.put("patternProperties", new JsonValue.Obj(patterns));
    }
    sometimes(members, 8, "minProperties", () -> count(2));
    sometimes(members, 8, "maxProperties", () -> count(4));
    sometimes(members, 8, "propertyNames", () -> within(1));
    sometimes(
        members, 6, "dependentRequired", () -> JsonValue.object().put(one(NAMES), names()).build());
    sometimes(
        members,
        6,
        "dependentSchemas",
        () -> JsonValue.object().put(one(NAMES), schema(depth - 1)).build());
    sometimes(members, 4, "unevaluatedProperties", () -> JsonValue.FALSE);
    return new JsonValue.Obj(members);
  }

  private void sometimes(
      TreeMap<String, JsonValue> members, int percent, String key, Supplier<JsonValue> value) {
    if (chance(percent)) {
      members.put(key, value.get());
    }
  }

  private JsonValue names() {
    List<JsonValue> names = new ArrayList<>();
    for (int i = random.nextInt(2); i >= 0; i--) {
      JsonValue name = JsonValue.of(one(NAMES));
      if (!names.contains(name)) {
        names.add(name);
      }
    }
    return JsonValue.of(names);
  }

  private JsonValue count(int most) {
    return JsonValue.of((long) random.nextInt(most + 1));
  }

  private JsonValue number() {
    return new JsonValue.Num(one(NUMBERS));
  }

  private JsonValue schema(int depth) {
    if (chance(6) && !is(Written.OF_4)) {
      return JsonValue.of(chance(70));
    }
    if (definitions > floor && chance(12)) {
      return JsonValue.object()
          .put("$ref", reference())
          .put(chance(20) ? "type" : "$comment", JsonValue.of("string"))
          .build();
    }
    TreeMap<String, JsonValue> members = new TreeMap<>();
    int kind = random.nextInt(depth <= 0 ? 4 : 9);
    switch (kind) {
      case 0 -> texts(members);
      case 1, 2 -> numbers(members);
      case 3 -> choices(members);
      case 4 -> lists(members, depth);
      case 5 -> members.putAll(objects(depth).members());
      default -> combined(members, depth);
    }
    strange(members);
    return new JsonValue.Obj(members);
  }

  private void texts(TreeMap<String, JsonValue> members) {
    sometimes(members, 80, "type", () -> JsonValue.of("string"));
    sometimes(members, 20, "minLength", () -> count(2));
    sometimes(members, 20, "maxLength", () -> chance(10) ? number(4294967296.0) : count(3));
    sometimes(members, 40, "pattern", () -> JsonValue.of(one(PATTERNS)));
    sometimes(members, 10, "format", () -> JsonValue.of("date"));
  }

  private static JsonValue number(double value) {
    return new JsonValue.Num(value);
  }

  private void numbers(TreeMap<String, JsonValue> members) {
    sometimes(members, 80, "type", () -> JsonValue.of(chance(50) ? "integer" : "number"));
    sometimes(members, 25, "minimum", this::number);
    sometimes(members, 25, "maximum", this::number);
    boolean flags = is(Written.OF_4);
    if (!flags || members.containsKey("minimum")) {
      sometimes(members, 10, "exclusiveMinimum", () -> flags ? JsonValue.TRUE : number());
    }
    if (!flags || members.containsKey("maximum")) {
      sometimes(members, 10, "exclusiveMaximum", () -> flags ? JsonValue.TRUE : number());
    }
    sometimes(members, 15, "multipleOf", () -> number(one(List.of(0.1, 0.5, 1.0, 2.0, 3.0))));
  }

  private JsonValue choice() {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    choices(members);
    return new JsonValue.Obj(members);
  }

  private void choices(TreeMap<String, JsonValue> members) {
    if (chance(40)) {
      members.put("const", value(1));
    } else if (chance(60)) {
      List<JsonValue> all = new ArrayList<>();
      for (int i = random.nextInt(3); i >= 0; i--) {
        JsonValue value = value(1);
        if (!all.contains(value)) {
          all.add(value);
        }
      }
      members.put("enum", JsonValue.of(all));
    } else {
      members.put(
          "type",
          chance(50)
              ? JsonValue.of(one(List.of("null", "boolean", "object", "array")))
              : JsonValue.of(List.of(JsonValue.of("string"), JsonValue.of("null"))));
    }
  }

  private void lists(TreeMap<String, JsonValue> members, int depth) {
    sometimes(members, 80, "type", () -> JsonValue.of("array"));
    boolean tuples = is(Written.OF_4, Written.OF_6, Written.OF_7, Written.OF_2019);
    sometimes(
        members,
        70,
        "items",
        () -> tuples && chance(20) ? JsonValue.of(List.of(within(depth))) : within(depth));
    sometimes(members, 15, "prefixItems", () -> schemas(depth));
    sometimes(members, 15, "contains", () -> within(depth));
    sometimes(members, 15, "minContains", () -> count(2));
    sometimes(members, 15, "maxContains", () -> count(2));
    sometimes(members, 15, "minItems", () -> count(2));
    sometimes(members, 15, "maxItems", () -> count(3));
    sometimes(members, 15, "uniqueItems", () -> JsonValue.of(chance(70)));
    sometimes(members, 8, "additionalItems", () -> within(1));
    sometimes(members, 4, "unevaluatedItems", () -> JsonValue.FALSE);
  }

  private JsonValue schemas(int depth) {
    List<JsonValue> all = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      all.add(schema(depth - 1));
    }
    return JsonValue.of(all);
  }

  private void combined(TreeMap<String, JsonValue> members, int depth) {
    sometimes(members, 30, "allOf", () -> schemas(depth));
    sometimes(members, 30, "anyOf", () -> schemas(depth));
    sometimes(members, 35, "oneOf", () -> schemas(depth));
    sometimes(members, 25, "not", () -> schema(depth - 1));
    if (chance(25)) {
      members.put("if", schema(depth - 1));
      sometimes(members, 70, "then", () -> schema(depth - 1));
      sometimes(members, 70, "else", () -> schema(depth - 1));
    }
    sometimes(members, 20, "type", () -> JsonValue.of("object"));
  }

  private void strange(TreeMap<String, JsonValue> members) {
    sometimes(members, 5, "x-internal", () -> JsonValue.object().put("type", "string").build());
    sometimes(members, 10, "description", () -> JsonValue.of("words"));
    sometimes(members, 5, "default", () -> value(1));
    if (chance(3) && definitions > floor && !is(Written.OF_4)) {
      // An address of its own, below which references lead elsewhere.
      TreeMap<String, JsonValue> own = new TreeMap<>();
      for (int i = 0; i < definitions; i++) {
        own.put("D" + i, choice());
      }
      members.put("$id", JsonValue.of("urn:own:" + random.nextInt(1_000_000)));
      members.put(written.definitions, new JsonValue.Obj(own));
      members.put(
          "allOf", JsonValue.of(List.of(JsonValue.object().put("$ref", reference()).build())));
    }
  }

  /** Any value. */
  public JsonValue value(int depth) {
    return switch (random.nextInt(depth <= 0 ? 4 : 6)) {
      case 0 -> JsonValue.of(one(TEXTS));
      case 1 -> number();
      case 2 -> JsonValue.of(chance(50));
      case 3 -> chance(50) ? JsonValue.NULL : JsonValue.of(one(TEXTS));
      case 4 -> {
        List<JsonValue> items = new ArrayList<>();
        for (int i = random.nextInt(3); i > 0; i--) {
          items.add(value(depth - 1));
        }
        yield JsonValue.of(items);
      }
      default -> {
        TreeMap<String, JsonValue> members = new TreeMap<>();
        for (int i = random.nextInt(3); i > 0; i--) {
          members.put(one(NAMES), value(depth - 1));
        }
        yield new JsonValue.Obj(members);
      }
    };
  }

  /** A value that was made to fit the last schema, as far as that is easy. */
  public JsonValue fitting() {
    return fitting(root, 8);
  }

  private JsonValue fitting(JsonValue schema, int depth) {
    if (!(schema instanceof JsonValue.Obj object) || depth <= 0 || chance(4)) {
      return value(2);
    }
    if (object.get("$ref") instanceof JsonValue.Str ref && chance(90)) {
      return fitting(target(ref.value()), depth - 1);
    }
    if (object.get("const") instanceof JsonValue constant) {
      return constant;
    }
    if (object.get("enum") instanceof JsonValue.Arr list) {
      return one(list.items());
    }
    for (String word : List.of("oneOf", "anyOf", "allOf")) {
      if (object.get(word) instanceof JsonValue.Arr list && chance(70)) {
        return fitting(one(list.items()), depth - 1);
      }
    }
    JsonValue type = object.get("type");
    if (type instanceof JsonValue.Arr list) {
      type = one(list.items());
    }
    if (type == null && object.get("then") instanceof JsonValue.Obj then && chance(50)) {
      return fitting(then, depth - 1);
    }
    if (type == null && (object.get("items") != null || object.get("contains") != null)) {
      type = JsonValue.of("array");
    }
    return type instanceof JsonValue.Str name ? typed(name.value(), object, depth) : value(2);
  }

  private JsonValue target(String reference) {
    if (reference.equals("#") || !(root.get(written.definitions) instanceof JsonValue.Obj defs)) {
      return root;
    }
    JsonValue found = defs.get(reference.substring(reference.lastIndexOf('/') + 1));
    return found == null ? root : found;
  }

  private JsonValue typed(String type, JsonValue.Obj schema, int depth) {
    return switch (type) {
      case "object" -> object(schema, depth);
      case "array" -> {
        List<JsonValue> items = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
          JsonValue below =
              schema.get(schema.get("contains") != null && chance(30) ? "contains" : "items");
          items.add(below == null ? value(1) : fitting(below, depth - 1));
        }
        yield JsonValue.of(items);
      }
      case "string" -> JsonValue.of(one(TEXTS));
      case "integer", "number" ->
          schema.get(chance(50) ? "minimum" : "maximum") instanceof JsonValue.Num bound
              ? bound
              : number();
      case "boolean" -> JsonValue.of(chance(50));
      default -> JsonValue.NULL;
    };
  }

  private JsonValue object(JsonValue.Obj schema, int depth) {
    TreeMap<String, JsonValue> members = new TreeMap<>();
    if (schema.get("properties") instanceof JsonValue.Obj properties) {
      properties
          .members()
          .forEach((name, below) -> {
            if (chance(60)) {
              members.put(name, fitting(below, depth - 1));
            }
          });
    }
    if (schema.get("required") instanceof JsonValue.Arr list) {
      for (JsonValue name : list.items()) {
        members.computeIfAbsent(((JsonValue.Str) name).value(), _ -> value(1));
      }
    }
    if (chance(15)) {
      members.put(one(NAMES), value(1));
    }
    return new JsonValue.Obj(members);
  }
}
