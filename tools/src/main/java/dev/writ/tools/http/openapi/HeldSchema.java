package dev.writ.tools.http.openapi;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.yaml.Located;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;

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
    required(schema, held);
    nullable(schema, held);
    var object = JsonValue.object();
    held.forEach(object::put);
    return object.build();
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
      name = name(pointer);
      names.put(pointer, name);
      open.add(pointer);
      definitions.put(name, convert(target, depth + 1));
      open.remove(pointer);
    }
    return JsonValue.object().put("$ref", "#/$defs/" + name).build();
  }

  private String name(String pointer) {
    String last = pointer.substring(pointer.lastIndexOf('/') + 1).replaceAll("[^A-Za-z0-9_-]", "_");
    String base = last.length() > 80 ? last.substring(0, 80) : last;
    String name = base.isEmpty() ? "schema" : base;
    for (int n = 2; names.containsValue(name); n++) {
      name = base + "_" + n;
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
      case "additionalProperties", "propertyNames", "contains" ->
          held.put(word, convert(value, depth + 1));
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
        if (plain instanceof JsonValue.Arr list && !list.items().isEmpty()) {
          held.put(word, JsonValue.of(list.items().stream().distinct().toList()));
        } else {
          lost(value, word);
        }
      }
      case "const" -> held.put(word, value.value().plain());
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
      case "dependentRequired" -> held.put(word, value.value().plain());
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
    ((Located.Map) value.value())
        .members()
        .keySet()
        .forEach(name -> {
          boolean pattern = !word.equals("patternProperties") || isPattern(name);
          if (pattern) {
            all.put(name, convert(value.get(name).orElseThrow(), depth + 1));
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
    if (value.value().plain() instanceof JsonValue.Str text && isPattern(text.value())) {
      held.put("pattern", text);
    } else {
      lost(value, "pattern");
    }
  }

  /** Whether RE2 runs it, within the length of manifests. */
  private static boolean isPattern(String text) {
    return ToolSchemas.isPattern(text);
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
