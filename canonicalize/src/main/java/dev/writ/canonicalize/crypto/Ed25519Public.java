package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.JsonValue;
import java.security.PublicKey;
import org.bouncycastle.math.ec.rfc8032.Ed25519;

/** An Ed25519 public key that the acceptance rule admits, decoded once. */
final class Ed25519Public implements PublicHalf {
  private final byte[] raw;
  private final Addend25519 point;

  /** The same key as Bouncy Castle holds it, made on first use; two threads may both. */
  private volatile Ed25519.PublicPoint judge;

  /** The same key as the Corretto provider holds it, made on first use; two threads may both. */
  private volatile PublicKey corretto;

  Ed25519Public(byte[] raw) {
    this.raw = raw;
    this.point = Ed25519Rule.admit(raw);
  }

  /** The point that it is, which nobody changes. */
  Addend25519 point() {
    return point;
  }

  @Override
  public Algorithm algorithm() {
    return Algorithm.ED25519;
  }

  @Override
  public byte[] raw() {
    return raw;
  }

  /** RFC 8037, 2. */
  @Override
  public JsonValue.Obj requiredMembers() {
    return JsonValue.object()
        .put("crv", "Ed25519")
        .put("kty", "OKP")
        .put("x", StrictBase64.encodeUrl(raw))
        .build();
  }

  @Override
  public boolean accepts(SignatureEngine engine, byte[] message, byte[] signature) {
    return Ed25519Rule.isWellFormed(signature)
        && (engine.saysYes(this, message, signature)
            || Ed25519Rule.judge(judge(), message, signature));
  }

  private Ed25519.PublicPoint judge() {
    Ed25519.PublicPoint known = judge;
    if (known == null) {
      known = Ed25519.validatePublicKeyPartialExport(raw, 0);
      judge = known;
    }
    return known;
  }

  PublicKey corretto() {
    return corretto;
  }

  void corretto(PublicKey key) {
    corretto = key;
  }
}
