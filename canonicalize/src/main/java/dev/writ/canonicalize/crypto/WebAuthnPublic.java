package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import org.bouncycastle.crypto.params.ECPublicKeyParameters;

/**
 * A passkey: the P-256 key of a WebAuthn authenticator, and the relying party that it signs for.
 * Its signatures are assertions (spec/webauthn.md).
 */
final class WebAuthnPublic implements PublicHalf {
  private static final int RELYING_PARTY_CHARACTERS_MAX = 253;
  private static final String LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
  private static final Pattern RELYING_PARTY =
      Pattern.compile("localhost|(?:" + LABEL + "\\.)+(?![0-9]+$)" + LABEL);

  private final byte[] x;
  private final byte[] y;
  private final String relyingParty;
  private final ECPublicKeyParameters key;

  /**
   * @throws WritException {@code CAN-050} for what is no point of the curve, {@code CAN-023} for
   *     what no relying party is called
   */
  WebAuthnPublic(byte[] x, byte[] y, String relyingParty) {
    this.key = P256.key(x, y);
    if (relyingParty.length() > RELYING_PARTY_CHARACTERS_MAX
        || !RELYING_PARTY.matcher(relyingParty).matches()) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          VerifyingKey.RELYING_PARTY
              + " is not localhost, nor a domain of two or more labels in lower case");
    }
    this.x = x;
    this.y = y;
    this.relyingParty = relyingParty;
  }

  @Override
  public Algorithm algorithm() {
    return Algorithm.WEBAUTHN;
  }

  /** The point, uncompressed (SEC 1, 2.3.3). */
  @Override
  public byte[] raw() {
    byte[] raw = new byte[1 + x.length + y.length];
    raw[0] = 4;
    System.arraycopy(x, 0, raw, 1, x.length);
    System.arraycopy(y, 0, raw, 1 + x.length, y.length);
    return raw;
  }

  /** RFC 7638, 3.2; the relying party is not among them. */
  @Override
  public JsonValue.Obj requiredMembers() {
    return JsonValue.object()
        .put("crv", "P-256")
        .put("kty", "EC")
        .put("x", StrictBase64.encodeUrl(x))
        .put("y", StrictBase64.encodeUrl(y))
        .build();
  }

  @Override
  public Optional<String> relyingParty() {
    return Optional.of(relyingParty);
  }

  @Override
  public boolean accepts(SignatureEngine engine, byte[] message, byte[] signature) {
    try {
      require(engine, "", message, signature);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  @Override
  public void require(SignatureEngine engine, String kid, byte[] message, byte[] signature) {
    WebAuthnAssertion assertion = WebAuthnAssertion.parse(signature);
    assertion.requireChallenge(StrictBase64.encodeUrl(Digest.sha256(message).bytes()));
    assertion.requireOrigin(relyingParty);
    assertion.requireRelyingParty(
        Digest.sha256(relyingParty.getBytes(StandardCharsets.UTF_8)).bytes());
    assertion.requirePerson();
    if (!P256.holds(key, assertion.signedDigest(), assertion.signature())) {
      throw new WritException(
          CanonicalizeError.SIGNATURE_INVALID, algorithm().text() + " key " + kid);
    }
  }
}
