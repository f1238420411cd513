package dev.writ.conform.adapter;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.ConformError;
import java.util.Optional;

/** An implementation's answer to one operation. */
public sealed interface AdapterAnswer {
  /** The code that says that an implementation does not have the operation. */
  String UNSUPPORTED = "unsupported";

  /** The code of a failure that the implementation did not foresee: never what a vector expects. */
  String INTERNAL = "internal";

  record Output(JsonValue.Obj output) implements AdapterAnswer {}

  record Refused(String code, String message) implements AdapterAnswer {}

  /** The line with this answer; without an id if the question's could not be read. */
  default JsonValue.Obj toJson(Optional<String> id) {
    var line =
        JsonValue.object().put("id", id.<JsonValue>map(JsonValue::of).orElse(JsonValue.NULL));
    return switch (this) {
      case Output(JsonValue.Obj output) -> line.put("ok", true).put("output", output).build();
      case Refused(String code, String message) ->
          line.put("ok", false).put("code", code).put("message", message).build();
    };
  }

  /**
   * Reads the line that answers the question of that id.
   *
   * @throws WritException {@code CNF-021}, {@code CAN-02x} for any other line
   */
  static AdapterAnswer read(JsonValue line, String id) {
    Fields fields = Fields.of("answer", line);
    String found = fields.string("id");
    if (!found.equals(id)) {
      throw new WritException(ConformError.LINE, "the answer to " + found + " instead of " + id);
    }
    AdapterAnswer answer =
        fields.bool("ok")
            ? new Output(fields.obj("output"))
            : new Refused(fields.string("code"), fields.string("message"));
    fields.end();
    return answer;
  }
}
