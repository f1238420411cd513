package dev.writ.console.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.yaml.FileFault;

/** A fault in a text, as an editor marks it. */
final class TextFault {
  private TextFault() {}

  /** Line and column are left out where the fault has no place. */
  static JsonValue.Obj json(WritException fault) {
    ObjectBuilder json =
        JsonValue.object()
            .put("code", fault.code().code())
            .put("meaning", fault.code().meaning())
            .put("remedy", fault.code().remedy());
    if (fault instanceof FileFault placed) {
      if (placed.at().line() > 0) {
        json.put("line", placed.at().line()).put("column", placed.at().column());
      }
      if (!placed.field().isEmpty()) {
        json.put("field", placed.field());
      }
      json.put("found", placed.said());
    } else {
      json.put("found", fault.found());
    }
    return json.build();
  }
}
