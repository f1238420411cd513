package dev.writ.guardian;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.regex.RegularExpression;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.cel.LinearPattern;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A schema compiled by the library for JSON Schema. The only class that needs it and its tree of
 * JSON, so that what a {@link PlainSchema} accepts loads neither.
 */
record CompiledSchema(Schema schema) {
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12,
          builder ->
              builder
                  .schemaRegistryConfig(
                      SchemaRegistryConfig.builder()
                          .locale(Locale.ROOT)
                          .regularExpressionFactory(CompiledSchema::linearPattern)
                          .formatAssertionsEnabled(false)
                          .build())
                  .schemaCacheEnabled(false)
                  .schemaLoader(loader -> loader.fetchRemoteResources(false)));

  /** The metaschema of the dialect, which the library carries along. */
  private static final Schema METASCHEMA =
      REGISTRY.getSchema(SchemaLocation.of(SchemaRules.DIALECT));

  /**
   * @param at which schema, for messages
   * @throws WritException {@code GRD-420}
   */
  static CompiledSchema compile(String at, JsonValue.Obj schema) {
    SchemaRules.require(at, schema);
    try {
      Schema compiled = REGISTRY.getSchema(toNode(schema));
      compiled.initializeValidators();
      return new CompiledSchema(compiled);
    } catch (RuntimeException e) {
      throw new WritException(
          GuardianError.SCHEMA_REFUSED, at + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /**
   * What the patterns of a schema may take together over one value: characters of texts times
   * instructions of programs. It does not depend on the machine.
   */
  private static final long MATCHING_MAX = 1L << 29;

  /** How much of that is left of the value that is validated. */
  private static final ScopedValue<Left> LEFT = ScopedValue.newInstance();

  private static final class Left {
    private long matching = MATCHING_MAX;

    boolean takes(LinearPattern pattern, String text) {
      matching -= (text.length() + 1L) * pattern.size();
      return matching >= 0;
    }
  }

  /**
   * A pattern as JSON Schema means it: found anywhere in the text. What would take too much is not
   * looked for.
   */
  private static RegularExpression linearPattern(String pattern) {
    LinearPattern compiled =
        LinearPattern.compile(pattern, SchemaRules.PATTERN_SIZE_MAX).orElseThrow();
    return text -> {
      boolean looks = !LEFT.isBound() || LEFT.get().takes(compiled, text);
      return looks && compiled.isIn(text);
    };
  }

  /**
   * Validates a schema against the metaschema.
   *
   * @throws WritException {@code GRD-422}
   */
  static void requireWellFormed(String at, JsonValue.Obj schema) {
    METASCHEMA.validate(toNode(schema)).stream()
        .map(e -> e.getInstanceLocation() + ": " + e.getMessage())
        .min(Comparator.naturalOrder())
        .ifPresent(first -> {
          throw new WritException(GuardianError.SCHEMA_MALFORMED, at + " " + Outcomes.cut(first));
        });
  }

  /**
   * What of the value does not fit.
   *
   * @return empty where the patterns would take too much over this value
   */
  Optional<List<Error>> errors(JsonValue value) {
    Left left = new Left();
    List<Error> errors = ScopedValue.where(LEFT, left).call(() -> schema.validate(toNode(value)));
    return left.matching < 0 ? Optional.empty() : Optional.of(errors);
  }

  private static JsonNode toNode(JsonValue value) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    return switch (value) {
      case JsonValue.Obj object -> {
        ObjectNode node = nodes.objectNode();
        object.members().forEach((key, member) -> node.set(key, toNode(member)));
        yield node;
      }
      case JsonValue.Arr array -> {
        ArrayNode node = nodes.arrayNode();
        array.items().forEach(item -> node.add(toNode(item)));
        yield node;
      }
      case JsonValue.Str text -> nodes.stringNode(text.value());
      case JsonValue.Num number -> toNode(number.value());
      case JsonValue.Bool bool -> nodes.booleanNode(bool.value());
      case JsonValue.Null _ -> nodes.nullNode();
    };
  }

  /** A double without a fraction is an integer node: the library throws on 1e20 against a bound. */
  private static JsonNode toNode(double number) {
    JsonNodeFactory nodes = JsonNodeFactory.instance;
    if (Math.rint(number) != number) {
      return nodes.numberNode(number);
    }
    return Math.abs(number) <= JsonValue.Num.MAX_INTEGER
        ? nodes.numberNode((long) number)
        : nodes.numberNode(new BigDecimal(number).toBigIntegerExact());
  }
}
