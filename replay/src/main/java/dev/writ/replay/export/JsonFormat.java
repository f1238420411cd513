package dev.writ.replay.export;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A format in which each outcome is an object of JSON, and nothing is signed anew. */
public interface JsonFormat extends LineFormat {
  /** The names of these formats. */
  List<String> NAMES = List.of("cloudevents", "ocsf");

  JsonValue.Obj json(ExportedOutcome outcome);

  @Override
  default String line(ExportedOutcome outcome) {
    return new String(Jcs.write(json(outcome)), StandardCharsets.UTF_8);
  }

  /**
   * @param name one of {@link #NAMES}
   * @param origin the name of the log
   */
  static JsonFormat of(String name, String origin) {
    return switch (name) {
      case "cloudevents" -> new CloudEventsFormat(origin);
      case "ocsf" -> new OcsfFormat(origin);
      default -> throw new IllegalArgumentException(name);
    };
  }
}
