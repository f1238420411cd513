package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A public key that may be enrolled: holding one means that it is well-formed and not weak. Its id
 * is the RFC 7638 thumbprint of its JWK, base64url without padding.
 */
public final class VerifyingKey {
  /** Members that RFC 7638 does not hash and that we take beside those it does. */
  private static final String KID = "kid";

  /** The member of a passkey's JWK that names its relying party. */
  static final String RELYING_PARTY = "writ_rp_id";

  private final PublicHalf half;
  private final String kid;

  private VerifyingKey(PublicHalf half) {
    this.half = half;
    this.kid = StrictBase64.encodeUrl(Digest.sha256(Jcs.write(half.requiredMembers())).bytes());
  }

  /**
   * An Ed25519 key from its 32 bytes (RFC 8032, 5.1.5).
   *
   * @throws WritException {@code CAN-050} for what is no key, {@code CAN-051} for a weak one
   */
  public static VerifyingKey ed25519(byte[] raw) {
    return new VerifyingKey(new Ed25519Public(raw.clone()));
  }

  /**
   * An ES256 key from its point, uncompressed: 4, x and y, 65 bytes (SEC 1, 2.3.3).
   *
   * @throws WritException {@code CAN-050} for what is no such point of P-256
   */
  public static VerifyingKey es256(byte[] point) {
    return new VerifyingKey(new Es256Public(point.clone()));
  }

  /**
   * An ML-DSA-65 key from its 1952 bytes (FIPS 204, 7.2).
   *
   * @throws WritException {@code CAN-050} for another length
   */
  public static VerifyingKey mlDsa65(byte[] raw) {
    return new VerifyingKey(new MlDsa65Public(raw.clone()));
  }

  /**
   * The Ed25519 or ES256 key of a SubjectPublicKeyInfo in DER (RFC 8410, 4; RFC 5480, 2), as
   * openssl and services write it: the point of P-256 uncompressed, its curve named.
   *
   * @return empty for another algorithm, curve or form
   * @throws WritException {@code CAN-050} and {@code CAN-051} as for the raw forms
   */
  public static Optional<VerifyingKey> ofSubjectPublicKeyInfo(byte[] der) {
    return Pkcs8.publicKey(der);
  }

  /**
   * Reads a public JWK: kty OKP, crv Ed25519, x (RFC 8037); or kty AKP, alg ML-DSA-65, pub (RFC
   * 9964); or kty EC, crv P-256, x, y (RFC 7518, 6.2), which is a passkey with writ_rp_id and an
   * ES256 key without. A kid may stand beside them and must be the thumbprint; nothing else may.
   *
   * @throws WritException {@code CAN-02x} for members that are missing, mistyped or unknown (a
   *     private key's among them), {@code CAN-050} and {@code CAN-051} as for the raw forms
   */
  public static VerifyingKey fromJwk(JsonValue jwk) {
    Fields fields = Fields.of("jwk", jwk);
    VerifyingKey key = readJwk(fields);
    fields.end();
    return key;
  }

  /**
   * Reads the members of a public JWK out of an object that may hold others, which the caller reads
   * and whose end it checks.
   *
   * @throws WritException as {@link #fromJwk}
   */
  public static VerifyingKey readJwk(Fields fields) {
    VerifyingKey key =
        switch (fields.oneOf("kty", List.of("OKP", "AKP", "EC"), text -> text)) {
          case "OKP" -> {
            fields.oneOf("crv", List.of("Ed25519"), text -> text);
            yield new VerifyingKey(new Ed25519Public(bytes(fields, "x")));
          }
          case "EC" -> {
            fields.oneOf("crv", List.of("P-256"), text -> text);
            byte[] x = bytes(fields, "x");
            byte[] y = bytes(fields, "y");
            yield new VerifyingKey(
                fields.has(RELYING_PARTY)
                    ? new WebAuthnPublic(x, y, fields.string(RELYING_PARTY))
                    : new Es256Public(x, y));
          }
          default -> {
            fields.oneOf("alg", List.of(Algorithm.ML_DSA_65.text()), text -> text);
            yield new VerifyingKey(new MlDsa65Public(bytes(fields, "pub")));
          }
        };
    fields
        .optional(KID, fields::string)
        .filter(kid -> !kid.equals(key.kid))
        .ifPresent(_ -> {
          throw new WritException(
              CanonicalizeError.KEY_MALFORMED,
              fields.path() + "/kid is not the key's thumbprint, " + key.kid);
        });
    return key;
  }

  private static byte[] bytes(Fields fields, String member) {
    return StrictBase64.decodeUrl(fields.path() + "/" + member, fields.string(member));
  }

  /** The key's id: its RFC 7638 thumbprint, 43 characters. */
  public String kid() {
    return kid;
  }

  public Algorithm algorithm() {
    return half.algorithm();
  }

  /** For whom alone the key signs: the id of a passkey's relying party; empty for other keys. */
  public Optional<String> relyingParty() {
    return half.relyingParty();
  }

  /** The raw key bytes. */
  public byte[] bytes() {
    return half.raw().clone();
  }

  /** The key as a JWK, with its kid. */
  public JsonValue.Obj toJwk() {
    var jwk = JsonValue.object().put(KID, kid);
    half.requiredMembers().members().forEach(jwk::put);
    half.relyingParty().ifPresent(id -> jwk.put(RELYING_PARTY, id));
    return jwk.build();
  }

  /**
   * Verifies a signature.
   *
   * @throws WritException {@code CAN-060} where the acceptance rule of spec/signatures.md refuses;
   *     for a passkey also {@code CAN-065} to {@code CAN-068} (spec/webauthn.md)
   */
  public void verify(byte[] message, byte[] signature) {
    verify(SignatureEngines.current(), message, signature);
  }

  /** The same by a given engine; the verdict never depends on it. */
  void verify(SignatureEngine engine, byte[] message, byte[] signature) {
    half.require(engine, kid, message, signature);
  }

  /** Whether the acceptance rule accepts, without an exception: a batch collects its verdicts. */
  boolean accepts(SignatureEngine engine, byte[] message, byte[] signature) {
    return half.accepts(engine, message, signature);
  }

  /** The raw key bytes; not copied, not to be changed. */
  byte[] rawBytes() {
    return half.raw();
  }

  /** Of a key of that algorithm, its half. */
  Ed25519Public ed25519() {
    return (Ed25519Public) half;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VerifyingKey that
        && algorithm() == that.algorithm()
        && half.relyingParty().equals(that.half.relyingParty())
        && Arrays.equals(half.raw(), that.half.raw());
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(half.raw());
  }

  @Override
  public String toString() {
    return kid;
  }
}
