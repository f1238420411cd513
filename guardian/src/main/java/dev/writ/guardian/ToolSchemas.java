package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ParameterFault;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.stream.Stream;

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

  private final ToolManifest manifest;
  private final Digest packageDigest;
  private final TreeMap<String, ToolSchema> inputs = new TreeMap<>();
  private final TreeMap<String, ToolSchema> outputs = new TreeMap<>();

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
      inputs.put(operation.name(), ToolSchema.of(at + "/input", operation.input()));
      operation
          .output()
          .ifPresent(o -> outputs.put(operation.name(), ToolSchema.of(at + "/output", o)));
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
      CompiledSchema.compile("schema", schema);
      requireWellFormed("schema", schema);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  private static void requireWellFormed(String at, JsonValue.Obj schema) {
    CompiledSchema.requireWellFormed(at, schema);
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

  /**
   * @throws WritException {@code GRD-402} for an operation that there is not, {@code GRD-403} where
   *     the params do not fit
   */
  public void requireInput(String operation, JsonValue params) {
    if (!inputs.containsKey(operation)) {
      throw new WritException(GuardianError.ENVELOPE_OPERATION, operation);
    }
    inputs.get(operation).require(GuardianError.ENVELOPE_PARAMS, "params", params);
  }

  /**
   * Accepts everything if the operation has no output schema.
   *
   * @throws WritException {@code GRD-421} where the output does not fit
   */
  public void requireOutput(String operation, JsonValue output) {
    if (outputs.containsKey(operation)) {
      outputs.get(operation).require(GuardianError.OUTPUT_SCHEMA, "output", output);
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
    return inputs.get(operation).faults(params, most);
  }
}
