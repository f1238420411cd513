package dev.writ.canonicalize.json;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;

/**
 * The JSON Canonicalization Scheme, RFC 8785, strictly: what is not exactly one well-formed JSON
 * value in UTF-8 is refused with a {@code CAN-} code, never repaired.
 */
public final class Jcs {
  private Jcs() {}

  /** The canonical form of a JSON text, under {@link Limits#DEFAULT}. */
  public static byte[] canonicalize(byte[] json) {
    return canonicalize(json, Limits.DEFAULT);
  }

  /**
   * The canonical form of a JSON text. One pass over its bytes, without a tree; time linear in the
   * text but for the sorting of keys that are out of order; no recursion, whatever the depth.
   *
   * @param limits hold for the text and for its canonical form, which may be longer (1e20)
   * @throws WritException {@code CAN-001} to {@code CAN-011} and {@code CAN-014}
   */
  public static byte[] canonicalize(byte[] json, Limits limits) {
    return new Canonicalizer(json, limits).canonicalize();
  }

  /** Reads a JSON text, canonical or not, under {@link Limits#DEFAULT}. */
  public static JsonValue parse(byte[] json) {
    return parse(json, Limits.DEFAULT);
  }

  /**
   * Reads a JSON text, canonical or not.
   *
   * @throws WritException {@code CAN-001} to {@code CAN-011} and {@code CAN-014}
   */
  public static JsonValue parse(byte[] json, Limits limits) {
    return new JsonReader(json, limits).read();
  }

  /**
   * Reads a text that must already be in canonical form: how every signed document is read. It
   * succeeds if and only if {@link #canonicalize} gives back the same bytes.
   *
   * @throws WritException {@code CAN-012} where it is not, or another code for what is no JSON
   */
  public static JsonValue parseCanonical(byte[] json, Limits limits) {
    return new JsonReader(json, limits).readCanonical();
  }

  /**
   * The canonical bytes of a value.
   *
   * @throws WritException {@code CAN-002} where a string or a key holds half of a surrogate pair
   */
  public static byte[] write(JsonValue value) {
    return new JsonWriter().write(value);
  }

  /**
   * Canonical bytes, and how deep what they write is nested; a scalar has depth 0. The bytes are
   * nobody else's.
   */
  public record Written(byte[] bytes, int depth) {}

  /**
   * The same with the depth, for a caller that keeps the value in place of reading the bytes again.
   *
   * @throws WritException as {@link #write}
   */
  public static Written written(JsonValue value) {
    JsonWriter writer = new JsonWriter();
    byte[] bytes = writer.write(value);
    return new Written(bytes, writer.depth());
  }

  /** The digest of a value's canonical bytes. */
  public static Digest digest(JsonValue value) {
    return Digest.sha256(write(value));
  }
}
