package dev.writ.guardian;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ParameterFault;
import dev.writ.guardian.error.GuardianError;
import java.util.List;
import java.util.Optional;

/**
 * One schema of a manifest. Where it is plain, what it accepts is accepted without the library, and
 * wrong names of parameters are told without it; everything else is the library's.
 */
final class ToolSchema {
  private final String at;
  private final JsonValue.Obj schema;
  private final Optional<PlainSchema> plain;

  /** Null until it is needed; two threads may both compile it. */
  private volatile CompiledSchema compiled;

  private ToolSchema(String at, JsonValue.Obj schema) {
    this.at = at;
    this.schema = schema;
    this.plain = PlainSchema.of(schema);
  }

  /**
   * @param at which schema, for messages
   * @throws WritException {@code GRD-420} where it is not acceptable
   */
  static ToolSchema of(String at, JsonValue.Obj schema) {
    ToolSchema made = new ToolSchema(at, schema);
    if (made.plain.isEmpty()) {
      made.compiled();
    }
    return made;
  }

  private CompiledSchema compiled() {
    CompiledSchema known = compiled;
    if (known == null) {
      known = CompiledSchema.compile(at, schema);
      compiled = known;
    }
    return known;
  }

  /**
   * @throws WritException with that code where the value does not fit
   */
  void require(GuardianError code, String what, JsonValue value) {
    if (plain.isPresent() && plain.get().accepts(value)) {
      return;
    }
    SchemaFaults.first(compiled(), what, value)
        .ifPresent(first -> {
          throw new WritException(code, Outcomes.cut(first));
        });
  }

  /** What of the value does not fit, at most {@code most}, in the order of their places. */
  List<ParameterFault> faults(JsonValue value, int most) {
    return plain
        .flatMap(simple -> simple.wrongNames(value))
        .map(names -> names.faults(schema, most))
        .orElseGet(() -> SchemaFaults.of(compiled(), schema, value, most));
  }
}
