package dev.writ.tools.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.schema.EcmaPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A server's JSON Schema in the kind that manifests have (spec/tool-manifest.md). What that kind
 * cannot hold is left out in the direction that accepts more, never less: the server validates as
 * well. Texts for people are left out, too, since the server's own schema is what is shown.
 */
public final class DerivedSchema {
  private static final int DEPTH_MAX = 60;
  private static final int DROPPED_MAX = 200;
  private static final int PATH_MAX = 200;

  /**
   * More schemas than this are not held anyway (spec/tool-manifest.md): the rest is not looked at.
   */
  private static final int SCHEMAS_MAX = 20_000;

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

  private final JsonValue.Obj root;
  private final Optional<SchemaDraft> named;
  private final SchemaDraft draft;
  private final List<String> dropped = new ArrayList<>();
  private final TreeMap<String, JsonValue> definitions = new TreeMap<>();
  private final TreeMap<String, Boolean> exactDefinitions = new TreeMap<>();

  /** Names of definitions, by the references that lead to them. */
  private final TreeMap<String, String> names = new TreeMap<>();

  private final TreeSet<String> taken = new TreeSet<>();
  private final TreeMap<String, Integer> numbers = new TreeMap<>();

  private final TreeSet<String> open = new TreeSet<>();
  private int schemas;

  /** How many schemas with an address of their own this place is in. */
  private int elsewhere;

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
    this.named = SchemaDraft.of(root);
    this.draft = named.orElse(SchemaDraft.DRAFT_2020_12);
  }

  /** Derives the schema of an object: of arguments, or of structured content. */
  public static Result of(JsonValue.Obj schema) {
    DerivedSchema derived = new DerivedSchema(schema);
    if (derived.draft == SchemaDraft.ANCIENT) {
      return any("the whole schema, of a draft before 4");
    }
    Part part = derived.part("#", schema, 0);
    if (derived.schemas > SCHEMAS_MAX) {
      return any("the whole schema, of more than " + SCHEMAS_MAX + " schemas");
    }
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
      dropped.add(path);
    }
  }

  /**
   * A stranger's names may be as long as a message, and each part below them has them in its path.
   */
  private static String path(String path, String key) {
    return path.length() + key.length() <= PATH_MAX
        ? path + "/" + key
        : path.endsWith("…") ? path : cut(path + "/" + cut(key)) + "…";
  }

  private static String cut(String text) {
    return text.length() <= PATH_MAX ? text : text.substring(0, PATH_MAX);
  }

  private Part part(String path, JsonValue value, int depth) {
    schemas++;
    if (value instanceof JsonValue.Bool && draft.hasBooleans()) {
      return new Part(value, true);
    }
    if (!(value instanceof JsonValue.Obj schema) || depth > DEPTH_MAX || schemas > SCHEMAS_MAX) {
      drop(path);
      return new Part(JsonValue.TRUE, false);
    }
    boolean away = schema != root && SchemaPlace.isElsewhere(schema);
    elsewhere += away ? 1 : 0;
    Part part =
        draft.hidesSiblings() && schema.get("$ref") != null
            ? reference(path, schema, depth)
            : new Walk(path, schema, depth).derive();
    elsewhere -= away ? 1 : 0;
    return part;
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
      if (schema.get("prefixItems") != null
          && draft.knows("prefixItems")
          && !kept.containsKey("prefixItems")
          && kept.remove("items") != null) {
        dropped("items"); // which are the rest of others than the server means
      }
      JsonValue.Obj derived = new JsonValue.Obj(kept);
      if (JsonValue.TRUE.equals(
          schema.get("nullable"))) { // OpenAPI: null fits whatever else is said
        JsonValue none = JsonValue.object().put("type", "null").build();
        derived = JsonValue.object().put("anyOf", JsonValue.of(List.of(none, derived))).build();
      }
      return new Part(derived, exact);
    }

    private void dropped(String key) {
      exact = false;
      drop(path(path, key));
    }

    private void keep(String key, JsonValue value, boolean valid) {
      if (valid) {
        kept.put(key, value);
      } else {
        dropped(key);
      }
    }

    private Part below(String key, JsonValue value) {
      return part(path(path, key), value, depth + 1);
    }

    private JsonValue below(Part part) {
      exact &= part.exact();
      return part.schema();
    }

    private void keyword(String key, JsonValue value) {
      if (!draft.knows(key)) {
        dropped(key);
      } else if (COUNTS.contains(key)) {
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
          if (schema != root || named.isEmpty()) {
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
      Optional<EcmaPattern.Held> held =
          value instanceof JsonValue.Str text ? EcmaPattern.of(text.value()) : Optional.empty();
      held.ifPresent(h -> kept.put("pattern", JsonValue.of(h.loose())));
      if (held.isEmpty()) {
        dropped("pattern");
      } else {
        exact &= held.get().loose().equals(held.get().exact());
      }
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
        drop(path(path, "oneOf: only one"));
        if (kept.containsKey("anyOf")) {
          List<JsonValue> all = new ArrayList<>();
          if (kept.get("allOf") instanceof JsonValue.Arr others) {
            all.addAll(others.items());
          }
          all.add(JsonValue.object().put("anyOf", parts).build());
          kept.put("allOf", JsonValue.of(all));
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
      Optional<String> name =
          value instanceof JsonValue.Str ref && elsewhere == 0
              ? define(ref.value(), depth)
              : Optional.empty();
      if (name.isEmpty()) {
        dropped("$ref");
        return;
      }
      exact &= exactDefinitions.get(name.get());
      kept.put("$ref", JsonValue.of("#/$defs/" + name.get()));
    }

    /** Which other properties are allowed depends on which names and patterns are here. */
    private void names() {
      boolean whole = true;
      if (schema.get("properties") != null) {
        named("properties", schema.get("properties"));
        whole = kept.containsKey("properties");
      }
      if (schema.get("patternProperties") != null) {
        whole &= patterns(schema.get("patternProperties"));
      }
      if (schema.get("additionalProperties") != null) {
        if (whole && schema.get("additionalProperties") instanceof JsonValue.Bool plain) {
          kept.put("additionalProperties", plain); // in draft 4, too
        } else if (whole) {
          one("additionalProperties", schema.get("additionalProperties"));
        } else {
          dropped("additionalProperties");
        }
      }
    }

    /** Whether all of them are held: a name that fits one that is not may have any value. */
    private boolean patterns(JsonValue value) {
      if (!(value instanceof JsonValue.Obj named)) {
        dropped("patternProperties");
        return false;
      }
      boolean whole = true;
      TreeMap<String, JsonValue> parts = new TreeMap<>();
      for (var member : named.members().entrySet()) {
        Optional<EcmaPattern.Held> held = EcmaPattern.of(member.getKey());
        if (held.isPresent() && !parts.containsKey(held.get().exact())) {
          String key = path("patternProperties", member.getKey());
          parts.put(held.get().exact(), below(below(key, member.getValue())));
        } else {
          dropped(path("patternProperties", member.getKey()));
          whole = false;
        }
      }
      kept.put("patternProperties", new JsonValue.Obj(parts));
      return whole;
    }

    /** A part that accepts more is found more often: so an upper bound needs an exact one. */
    private void contains() {
      if (schema.get("contains") == null || !draft.knows("contains")) {
        return;
      }
      Part part = below("contains", schema.get("contains"));
      JsonValue least = schema.get("minContains");
      JsonValue most = schema.get("maxContains");
      if (!draft.knows("minContains") && (least != null || most != null)) {
        dropped("contains"); // some libraries count all the same
        return;
      }
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
      if (schema.get("if") == null || !draft.knows("if")) {
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

  /** The name of what a reference leads to, which is derived once; none in a circle. */
  private Optional<String> define(String reference, int depth) {
    Optional<JsonValue> target = SchemaPlace.find(root, reference);
    if (target.isEmpty() || open.contains(reference)) {
      return Optional.empty();
    }
    String known = names.get(reference);
    if (known != null) {
      return Optional.of(known);
    }
    String name = freeName(reference);
    names.put(reference, name);
    open.add(reference);
    Part part = part(cut(reference), target.get(), depth + 1);
    open.remove(reference);
    definitions.put(name, part.schema());
    exactDefinitions.put(name, part.exact());
    return Optional.of(name);
  }

  private String freeName(String reference) {
    String last = reference.substring(reference.lastIndexOf('/') + 1);
    String base = last.replaceAll("[^A-Za-z0-9_.-]", "_");
    base = base.length() > 80 ? base.substring(0, 80) : base;
    String name = base.isEmpty() ? "schema" : base;
    while (!taken.add(name)) {
      name = base + "_" + numbers.merge(base, 2, (n, _) -> n + 1);
    }
    return name;
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
