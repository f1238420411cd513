package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import org.bouncycastle.crypto.params.MLDSAParameters;
import org.bouncycastle.crypto.params.MLDSAPublicKeyParameters;
import org.bouncycastle.crypto.signers.MLDSASigner;

/** An ML-DSA-65 public key (FIPS 204, 1952 bytes); only Bouncy Castle judges its signatures. */
final class MlDsa65Public implements PublicHalf {
  static final int LENGTH = 1952;
  static final int SIGNATURE_LENGTH = 3309;

  private final byte[] raw;
  private final MLDSAPublicKeyParameters key;

  MlDsa65Public(byte[] raw) {
    if (raw.length != LENGTH) {
      throw new WritException(
          CanonicalizeError.KEY_MALFORMED,
          "ML-DSA-65 key of " + raw.length + " bytes, not " + LENGTH);
    }
    this.raw = raw;
    this.key = new MLDSAPublicKeyParameters(MLDSAParameters.ml_dsa_65, raw);
  }

  @Override
  public Algorithm algorithm() {
    return Algorithm.ML_DSA_65;
  }

  @Override
  public byte[] raw() {
    return raw;
  }

  /** RFC 9964; all three are required members, which its thumbprint covers. */
  @Override
  public JsonValue.Obj requiredMembers() {
    return JsonValue.object()
        .put("alg", Algorithm.ML_DSA_65.text())
        .put("kty", "AKP")
        .put("pub", StrictBase64.encodeUrl(raw))
        .build();
  }

  @Override
  public boolean accepts(SignatureEngine engine, byte[] message, byte[] signature) {
    if (signature.length != SIGNATURE_LENGTH) {
      return false;
    }
    MLDSASigner verifier = new MLDSASigner();
    verifier.init(false, key);
    verifier.update(message, 0, message.length);
    return verifier.verifySignature(signature);
  }
}
