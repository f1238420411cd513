package dev.writ.executor.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * An operator's statement on an IN_DOUBT receipt. It stands beside the receipt and never dispatches
 * anything (protocol rule 18).
 *
 * @param note what was looked at, for people
 * @param evidence digests of what supports it
 */
public record Resolution(
    String tenant,
    Digest receipt,
    Found found,
    String note,
    List<Digest> evidence,
    Instant resolvedAt) {

  public static final String TYPE = PayloadTypes.of("resolution");

  /** What the operator found out about the effect. */
  public enum Found {
    HAPPENED,
    DID_NOT_HAPPEN,
    CANNOT_BE_KNOWN;

    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  public Resolution {
    evidence = List.copyOf(evidence);
  }

  public static Resolution read(JsonValue document) {
    Fields fields = Fields.of("resolution", document);
    Resolution resolution =
        new Resolution(
            fields.name("tenant"),
            fields.digest("receipt"),
            fields.oneOf("found", List.of(Found.values()), Found::text),
            fields.string("note"),
            fields.list("evidence", Fields::digestItem),
            fields.time("resolved_at"));
    fields.end();
    return resolution;
  }

  /**
   * Requires of a resolution that is stated now that its note is one line of shown characters, as
   * of an approval's reason, or empty. Logs of before may have others, which stay readable.
   *
   * @throws dev.writ.canonicalize.WritException {@code CAN-023}
   */
  public void requireShownNote() {
    if (!note.isEmpty()) {
      Fields.of("resolution", toJson()).line("note");
    }
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("receipt", receipt)
        .put("found", found.text())
        .put("note", note)
        .putList("evidence", evidence, d -> JsonValue.of(d.toString()))
        .put("resolved_at", resolvedAt)
        .build();
  }
}
