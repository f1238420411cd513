package dev.writ.guardian.document;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.Optional;

/**
 * Which ledger an intent is for (protocol rule 27), and under which owner it was issued.
 *
 * @param origin the log's origin line
 * @param incarnation rises when a restored backup is taken into service; earlier intents are void
 * @param epoch rises with each owner of the log (spec/cells.md); earlier intents are void. Absent
 *     where a log is not owned for a time
 */
public record Audience(String origin, long incarnation, Optional<Long> epoch) {

  /** Of a log that is not owned for a time. */
  public Audience(String origin, long incarnation) {
    this(origin, incarnation, Optional.empty());
  }

  /** Reads an intent's member, or a vector's. */
  public static Audience read(Fields fields) {
    Audience audience =
        new Audience(
            fields.name("origin"),
            fields.count("incarnation"),
            fields.optional("epoch", fields::count));
    fields.end();
    if (audience.epoch.filter(epoch -> epoch == 0).isPresent()) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, "audience/epoch is not above zero");
    }
    return audience;
  }

  /** The same under another owner. */
  public Audience under(Optional<Long> owner) {
    return new Audience(origin, incarnation, owner);
  }

  JsonValue.Obj toJson() {
    ObjectBuilder json = JsonValue.object().put("origin", origin).put("incarnation", incarnation);
    epoch.ifPresent(e -> json.put("epoch", e));
    return json.build();
  }

  /** For messages. */
  @Override
  public String toString() {
    return origin + ", incarnation " + incarnation + epoch.map(e -> ", epoch " + e).orElse("");
  }
}
