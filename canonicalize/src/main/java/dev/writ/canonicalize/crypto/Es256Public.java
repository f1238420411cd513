package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import java.util.Arrays;
import org.bouncycastle.crypto.params.ECPublicKeyParameters;

/** A P-256 public key that signs documents (spec/signatures.md, "ES256"). */
final class Es256Public implements PublicHalf {
  private static final byte UNCOMPRESSED = 4;

  private final byte[] raw;
  private final ECPublicKeyParameters key;

  /**
   * @throws WritException {@code CAN-050} for what is no point of the curve, uncompressed
   */
  Es256Public(byte[] raw) {
    if (raw.length != P256.POINT || raw[0] != UNCOMPRESSED) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED,
          "a point of P-256 in " + raw.length + " bytes, not uncompressed in " + P256.POINT);
    }
    this.raw = raw;
    this.key = P256.key(x(), y());
  }

  /**
   * @throws WritException {@code CAN-050} for what is no point of the curve
   */
  Es256Public(byte[] x, byte[] y) {
    this.key = P256.key(x, y);
    this.raw = key.getQ().getEncoded(false);
  }

  private byte[] x() {
    return Arrays.copyOfRange(raw, 1, 1 + P256.COORDINATE);
  }

  private byte[] y() {
    return Arrays.copyOfRange(raw, 1 + P256.COORDINATE, P256.POINT);
  }

  @Override
  public Algorithm algorithm() {
    return Algorithm.ES256;
  }

  /** The point, uncompressed. */
  @Override
  public byte[] raw() {
    return raw;
  }

  /** RFC 7638, 3.2. */
  @Override
  public JsonValue.Obj requiredMembers() {
    return JsonValue.object()
        .put("crv", "P-256")
        .put("kty", "EC")
        .put("x", StrictBase64.encodeUrl(x()))
        .put("y", StrictBase64.encodeUrl(y()))
        .build();
  }

  @Override
  public boolean accepts(SignatureEngine engine, byte[] message, byte[] signature) {
    return P256.holdsLower(key, Digest.sha256(message).bytes(), signature);
  }
}
