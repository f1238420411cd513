package dev.writ.canonicalize.crypto;

import org.bouncycastle.crypto.CryptoException;
import org.bouncycastle.crypto.params.MLDSAParameters;
import org.bouncycastle.crypto.params.MLDSAPrivateKeyParameters;
import org.bouncycastle.crypto.signers.MLDSASigner;

/** An ML-DSA-65 private key: the 32-byte seed of FIPS 204, algorithm 6. */
final class MlDsa65Secret implements SecretHalf {
  private final byte[] seed;
  private final MLDSAPrivateKeyParameters key;
  private final VerifyingKey verifyingKey;

  MlDsa65Secret(byte[] seed) {
    this.seed = seed;
    this.key = new MLDSAPrivateKeyParameters(MLDSAParameters.ml_dsa_65, seed);
    this.verifyingKey = VerifyingKey.mlDsa65(key.getPublicKey());
  }

  @Override
  public VerifyingKey verifyingKey() {
    return verifyingKey;
  }

  @Override
  public byte[] seed() {
    return seed;
  }

  @Override
  public byte[] sign(SignatureEngine engine, byte[] message) {
    try {
      MLDSASigner signer = new MLDSASigner();
      // Without ParametersWithRandom this is the deterministic variant, which replay needs.
      signer.init(true, key);
      signer.update(message, 0, message.length);
      return signer.generateSignature();
    } catch (CryptoException e) {
      throw new IllegalStateException("ML-DSA-65 signing failed", e);
    }
  }
}
