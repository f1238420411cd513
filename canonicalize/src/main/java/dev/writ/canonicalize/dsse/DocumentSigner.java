package dev.writ.canonicalize.dsse;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.JsonValue;
import java.util.function.Function;

/**
 * Signs documents. Code that makes documents takes one of these instead of a key, so that a replay,
 * which has no keys, can attach the signatures that were recorded.
 */
@FunctionalInterface
public interface DocumentSigner {
  Envelope sign(String payloadType, JsonValue document);

  /**
   * Signs one of our documents and returns it with its envelope. A replay that goes on after a
   * divergence returns the recorded document instead of the given one.
   *
   * @param read reads what {@code write} writes
   */
  default <T> Signed<T> sign(
      String payloadType,
      T document,
      Function<T, ? extends JsonValue> write,
      Function<JsonValue, T> read) {
    return new Signed<>(document, sign(payloadType, write.apply(document)));
  }

  /** A document and the envelope that carries it. */
  record Signed<T>(T document, Envelope envelope) {}

  static DocumentSigner of(SigningKey key) {
    return (type, document) -> Envelope.sign(type, document, key);
  }
}
