package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;
import org.bouncycastle.crypto.params.ECPublicKeyParameters;

/**
 * A public key under which others sign JSON Web Signatures (RFC 7515): ES256, which is ECDSA over
 * P-256 with SHA-256, or EdDSA with Ed25519. No key of Writ's own is one: policy pins it, or what a
 * pinned key signed names it.
 */
public final class JwsKey {
  private static final String ES256 = "ES256";
  private static final String EDDSA = "EdDSA";

  private final String algorithm;
  private final JsonValue.Obj jwk;
  private final Check check;

  private interface Check {
    boolean holds(byte[] message, byte[] signature);
  }

  private JwsKey(String algorithm, JsonValue.Obj jwk, Check check) {
    this.algorithm = algorithm;
    this.jwk = jwk;
    this.check = check;
  }

  /**
   * Reads the members of a public JWK that make the key; others, such as {@code kid} and {@code
   * use}, are not read.
   *
   * @throws WritException {@code CAN-02x} for another form, {@code CAN-050} and {@code CAN-051} for
   *     what is no key, or a weak one
   */
  public static JwsKey fromJwk(JsonValue jwk) {
    Fields fields = Fields.of("jwk", jwk);
    if (fields.has("d")) {
      throw new WritException(CanonicalizeError.FIELD_UNKNOWN, "jwk/d: it is a private key");
    }
    return fields.oneOf("kty", List.of("EC", "OKP"), text -> text).equals("EC")
        ? p256(fields)
        : ed25519(fields);
  }

  private static JwsKey p256(Fields fields) {
    fields.oneOf("crv", List.of("P-256"), text -> text);
    String x = fields.string("x");
    String y = fields.string("y");
    ECPublicKeyParameters key =
        P256.key(StrictBase64.decodeUrl("jwk/x", x), StrictBase64.decodeUrl("jwk/y", y));
    return new JwsKey(
        ES256,
        JsonValue.object().put("crv", "P-256").put("kty", "EC").put("x", x).put("y", y).build(),
        (message, signature) -> P256.holdsPair(key, Digest.sha256(message).bytes(), signature));
  }

  private static JwsKey ed25519(Fields fields) {
    fields.oneOf("crv", List.of("Ed25519"), text -> text);
    String x = fields.string("x");
    VerifyingKey key = VerifyingKey.ed25519(StrictBase64.decodeUrl("jwk/x", x));
    return new JwsKey(
        EDDSA,
        JsonValue.object().put("crv", "Ed25519").put("kty", "OKP").put("x", x).build(),
        (message, signature) -> isValid(key, message, signature));
  }

  private static boolean isValid(VerifyingKey key, byte[] message, byte[] signature) {
    try {
      key.verify(message, signature);
      return true;
    } catch (WritException e) {
      return false; // by the one rule of spec/signatures.md
    }
  }

  /** What the header of a signature by this key states as {@code alg}. */
  public String algorithm() {
    return algorithm;
  }

  /** The members that make the key (RFC 7638, 3.2). */
  public JsonValue.Obj toJwk() {
    return jwk;
  }

  /** Whether a signature, as RFC 7518 and RFC 8037 encode it, holds over a message. */
  public boolean holds(byte[] message, byte[] signature) {
    return check.holds(message, signature);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof JwsKey key && jwk.equals(key.jwk);
  }

  @Override
  public int hashCode() {
    return jwk.hashCode();
  }

  @Override
  public String toString() {
    return algorithm + " key " + jwk;
  }
}
