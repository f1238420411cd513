package dev.writ.guardian;

import com.google.re2j.PatternSyntaxException;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.cel.LinearPattern;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The rules for JSON Schemas (2020-12) in a manifest: known keywords only, references only to
 * {@code #/$defs/…} and without cycles, patterns that RE2 runs in linear time, and a bounded number
 * of steps once the references are followed. So validating takes time in proportion to the value.
 */
final class SchemaRules {
  private static final String DEFS = "#/$defs/";

  /** How many instructions a pattern's program may have. */
  static final int PATTERN_SIZE_MAX = 10_000;

  private static final int STEPS_MAX = 10_000;
  private static final int DEPTH_MAX = 64;
  static final String DIALECT = "https://json-schema.org/draft/2020-12/schema";

  /** Keywords with one schema. */
  private static final List<String> ONE =
      List.of(
          "additionalProperties",
          "contains",
          "else",
          "if",
          "items",
          "not",
          "propertyNames",
          "then",
          "unevaluatedItems",
          "unevaluatedProperties");

  /** Keywords with a list of schemas. */
  private static final List<String> MANY = List.of("allOf", "anyOf", "oneOf", "prefixItems");

  /** Keywords with schemas by name. */
  private static final List<String> NAMED =
      List.of("$defs", "dependentSchemas", "patternProperties", "properties");

  /** Keywords without schemas below. {@code format} is missing: it would check nothing. */
  private static final List<String> PLAIN =
      List.of(
          "$comment",
          "const",
          "default",
          "dependentRequired",
          "deprecated",
          "description",
          "enum",
          "examples",
          "exclusiveMaximum",
          "exclusiveMinimum",
          "maxContains",
          "maxItems",
          "maxLength",
          "maxProperties",
          "maximum",
          "minContains",
          "minItems",
          "minLength",
          "minProperties",
          "minimum",
          "multipleOf",
          "readOnly",
          "required",
          "title",
          "type",
          "uniqueItems",
          "writeOnly");

  private final String at;
  private final JsonValue.Obj root;
  private final boolean standard;
  private final TreeMap<String, Long> known = new TreeMap<>();

  private SchemaRules(String at, JsonValue.Obj root, boolean standard) {
    this.at = at;
    this.root = root;
    this.standard = standard;
  }

  /**
   * @param at which schema, for messages
   * @throws WritException {@code GRD-420}
   */
  static void require(String at, JsonValue.Obj schema) {
    new SchemaRules(at, schema, false).steps("#", schema, 0);
  }

  /**
   * The same for a schema that is to be registered: its references must have the meaning in the
   * standard that they have here.
   *
   * @throws WritException {@code GRD-420}
   */
  static void requireStandardReferences(String at, JsonValue.Obj schema) {
    new SchemaRules(at, schema, true).steps("#", schema, 0);
  }

  /** How many schemas are visited at most for one value, references followed. */
  private long steps(String path, JsonValue value, int depth) {
    if (depth > DEPTH_MAX) {
      throw refuse(path, "nested or referred more than " + DEPTH_MAX + " deep, or in a circle");
    }
    if (value instanceof JsonValue.Bool) {
      return 1;
    }
    if (!(value instanceof JsonValue.Obj schema)) {
      throw refuse(path, "not a schema");
    }
    Long before = known.get(path);
    if (before != null) {
      return before;
    }
    long steps = 1;
    for (var member : schema.members().entrySet()) {
      steps += keyword(path, member.getKey(), member.getValue(), depth);
      if (steps > STEPS_MAX) {
        throw refuse(path, "more than " + STEPS_MAX + " steps, references followed");
      }
    }
    known.put(path, steps);
    return steps;
  }

  private long keyword(String path, String key, JsonValue value, int depth) {
    String below = path + "/" + key;
    if (ONE.contains(key)) {
      return steps(below, value, depth + 1);
    }
    if (MANY.contains(key) && value instanceof JsonValue.Arr list) {
      long steps = 0;
      for (int i = 0; i < list.items().size(); i++) {
        steps += steps(below + "/" + i, list.items().get(i), depth + 1);
      }
      return steps;
    }
    if (NAMED.contains(key) && value instanceof JsonValue.Obj named) {
      return named(key, below, named, depth);
    }
    if (key.equals("$ref") && value instanceof JsonValue.Str ref) {
      return reference(below, ref.value(), depth);
    }
    if (key.equals("pattern") && value instanceof JsonValue.Str pattern) {
      requirePattern(below, pattern.value());
      return 1;
    }
    if (PLAIN.contains(key) || key.equals("$schema") && value.equals(JsonValue.of(DIALECT))) {
      return 0;
    }
    throw refuse(below, "this keyword is not allowed, or not with this value");
  }

  private long named(String key, String below, JsonValue.Obj named, int depth) {
    long steps = 0;
    for (var member : named.members().entrySet()) {
      if (key.equals("patternProperties")) {
        requirePattern(below, member.getKey());
      }
      String path = below + "/" + member.getKey().replace("~", "~0").replace("/", "~1");
      long one = steps(path, member.getValue(), depth + 1);
      steps += key.equals("$defs") ? 0 : one;
    }
    return steps;
  }

  /**
   * A fragment is percent-decoded (RFC 6901, 6). A definition under the name as written takes
   * precedence, as it did before fragments were decoded; a schema with definitions under both names
   * cannot be registered.
   */
  private long reference(String path, String ref, int depth) {
    Optional<String> decoded = decoded(ref);
    if (!Stream.concat(Stream.of(ref), decoded.stream()).anyMatch(r -> r.startsWith(DEFS))) {
      throw refuse(path, "a reference leads elsewhere than to " + DEFS);
    }
    Optional<JsonValue> written = target(ref);
    if (standard && (decoded.isEmpty() || (!decoded.get().equals(ref) && written.isPresent()))) {
      throw refuse(path, "the reference is no percent-encoded pointer, or can be read in two ways");
    }
    String taken = written.isPresent() ? ref : decoded.orElse(ref);
    JsonValue target = target(taken).orElseThrow(() -> refuse(path, "the reference leads nowhere"));
    return steps(taken, target, depth + 1);
  }

  private Optional<JsonValue> target(String ref) {
    return ref.startsWith(DEFS) ? JsonPointers.find(root, ref.substring(1)) : Optional.empty();
  }

  /** Empty if it is not percent-encoded UTF-8, or hides the escapes of a pointer. */
  private static Optional<String> decoded(String ref) {
    if (ref.indexOf('%') < 0) {
      return Optional.of(ref);
    }
    try {
      String text = URLDecoder.decode(ref.replace("+", "%2B"), StandardCharsets.UTF_8);
      boolean hides = text.indexOf('\ufffd') >= 0 || ref.toLowerCase(Locale.ROOT).contains("%7e");
      return hides ? Optional.empty() : Optional.of(text);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private void requirePattern(String path, String pattern) {
    try {
      if (pattern.length() > 1_000 || LinearPattern.compile(pattern, PATTERN_SIZE_MAX).isEmpty()) {
        throw refuse(path, "the pattern is too large");
      }
    } catch (PatternSyntaxException e) {
      throw refuse(path, "the pattern is not one that RE2 runs");
    }
  }

  private WritException refuse(String path, String found) {
    return new WritException(
        GuardianError.SCHEMA_REFUSED, at + " " + Outcomes.cut(path) + ": " + found);
  }
}
