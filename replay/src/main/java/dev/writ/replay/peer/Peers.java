package dev.writ.replay.peer;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What the formats of others have in common: null is as good as absent, and bytes are hexadecimal.
 */
final class Peers {
  private Peers() {}

  /** The objects of an array; empty where it is none, or one of other values. */
  static Optional<List<JsonValue.Obj>> array(JsonValue text) {
    if (!(text instanceof JsonValue.Arr array)
        || !array.items().stream().allMatch(JsonValue.Obj.class::isInstance)) {
      return Optional.empty();
    }
    return Optional.of(array.items().stream().map(JsonValue.Obj.class::cast).toList());
  }

  /** A text, or empty where the member is null or absent. */
  static Optional<String> text(Fields fields, String key) {
    return fields.has(key) && !(fields.value(key) instanceof JsonValue.Null)
        ? Optional.of(fields.string(key))
        : Optional.empty();
  }

  static JsonValue.Num number(Fields fields, String key) {
    if (fields.value(key) instanceof JsonValue.Num number) {
      return number;
    }
    throw new WritException(
        CanonicalizeError.FIELD_TYPE, fields.path() + "/" + key + " is not a number");
  }

  /** The bytes of a text of hexadecimal digits; empty where it is none. */
  static Optional<byte[]> hex(String text) {
    boolean digits = text.chars().allMatch(c -> Character.digit(c, 16) >= 0 && c < 0x80);
    return digits && text.length() % 2 == 0
        ? Optional.of(HexFormat.of().parseHex(text.toLowerCase(Locale.ROOT)))
        : Optional.empty();
  }

  /** Refuses members that nobody read: they are signed by nobody. */
  static void end(Fields fields) {
    try {
      fields.end();
    } catch (WritException e) {
      throw new WritException(PeerError.UNSIGNED_STATEMENT, e.getMessage(), e);
    }
  }
}
