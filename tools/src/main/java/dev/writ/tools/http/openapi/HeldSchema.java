package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.yaml.Located;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.schema.EcmaPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;

/**
 * Turns the schemas of one operation into the kind that manifests hold (spec/tool-manifest.md).
 * What cannot be held is left out so that more is accepted, never less: the server still decides
 * about requests, and an answer is not refused for what it may be.
 */
final class HeldSchema {
  private static final int DEPTH_MAX = 24;
  private static final int SCHEMAS_MAX = 2_000;
  private static final Set<String> TYPES =
      new TreeSet<>(List.of("array", "boolean", "integer", "null", "number", "object", "string"));

  private static final Pattern NUMBER =
      Pattern.compile("-?[0-9]{1,400}(\\.[0-9]{1,400})?([eE][-+]?[0-9]{1,9})?");

  /** Words that say nothing about which values fit. */
  private static final Set<String> REMARKS =
      new TreeSet<>(
          List.of(
              "$comment",
              "$schema",
              "$anchor",
              "contentEncoding",
              "contentMediaType",
              "contentSchema",
              "default",
              "deprecated",
              "discriminator",
              "example",
              "examples",
              "externalDocs",
              "readOnly",
              "title",
              "writeOnly",
              "xml"));

  /** In which direction values go. */
  enum Direction {
    REQUEST,
    ANSWER
  }

  private final Document document;
  private final Direction direction;
  private final BiConsumer<Node, String> dropped;
  private final TreeMap<String, JsonValue> definitions = new TreeMap<>();
  private final TreeMap<String, String> names = new TreeMap<>();
  private final TreeSet<String> open = new TreeSet<>();
  private final TreeSet<String> taken = new TreeSet<>();
  private final TreeMap<String, Integer> numbers = new TreeMap<>();

  /** Names of definitions that accept more than the document's. */
  private final TreeSet<String> lossy = new TreeSet<>();

  private int schemas;

  /** How often something was left out so far. */
  private int losses;

  /**
   * @param dropped is told each thing that is left out
   */
  HeldSchema(Document document, Direction direction, BiConsumer<Node, String> dropped) {
    this.document = document;
    this.direction = direction;
    this.dropped = dropped;
  }

  /** The definitions that converted schemas refer to. */
  Optional<JsonValue.Obj> definitions() {
    if (definitions.isEmpty()) {
      return Optional.empty();
    }
    var all = JsonValue.object();
    definitions.forEach(all::put);
    return Optional.of(all.build());
  }

  JsonValue convert(Node schema) {
    return convert(schema, 0);
  }

  private JsonValue anything(Node at, String why) {
    losses++;
    dropped.accept(at, why);
    return JsonValue.object().build();
  }

  private JsonValue convert(Node schema, int depth) {
    if (schema.value() instanceof Located.Scalar scalar
        && scalar.value() instanceof JsonValue.Bool bool) {
      return bool;
    }
    if (!schema.isMap()) {
      throw schema.refuse(ToolsError.OPENAPI_FORM, "not a schema");
    }
    if (depth > DEPTH_MAX || ++schemas > SCHEMAS_MAX) {
      return anything(schema, "a schema that is nested too deep, or one of too many");
    }
    Optional<Node> reference = schema.get("$ref");
    if (reference.isPresent() && (!document.modern() || schema.members().size() == 1)) {
      return referred(reference.get(), depth);
    }
    if (schema.get("$dynamicRef").isPresent() || schema.get("$id").isPresent()) {
      return anything(schema, "`$id` and `$dynamicRef`");
    }
    var held = new TreeMap<String, JsonValue>();
    reference.ifPresent(node -> {
      if (referred(node, depth) instanceof JsonValue.Obj object
          && object.get("$ref") instanceof JsonValue.Str text) {
        held.put("$ref", text);
      }
    });
    schema.members().forEach((word, value) -> word(schema, word, value, depth, held));
    dependents(schema, held);
    required(schema, held);
    nullable(schema, held);
    var object = JsonValue.object();
    held.forEach(object::put);
    return orNull(schema, object.build());
  }

  /** What says something about what others of the same schema leave: it goes with them. */
  private void dependents(Node schema, TreeMap<String, JsonValue> held) {
    boolean patterns =
        !(held.get("patternProperties") instanceof JsonValue.Obj kept)
            || schema
                .get("patternProperties")
                .filter(
                    all -> kept.members().size() == ((Located.Map) all.value()).members().size())
                .isPresent();
    boolean names =
        schema.get("properties").isEmpty() == !held.containsKey("properties")
            && schema.get("patternProperties").isEmpty() == !held.containsKey("patternProperties")
            && patterns;
    if (!names && held.remove("additionalProperties") != null) {
      lost(schema, "additionalProperties");
    }
    if (schema.get("prefixItems").isPresent()
        && !held.containsKey("prefixItems")
        && held.remove("items") != null) {
      lost(schema, "items");
    }
    for (String bound : List.of("minContains", "maxContains")) {
      if (schema.get(bound).isPresent() && !held.containsKey(bound)) {
        held.remove("contains"); // without it another number would be counted
      }
    }
    if (!held.containsKey("contains")) {
      held.remove("minContains");
      held.remove("maxContains");
    }
  }

  /** A reference to a definition, which is converted once; in a circle everything is accepted. */
  private JsonValue referred(Node reference, int depth) {
    Node target = document.target(reference);
    document.resolved(target); // refuses a circle of references alone
    String pointer = target.pointer();
    if (open.contains(pointer)) {
      return anything(reference, "a schema within itself");
    }
    String name = names.get(pointer);
    if (name == null) {
      int before = losses;
      name = name(pointer);
      names.put(pointer, name);
      open.add(pointer);
      definitions.put(name, convert(target, depth + 1));
      open.remove(pointer);
      if (losses > before) {
        lossy.add(name);
      }
    } else if (lossy.contains(name)) {
      losses++; // told where it is defined
    }
    return JsonValue.object().put("$ref", "#/$defs/" + name).build();
  }

  private String name(String pointer) {
    String last = pointer.substring(pointer.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9_-]", "_");
    String base = last.length() > 80 ? last.substring(0, 80) : last;
    String name = base.isEmpty() ? "schema" : base;
    while (!taken.add(name)) {
      name = base + "_" + numbers.merge(base, 2, (n, _) -> n + 1);
    }
    return name;
  }

  private void word(
      Node schema, String word, Node value, int depth, TreeMap<String, JsonValue> held) {
    switch (word) {
      case "$ref", "required", "nullable", "$defs", "definitions" -> {
        // elsewhere
      }
      case "type" -> type(value).ifPresent(type -> held.put(word, type));
      case "properties", "patternProperties", "dependentSchemas" ->
          named(word, value, depth).ifPresent(all -> held.put(word, all));
      case "items" -> {
        if (value.isMap() || value.value() instanceof Located.Scalar) {
          held.put(word, convert(value, depth + 1));
        } else {
          lost(value, word);
        }
      }
      case "additionalProperties", "propertyNames" -> held.put(word, convert(value, depth + 1));
      case "contains" -> {
        int before = losses;
        JsonValue contained = convert(value, depth + 1);
        if (losses == before || schema.get("maxContains").isEmpty()) {
          held.put(word, contained);
        } else {
          lost(value, word); // what accepts more is found more often
        }
      }
      case "allOf", "anyOf", "prefixItems" -> many(word, value, depth, held);
      case "oneOf" -> {
        int before = losses;
        many(word, value, depth, held);
        if (losses > before && held.containsKey(word)) {
          held.put("anyOf", held.remove(word)); // more than one may fit now
          lost(value, "exactly one of");
        }
      }
      case "not" -> {
        int before = losses;
        JsonValue not = convert(value, depth + 1);
        if (losses == before) {
          held.put(word, not);
        } else {
          lost(value, word);
        }
      }
      case "enum" -> {
        JsonValue plain = value.value().plain();
        if (plain instanceof JsonValue.Arr list && !list.items().isEmpty() && !mayBeNumber(plain)) {
          held.put(word, JsonValue.of(list.items().stream().distinct().toList()));
        } else {
          lost(value, word);
        }
      }
      case "const" -> {
        JsonValue plain = value.value().plain();
        if (mayBeNumber(plain)) {
          lost(value, word);
        } else {
          held.put(word, plain);
        }
      }
      case "description" -> {
        if (value.value() instanceof Located.Scalar scalar
            && scalar.value() instanceof JsonValue.Str) {
          held.put(word, scalar.value());
        }
      }
      case "pattern" -> pattern(value, held);
      case "minLength",
          "maxLength",
          "minItems",
          "maxItems",
          "minProperties",
          "maxProperties",
          "minContains",
          "maxContains" ->
          number(word, value, 0, true, held);
      case "minimum", "maximum" -> number(word, value, Double.NEGATIVE_INFINITY, false, held);
      case "exclusiveMinimum", "exclusiveMaximum" -> exclusive(schema, word, value, held);
      case "multipleOf" -> number(word, value, Double.MIN_VALUE, false, held);
      case "uniqueItems" -> {
        if (value.value() instanceof Located.Scalar scalar
            && scalar.value() instanceof JsonValue.Bool) {
          held.put(word, scalar.value());
        }
      }
      case "dependentRequired" -> {
        JsonValue plain = value.value().plain();
        if (ToolSchemas.isAcceptable(JsonValue.object().put(word, plain).build())) {
          held.put(word, plain);
        } else {
          lost(value, word);
        }
      }
      default -> {
        if (!REMARKS.contains(word)) {
          lost(value, word);
        }
      }
    }
  }

  private void lost(Node value, String word) {
    losses++;
    dropped.accept(value, "`" + word + "`");
  }

  /** Whether a text of it may stand for a number of the file that no double holds exactly. */
  private static boolean mayBeNumber(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object ->
          object.members().values().stream().anyMatch(HeldSchema::mayBeNumber);
      case JsonValue.Arr list -> list.items().stream().anyMatch(HeldSchema::mayBeNumber);
      case JsonValue.Str text ->
          NUMBER.matcher(text.value()).matches()
              && !(Math.abs(Double.parseDouble(text.value())) < JsonValue.Num.MAX_INTEGER
                  && Double.parseDouble(text.value()) != 0);
      default -> false;
    };
  }

  private Optional<JsonValue> type(Node value) {
    JsonValue plain = value.value().plain();
    List<JsonValue> all = plain instanceof JsonValue.Arr list ? list.items() : List.of(plain);
    boolean known =
        !all.isEmpty()
            && all.stream()
                .allMatch(one -> one instanceof JsonValue.Str text && TYPES.contains(text.value()));
    if (!known) {
      lost(value, "type");
      return Optional.empty();
    }
    return Optional.of(
        plain instanceof JsonValue.Arr ? JsonValue.of(all.stream().distinct().toList()) : plain);
  }

  private Optional<JsonValue> named(String word, Node value, int depth) {
    if (!value.isMap()) {
      lost(value, word);
      return Optional.empty();
    }
    var all = JsonValue.object();
    TreeSet<String> kept = new TreeSet<>();
    ((Located.Map) value.value())
        .members()
        .keySet()
        .forEach(name -> {
          Optional<String> key =
              word.equals("patternProperties")
                  ? EcmaPattern.of(name).map(EcmaPattern.Held::exact).filter(kept::add)
                  : Optional.of(name);
          if (key.isPresent()) {
            all.put(key.get(), convert(value.get(name).orElseThrow(), depth + 1));
          } else {
            lost(value, "a pattern of names");
          }
        });
    return Optional.of(all.build());
  }

  private void many(String word, Node value, int depth, Map<String, JsonValue> held) {
    if (!(value.value() instanceof Located.Seq) || value.items().isEmpty()) {
      lost(value, word);
      return;
    }
    List<JsonValue> all = new ArrayList<>();
    value.items().forEach(item -> all.add(convert(item, depth + 1)));
    held.put(word, JsonValue.of(all));
  }

  private void pattern(Node value, Map<String, JsonValue> held) {
    Optional<EcmaPattern.Held> pattern =
        value.value().plain() instanceof JsonValue.Str text
            ? EcmaPattern.of(text.value())
            : Optional.empty();
    pattern.ifPresent(p -> held.put("pattern", JsonValue.of(p.loose())));
    if (pattern.isEmpty()) {
      lost(value, "pattern");
    } else if (!pattern.get().loose().equals(pattern.get().exact())) {
      losses++;
    }
  }

  private void number(
      String word, Node value, double least, boolean integer, Map<String, JsonValue> held) {
    if (value.value().plain() instanceof JsonValue.Num number
        && number.value() >= least
        && (!integer || number.isInteger())) {
      held.put(word, number);
    } else {
      lost(value, word);
    }
  }

  /** In 3.0 a flag beside the bound, in 3.1 the bound itself. */
  private void exclusive(Node schema, String word, Node value, Map<String, JsonValue> held) {
    JsonValue plain = value.value().plain();
    if (plain instanceof JsonValue.Num number) {
      held.put(word, number);
    } else if (JsonValue.of(true).equals(plain)) {
      String bound = word.equals("exclusiveMinimum") ? "minimum" : "maximum";
      schema
          .get(bound)
          .map(node -> node.value().plain())
          .filter(JsonValue.Num.class::isInstance)
          .ifPresent(number -> held.put(word, number));
    } else if (!(plain instanceof JsonValue.Bool)) {
      lost(value, word);
    }
  }

  /** A property that only the other direction has is not required in this one. */
  private void required(Node schema, Map<String, JsonValue> held) {
    Optional<Node> required = schema.get("required");
    if (required.isEmpty() || !(required.get().value() instanceof Located.Seq)) {
      return; // a boolean stands at parameters of older documents
    }
    String other = direction == Direction.REQUEST ? "readOnly" : "writeOnly";
    List<JsonValue> names = new ArrayList<>();
    for (Node item : required.get().items()) {
      String name = item.text();
      boolean elsewhere =
          schema
              .get("properties")
              .flatMap(all -> all.get(name))
              .filter(Node::isMap)
              .map(document::resolved)
              .filter(property -> property.isMap() && property.is(other))
              .isPresent();
      if (!elsewhere && !names.contains(JsonValue.of(name))) {
        names.add(JsonValue.of(name));
      }
    }
    if (!names.isEmpty()) {
      held.put("required", JsonValue.of(names));
    }
  }

  /** {@code nullable: true} of 3.0. */
  private void nullable(Node schema, Map<String, JsonValue> held) {
    if (document.modern() || schema.get("nullable").isEmpty() || !schema.is("nullable")) {
      return;
    }
    if (held.get("type") instanceof JsonValue.Str type) {
      held.put("type", JsonValue.of(List.of(type, JsonValue.of("null"))));
    }
    if (held.get("enum") instanceof JsonValue.Arr list && !list.items().contains(JsonValue.NULL)) {
      List<JsonValue> all = new ArrayList<>(list.items());
      all.add(JsonValue.NULL);
      held.put("enum", JsonValue.of(all));
    }
  }

  /**
   * In 3.0 {@code nullable} speaks of {@code type} alone. Many mean that null fits, whatever stands
   * beside it, and many servers do.
   */
  private JsonValue orNull(Node schema, JsonValue.Obj held) {
    boolean said =
        !document.modern() && schema.get("nullable").isPresent() && schema.is("nullable");
    boolean beside =
        held.get("type") == null
            || List.of("allOf", "anyOf", "oneOf", "not").stream()
                .anyMatch(held.members()::containsKey);
    if (!said || !beside || held.members().isEmpty()) {
      return held;
    }
    losses++;
    JsonValue none = JsonValue.object().put("type", "null").build();
    return JsonValue.object().put("anyOf", JsonValue.of(List.of(none, held))).build();
  }

  /** Whether a schema is one of plain values, or of lists of such, that a parameter can have. */
  boolean isPlain(JsonValue schema) {
    return isPlain(schema, true, 0);
  }

  private boolean isPlain(JsonValue schema, boolean list, int depth) {
    if (!(schema instanceof JsonValue.Obj object) || depth > DEPTH_MAX) {
      return true;
    }
    if (object.get("$ref") instanceof JsonValue.Str text) {
      return isPlain(definitions.get(text.value().substring("#/$defs/".length())), list, depth + 1);
    }
    if (JsonValue.of("object").equals(object.get("type")) || object.get("properties") != null) {
      return false;
    }
    if (JsonValue.of("array").equals(object.get("type"))) {
      return list
          && (object.get("items") == null || isPlain(object.get("items"), false, depth + 1));
    }
    return true;
  }

  /** Tells what the document calls a refusal. */
  static WritException unheld(Node at, String what) {
    return at.refuse(ToolsError.OPENAPI_UNHELD, what);
  }
}
