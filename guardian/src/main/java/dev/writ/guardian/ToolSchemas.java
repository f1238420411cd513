package dev.writ.guardian;

import com.networknt.schema.Error;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SchemaRegistryConfig;
import com.networknt.schema.SpecificationVersion;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ParameterFault;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.error.GuardianError;
import java.math.BigDecimal;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The JSON Schemas of one tool package, compiled. Only what {@link SchemaRules} let through is
 * compiled: no remote references, no recursion, patterns in linear time.
 */
public final class ToolSchemas {
  private static final int CACHED_MAX = 256;
  private static final int RECENT_MAX = 16;

  /** What a schema says at a keyword is told up to this many characters. */
  private static final int EXPECTED_MAX = 160;

  /** Keywords that refuse a member for its name. */
  private static final List<String> UNKNOWN =
      List.of("additionalProperties", "unevaluatedProperties");

  private static final ConcurrentSkipListMap<Digest, ToolSchemas> CACHE =
      new ConcurrentSkipListMap<>();

  /** The last manifests that were used, compared by identity: hashing one takes longer. */
  private static volatile List<ToolSchemas> recent = List.of();

  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(
          SpecificationVersion.DRAFT_2020_12,
          builder ->
              builder
                  .schemaRegistryConfig(
                      SchemaRegistryConfig.builder()
                          .locale(Locale.ROOT)
                          .regularExpressionFactory(SchemaRules::linearPattern)
                          .formatAssertionsEnabled(false)
                          .build())
                  .schemaCacheEnabled(false)
                  .schemaLoader(loader -> loader.fetchRemoteResources(false)));

  /** The metaschema of the dialect, which the library carries along. */
  private static final Schema METASCHEMA =
      REGISTRY.getSchema(SchemaLocation.of(SchemaRules.DIALECT));

  private final ToolManifest manifest;
  private final Digest packageDigest;
  private final TreeMap<String, Schema> inputs = new TreeMap<>();
  private final TreeMap<String, Schema> outputs = new TreeMap<>();

  private ToolSchemas(ToolManifest manifest, Digest packageDigest) {
    this.manifest = manifest;
    this.packageDigest = packageDigest;
    ToolManifest.Capabilities capabilities = manifest.capabilities();
    Stream.of(
            capabilities.paths(),
            capabilities.environment(),
            capabilities.network(),
            capabilities.commands(),
            capabilities.secrets())
        .flatMap(List::stream)
        .forEach(pointer -> requirePointer(manifest.name(), pointer));
    for (ToolManifest.Operation operation : manifest.operations()) {
      String at = manifest.name() + "/" + operation.name();
      inputs.put(operation.name(), compile(at + "/input", operation.input()));
      operation.output().ifPresent(o -> outputs.put(operation.name(), compile(at + "/output", o)));
    }
  }

  /**
   * The schemas of a package, from the cache where they are.
   *
   * @throws WritException {@code GRD-420} where one is not acceptable
   */
  public static ToolSchemas of(ToolManifest manifest) {
    for (ToolSchemas known : recent) {
      if (known.manifest == manifest) {
        return known;
      }
    }
    Digest digest = manifest.packageDigest();
    ToolSchemas found = CACHE.get(digest);
    if (found == null) {
      found = new ToolSchemas(manifest, digest);
      if (CACHE.size() >= CACHED_MAX) {
        CACHE.pollFirstEntry();
      }
      CACHE.put(digest, found);
    }
    if (found.manifest == manifest) {
      recent =
          Stream.concat(Stream.of(found), recent.stream()).distinct().limit(RECENT_MAX).toList();
    }
    return found;
  }

  /**
   * Validates the schemas of a package against the metaschema of their dialect, when it is
   * registered. Judging does not do this, so packages from before this rule are judged as before.
   *
   * @throws WritException {@code GRD-420}, {@code GRD-422}
   */
  public static void requireWellFormed(ToolManifest manifest) {
    of(manifest);
    for (ToolManifest.Operation operation : manifest.operations()) {
      String at = manifest.name() + "/" + operation.name();
      requireWellFormed(at + "/input", operation.input());
      operation.output().ifPresent(output -> requireWellFormed(at + "/output", output));
    }
  }

  /** Whether a schema may have this as a pattern. */
  public static boolean isPattern(String pattern) {
    return isAcceptable(JsonValue.object().put("pattern", pattern).build());
  }

  /** Whether a manifest may have this schema. */
  public static boolean isAcceptable(JsonValue.Obj schema) {
    try {
      compile("schema", schema);
      requireWellFormed("schema", schema);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  private static void requireWellFormed(String at, JsonValue.Obj schema) {
    METASCHEMA.validate(toNode(schema)).stream()
        .map(e -> e.getInstanceLocation() + ": " + e.getMessage())
        .min(Comparator.naturalOrder())
        .ifPresent(first -> {
          throw new WritException(GuardianError.SCHEMA_MALFORMED, at + " " + Outcomes.cut(first));
        });
    SchemaRules.requireStandardReferences(at, schema);
  }

  /** The digest of the package whose schemas these are. */
  public Digest packageDigest() {
    return packageDigest;
  }

  /** Refuses a capability that is not a JSON Pointer: it would check nothing. */
  private static void requirePointer(String tool, String pointer) {
    if (!JsonPointers.isPointer(pointer)) {
      throw new WritException(
          GuardianError.SCHEMA_REFUSED,
          tool + "/capabilities: \"" + Outcomes.cut(pointer) + "\" is not a JSON Pointer");
    }
  }

  private static Schema compile(String at, JsonValue.Obj schema) {
    SchemaRules.require(at, schema);
    try {
      Schema compiled = REGISTRY.getSchema(toNode(schema));
      compiled.initializeValidators();
      return compiled;
    } catch (RuntimeException e) {
      throw new WritException(
          GuardianError.SCHEMA_REFUSED, at + ": " + e.getClass().getSimpleName(), e);
    }
  }

  /**
   * @throws WritException {@code GRD-402} for an operation that there is not, {@code GRD-403} where
   *     the params do not fit
   */
  public void requireInput(String operation, JsonValue params) {
    if (!inputs.containsKey(operation)) {
      throw new WritException(GuardianError.ENVELOPE_OPERATION, operation);
    }
    require(inputs.get(operation), GuardianError.ENVELOPE_PARAMS, "params", params);
  }

  /**
   * Accepts everything if the operation has no output schema.
   *
   * @throws WritException {@code GRD-421} where the output does not fit
   */
  public void requireOutput(String operation, JsonValue output) {
    if (outputs.containsKey(operation)) {
      require(outputs.get(operation), GuardianError.OUTPUT_SCHEMA, "output", output);
    }
  }

  /**
   * What of the params does not fit, at most {@code most}, in the order of their places; none for
   * an operation that there is not.
   */
  List<ParameterFault> faults(String operation, JsonValue params, int most) {
    if (!inputs.containsKey(operation)) {
      return List.of();
    }
    JsonValue.Obj schema = manifest.operation(operation).orElseThrow().input();
    return inputs.get(operation).validate(toNode(params)).stream()
        .map(error -> fault(schema, error))
        .distinct()
        .sorted(
            Comparator.comparing(ParameterFault::at)
                .thenComparing(ParameterFault::keyword)
                .thenComparing(fault -> fault.name().orElse("")))
        .limit(most)
        .toList();
  }

  private static ParameterFault fault(JsonValue.Obj schema, Error error) {
    String at = error.getInstanceLocation().toString();
    Optional<String> name = Optional.ofNullable(error.getProperty());
    boolean unknown = UNKNOWN.contains(error.getKeyword());
    return new ParameterFault(
        Outcomes.cut("params" + at),
        error.getKeyword(),
        name.map(Outcomes::cut),
        name.filter(_ -> unknown).flatMap(n -> NearestName.of(n, SchemaNames.at(schema, at))),
        Optional.ofNullable(error.getSchemaNode())
            .filter(_ -> name.isEmpty())
            .map(JsonNode::toString)
            .filter(text -> text.length() <= EXPECTED_MAX));
  }

  private static void require(Schema schema, GuardianError code, String what, JsonValue value) {
    List<Error> errors = schema.validate(toNode(value));
    // The least by place and keyword, since the library promises no order.
    errors.stream()
        .map(e -> what + e.getInstanceLocation() + " against " + e.getKeyword())
        .min(Comparator.naturalOrder())
        .ifPresent(first -> {
          throw new WritException(code, Outcomes.cut(first));
        });
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
