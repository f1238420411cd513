package dev.writ.guardian;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ParameterFault;
import dev.writ.guardian.yaml.NearestName;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What most calls that do not fit a schema have: names of parameters that are missing, or that the
 * schema does not know. They are told without the library, in the words that it would give.
 */
record WrongNames(List<String> missing, List<String> unknown) {
  /** The order in which faults are told. */
  static final Comparator<ParameterFault> BY_PLACE =
      Comparator.comparing(ParameterFault::at)
          .thenComparing(ParameterFault::keyword)
          .thenComparing(fault -> fault.name().orElse(""));

  /**
   * At most {@code most} faults, in the order of their places.
   *
   * @param schema which lists the names that an unknown one may have been meant for
   */
  List<ParameterFault> faults(JsonValue.Obj schema, int most) {
    List<String> listed = SchemaNames.at(schema, "");
    return Stream.concat(
            missing.stream().map(name -> fault("required", name, Optional.empty())),
            unknown.stream()
                .map(name -> fault("additionalProperties", name, NearestName.of(name, listed))))
        .sorted(BY_PLACE)
        .limit(most)
        .toList();
  }

  private static ParameterFault fault(String keyword, String name, Optional<String> nearest) {
    return new ParameterFault(
        "params", keyword, Optional.of(Outcomes.cut(name)), nearest, Optional.empty());
  }
}
