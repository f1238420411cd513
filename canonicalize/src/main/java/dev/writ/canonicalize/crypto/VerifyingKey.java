package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Jcs;
import java.util.Arrays;
import java.util.Base64;
import org.bouncycastle.math.ec.rfc8032.Ed25519;

/** A public key. Its id is the RFC 7638 thumbprint of its JWK, base64url without padding. */
public final class VerifyingKey {
  private final byte[] raw;
  private final String kid;

  private VerifyingKey(byte[] raw) {
    this.raw = raw;
    byte[] jwk = Jcs.write(jwkMembers(raw));
    this.kid = Base64.getUrlEncoder().withoutPadding().encodeToString(Digest.sha256(jwk).bytes());
  }

  /** An Ed25519 key from its 32 bytes (RFC 8032, 5.1.5). */
  public static VerifyingKey ed25519(byte[] raw) {
    return new VerifyingKey(raw.clone());
  }

  private static JsonValue jwkMembers(byte[] raw) {
    return JsonValue.object()
        .put("crv", "Ed25519")
        .put("kty", "OKP")
        .put("x", Base64.getUrlEncoder().withoutPadding().encodeToString(raw))
        .build();
  }

  public String kid() {
    return kid;
  }

  /** The raw key bytes. */
  public byte[] bytes() {
    return raw.clone();
  }

  /** The key as a JWK (RFC 8037), with its kid. */
  public JsonValue.Obj toJwk() {
    return JsonValue.object()
        .put("crv", "Ed25519")
        .put("kid", kid)
        .put("kty", "OKP")
        .put("x", Base64.getUrlEncoder().withoutPadding().encodeToString(raw))
        .build();
  }

  /**
   * Verifies a signature.
   *
   * @throws WritException {@code CAN-060} where the acceptance rule of spec/signatures.md refuses
   */
  public void verify(byte[] message, byte[] signature) {
    if (signature.length != 64
        || !Ed25519.verify(signature, 0, raw, 0, message, 0, message.length)) {
      throw new WritException(CanonicalizeError.SIGNATURE_INVALID, "key " + kid);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VerifyingKey that && Arrays.equals(raw, that.raw);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(raw);
  }

  @Override
  public String toString() {
    return kid;
  }
}
