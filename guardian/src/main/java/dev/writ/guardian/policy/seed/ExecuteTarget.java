package dev.writ.guardian.policy.seed;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Section;
import java.util.List;

/** A target that an intent allows (seed 000). */
public sealed interface ExecuteTarget {
  /** Exactly this text. */
  record Text(String text) implements ExecuteTarget {}

  /** Any line of plain words that begins with this program and needs no shell. */
  record Program(String name) implements ExecuteTarget {}

  /** Whatever the tool takes. */
  record Any() implements ExecuteTarget {}

  static ExecuteTarget read(Section section) {
    ExecuteTarget target =
        switch (section.onlyKey(List.of("any", "program", "text"))) {
          case "any" -> {
            section.require("any", section.bool("any"), "write any: true");
            yield new Any();
          }
          case "program" -> new Program(section.name("program"));
          default -> new Text(section.text("text"));
        };
    section.end();
    return target;
  }

  default JsonValue.Obj toJson() {
    return switch (this) {
      case Any _ -> JsonValue.object().put("any", true).build();
      case Program program -> JsonValue.object().put("program", program.name).build();
      case Text text -> JsonValue.object().put("text", text.text).build();
    };
  }

  default boolean covers(String target) {
    return switch (this) {
      case Any _ -> true;
      case Text text -> text.text.equals(target);
      case Program program ->
          CommandLine.parse(target)
              .flatMap(CommandLine::program)
              .filter(program.name::equals)
              .isPresent();
    };
  }
}
