package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A server's JSON Schema in the kind that manifests have (spec/tool-manifest.md). What that kind
 * cannot hold is left out in the direction that accepts more, never less: the server validates as
 * well. Texts for people are left out, too, since the server's own schema is what is shown.
 */
public final class DerivedSchema {
  private static final String DIALECT = "https://json-schema.org/draft/2020-12/schema";
  private static final int DEPTH_MAX = 60;
  private static final int DROPPED_MAX = 200;

  /** Checks nothing, and is shown from the server's own schema. */
  private static final List<String> TEXTS =
      List.of(
          "$comment",
          "default",
          "deprecated",
          "description",
          "examples",
          "readOnly",
          "title",
          "writeOnly");

  private static final List<String> TYPES =
      List.of("array", "boolean", "integer", "null", "number", "object", "string");

  private static final List<String> COUNTS =
      List.of("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties");

  private static final List<String> BOUNDS =
      List.of("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum");

  /** Patterns that mean the same to RE2 and to ECMA-262. */
  private static final Pattern SAME =
      Pattern.compile(
          "(?:[A-Za-z0-9 _@/:;,=~#%&'\"<>!-]"
              + "|\\\\[.^$*+?()\\[\\]{}|/\\\\dDwW-]"
              + "|[.^$|)]"
              + "|\\((?:\\?:)?"
              + "|\\[\\^?(?:[A-Za-z0-9 _@/:;,=~#%&'\"<>!.$*+?(){}|-]"
              + "|\\\\[.^$*+?()\\[\\]{}|/\\\\dDwW-])+\\]"
              + "|[*+?]\\??"
              + "|\\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\\}\\??)*");

  private final JsonValue.Obj root;
  private final boolean old;
  private final List<String> dropped = new ArrayList<>();
  private final TreeMap<String, JsonValue> definitions = new TreeMap<>();
  private final TreeMap<String, Boolean> exactDefinitions = new TreeMap<>();
  private final TreeSet<String> open = new TreeSet<>();

  /**
   * @param schema in the strict kind
   * @param dropped places in the server's schema that check nothing here
   */
  public record Result(JsonValue.Obj schema, List<String> dropped) {
    public Result {
      dropped = List.copyOf(dropped);
    }
  }

  /** A derived schema, and whether it accepts exactly what the server's does. */
  private record Part(JsonValue schema, boolean exact) {}

  private DerivedSchema(JsonValue.Obj root) {
    this.root = root;
    this.old =
        root.get("$schema") instanceof JsonValue.Str dialect
            && dialect.value().matches("https?://json-schema\\.org/draft-0[3-7]/.*");
  }

  /** Derives the schema of an object: of arguments, or of structured content. */
  public static Result of(JsonValue.Obj schema) {
    DerivedSchema derived = new DerivedSchema(schema);
    Part part = derived.part("#", schema, 0);
    TreeMap<String, JsonValue> members = new TreeMap<>();
    if (part.schema() instanceof JsonValue.Obj object) {
      members.putAll(object.members());
    }
    if (!derived.definitions.isEmpty()) {
      members.put("$defs", new JsonValue.Obj(derived.definitions));
    }
    return new Result(new JsonValue.Obj(members), derived.dropped);
  }

  /** What stands in where a derived schema is refused as a whole: it accepts every object. */
  public static Result any(String why) {
    return new Result(JsonValue.object().put("type", "object").build(), List.of("#: " + why));
  }

  private void drop(String path) {
    if (dropped.size() < DROPPED_MAX) {
      dropped.add(path.length() > 200 ? path.substring(0, 200) + "…" : path);
    }
  }

  private Part part(String path, JsonValue value, int depth) {
    if (value instanceof JsonValue.Bool) {
      return new Part(value, true);
    }
    if (!(value instanceof JsonValue.Obj schema) || depth > DEPTH_MAX) {
      drop(path);
      return new Part(JsonValue.TRUE, false);
    }
    if (old && schema.get("$ref") != null) {
      // Before 2019-09 a reference hides what stands beside it.
      return reference(path, schema, depth);
    }
    return new Walk(path, schema, depth).derive();
  }

  private Part reference(String path, JsonValue.Obj schema, int depth) {
    TreeMap<String, JsonValue> alone = new TreeMap<>();
    alone.put("$ref", schema.get("$ref"));
    return new Walk(path, new JsonValue.Obj(alone), depth).derive();
  }

  /** One schema object. */
  private final class Walk {
    private final String path;
    private final JsonValue.Obj schema;
    private final int depth;
    private final TreeMap<String, JsonValue> kept = new TreeMap<>();
    private boolean exact = true;

    Walk(String path, JsonValue.Obj schema, int depth) {
      this.path = path;
      this.schema = schema;
      this.depth = depth;
    }

    Part derive() {
      schema.members().forEach(this::keyword);
      names();
      contains();
      conditions();
      if (JsonValue.TRUE.equals(schema.get("nullable"))) { // OpenAPI: null fits whatever type says
        leaveOut("type");
        leaveOut("enum");
        leaveOut("const");
      }
      return new Part(new JsonValue.Obj(kept), exact);
    }

    private void leaveOut(String key) {
      if (kept.remove(key) != null) {
        dropped(key);
      }
    }

    private void dropped(String key) {
      exact = false;
      drop(path + "/" + key);
    }

    private void keep(String key, JsonValue value, boolean valid) {
      if (valid) {
        kept.put(key, value);
      } else {
        dropped(key);
      }
    }

    private Part below(String key, JsonValue value) {
      return part(path + "/" + key, value, depth + 1);
    }

    private JsonValue below(Part part) {
      exact &= part.exact();
      return part.schema();
    }

    private void keyword(String key, JsonValue value) {
      if (COUNTS.contains(key)) {
        keep(key, value, isCount(value));
      } else if (BOUNDS.contains(key)) {
        keep(key, value, value instanceof JsonValue.Num);
      } else if (TEXTS.contains(key)) {
        return;
      } else {
        other(key, value);
      }
    }

    private void other(String key, JsonValue value) {
      switch (key) {
        case "$schema" -> {
          if (!JsonValue.of(DIALECT).equals(value) && !old) {
            dropped(key);
          }
        }
        case "$defs", "definitions" -> {} // taken where something refers to them
        case "type" -> keep(key, value, isType(value));
        case "enum" -> keep(key, value, value instanceof JsonValue.Arr);
        case "const" -> keep(key, value, true);
        case "multipleOf" ->
            keep(key, value, value instanceof JsonValue.Num number && number.value() > 0);
        case "uniqueItems" -> keep(key, value, value instanceof JsonValue.Bool);
        case "required" -> keep(key, value, isNames(value));
        case "dependentRequired" ->
            keep(
                key,
                value,
                value instanceof JsonValue.Obj named
                    && named.members().values().stream().allMatch(DerivedSchema::isNames));
        case "pattern" -> pattern(value);
        case "items", "propertyNames" -> one(key, value);
        case "allOf", "anyOf", "prefixItems" -> many(key, value);
        case "oneOf" -> oneOf(value);
        case "dependentSchemas" -> named(key, value);
        case "$ref" -> refer(value);
        case "not" -> not(value);
        case "properties",
            "patternProperties",
            "additionalProperties",
            "contains",
            "minContains",
            "maxContains",
            "if",
            "then",
            "else" -> {} // together, afterwards
        default -> dropped(key);
      }
    }

    private void pattern(JsonValue value) {
      boolean same = value instanceof JsonValue.Str text && isSame(text.value());
      keep("pattern", value, same);
      exact &= !(value instanceof JsonValue.Str text) || text.value().indexOf('.') < 0;
    }

    private void one(String key, JsonValue value) {
      if (value instanceof JsonValue.Arr) { // items of older drafts
        dropped(key);
      } else {
        kept.put(key, below(below(key, value)));
      }
    }

    private void many(String key, JsonValue value) {
      if (!(value instanceof JsonValue.Arr list) || list.items().isEmpty()) {
        dropped(key);
        return;
      }
      List<JsonValue> parts = new ArrayList<>();
      for (int i = 0; i < list.items().size(); i++) {
        parts.add(below(below(key + "/" + i, list.items().get(i))));
      }
      kept.put(key, JsonValue.of(parts));
    }

    /** Exactly one of parts that accept more could be two: then at least one has to be enough. */
    private void oneOf(JsonValue value) {
      boolean before = exact;
      exact = true;
      many("oneOf", value);
      boolean allExact = exact;
      exact = before && allExact;
      if (!allExact && kept.containsKey("oneOf")) {
        JsonValue parts = kept.remove("oneOf");
        drop(path + "/oneOf: only one");
        if (kept.containsKey("anyOf") || schema.get("anyOf") != null) {
          kept.put("allOf", JsonValue.of(List.of(JsonValue.object().put("anyOf", parts).build())));
          if (schema.get("allOf") != null) {
            kept.remove("allOf");
          }
        } else {
          kept.put("anyOf", parts);
        }
      }
    }

    private void named(String key, JsonValue value) {
      if (!(value instanceof JsonValue.Obj named)) {
        dropped(key);
        return;
      }
      TreeMap<String, JsonValue> parts = new TreeMap<>();
      named.members().forEach((name, one) -> parts.put(name, below(below(key + "/" + name, one))));
      kept.put(key, new JsonValue.Obj(parts));
    }

    private void not(JsonValue value) {
      Part part = below("not", value);
      keep("not", part.schema(), part.exact());
    }

    private void refer(JsonValue value) {
      String name =
          value instanceof JsonValue.Str ref
              ? ref.value().replaceFirst("^#/(\\$defs|definitions)/", "")
              : "";
      boolean plain =
          value instanceof JsonValue.Str ref
              && !ref.value().equals(name)
              && name.matches("[A-Za-z0-9_.-]{1,200}");
      if (!plain || !define(((JsonValue.Str) value).value(), name, depth)) {
        dropped("$ref");
        return;
      }
      exact &= exactDefinitions.get(name);
      kept.put("$ref", JsonValue.of("#/$defs/" + name));
    }

    /** Which other properties are allowed depends on which names and patterns are here. */
    private void names() {
      boolean whole = true;
      if (schema.get("properties") != null) {
        named("properties", schema.get("properties"));
        whole = kept.containsKey("properties");
      }
      if (schema.get("patternProperties") instanceof JsonValue.Obj patterns) {
        if (patterns.members().keySet().stream().allMatch(DerivedSchema::isSame)) {
          named("patternProperties", patterns);
          boolean sure = patterns.members().keySet().stream().noneMatch(p -> p.contains("."));
          exact &= sure;
          whole &= sure;
        } else {
          dropped("patternProperties");
          whole = false;
        }
      } else if (schema.get("patternProperties") != null) {
        dropped("patternProperties");
        whole = false;
      }
      if (schema.get("additionalProperties") != null) {
        if (whole) {
          one("additionalProperties", schema.get("additionalProperties"));
        } else {
          dropped("additionalProperties");
        }
      }
    }

    /** A part that accepts more is found more often: so an upper bound needs an exact one. */
    private void contains() {
      if (schema.get("contains") == null) {
        return;
      }
      Part part = below("contains", schema.get("contains"));
      JsonValue least = schema.get("minContains");
      JsonValue most = schema.get("maxContains");
      if (!part.exact() && most != null
          || least != null && !isCount(least)
          || most != null && !isCount(most)) {
        dropped("contains");
        return;
      }
      exact &= part.exact();
      kept.put("contains", part.schema());
      if (least != null) {
        kept.put("minContains", least);
      }
      if (most != null) {
        kept.put("maxContains", most);
      }
    }

    private void conditions() {
      if (schema.get("if") == null) {
        return;
      }
      Part condition = below("if", schema.get("if"));
      if (!condition.exact()) {
        dropped("if");
        return;
      }
      kept.put("if", condition.schema());
      for (String key : List.of("then", "else")) {
        if (schema.get(key) != null) {
          one(key, schema.get(key));
        }
      }
    }
  }

  /** Whether there is a definition that does not lead back to itself; then it is derived. */
  private boolean define(String ref, String name, int depth) {
    String group = ref.startsWith("#/$defs/") ? "$defs" : "definitions";
    String other = group.equals("$defs") ? "definitions" : "$defs";
    boolean there =
        root.get(group) instanceof JsonValue.Obj named
            && named.get(name) != null
            && !(root.get(other) instanceof JsonValue.Obj twin && twin.get(name) != null);
    if (!there || open.contains(name)) {
      return false;
    }
    if (!definitions.containsKey(name)) {
      open.add(name);
      JsonValue definition = ((JsonValue.Obj) root.get(group)).get(name);
      Part part = part("#/" + group + "/" + name, definition, depth + 1);
      open.remove(name);
      definitions.put(name, part.schema());
      exactDefinitions.put(name, part.exact());
    }
    return true;
  }

  private static boolean isSame(String pattern) {
    return pattern.length() <= 1_000 && SAME.matcher(pattern).matches();
  }

  private static boolean isCount(JsonValue value) {
    return value instanceof JsonValue.Num number && number.isInteger() && number.value() >= 0;
  }

  private static boolean isType(JsonValue value) {
    if (value instanceof JsonValue.Arr list) {
      return !list.items().isEmpty()
          && list.items().stream().distinct().count() == list.items().size()
          && list.items().stream().allMatch(item -> isOneType(item));
    }
    return isOneType(value);
  }

  private static boolean isOneType(JsonValue value) {
    return value instanceof JsonValue.Str name && TYPES.contains(name.value());
  }

  private static boolean isNames(JsonValue value) {
    return value instanceof JsonValue.Arr list
        && list.items().stream().allMatch(item -> item instanceof JsonValue.Str)
        && list.items().stream().distinct().count() == list.items().size();
  }
}
