package dev.writ.guardian;

import com.networknt.schema.Error;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ParameterFault;
import dev.writ.guardian.yaml.NearestName;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/** What does not fit a schema, in the words of the documents; from what the library found. */
final class SchemaFaults {
  /** What a schema says at a keyword is told up to this many characters. */
  private static final int EXPECTED_MAX = 160;

  private static final String PATTERN = "pattern";

  /** Where the texts are too long for the patterns that they are held to. */
  private static final String TOO_MUCH = "shorter texts, or simpler patterns";

  /** Keywords that refuse a member for its name. */
  private static final List<String> UNKNOWN =
      List.of("additionalProperties", "unevaluatedProperties");

  private SchemaFaults() {}

  /** The first of them by place and keyword, since the library promises no order. */
  static Optional<String> first(CompiledSchema compiled, String what, JsonValue value) {
    return compiled
        .errors(value)
        .map(errors ->
            errors.stream()
                .map(e -> what + e.getInstanceLocation() + " against " + e.getKeyword())
                .min(Comparator.naturalOrder()))
        .orElseGet(() -> Optional.of(what + " against " + PATTERN + ": " + TOO_MUCH));
  }

  /** At most {@code most}, in the order of their places. */
  static List<ParameterFault> of(
      CompiledSchema compiled, JsonValue.Obj schema, JsonValue value, int most) {
    Optional<List<Error>> errors = compiled.errors(value);
    if (errors.isEmpty()) {
      return List.of(
          new ParameterFault(
              "params", PATTERN, Optional.empty(), Optional.empty(), Optional.of(TOO_MUCH)));
    }
    return errors.get().stream()
        .map(error -> fault(schema, error))
        .distinct()
        .sorted(WrongNames.BY_PLACE)
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
}
