package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.StrictBase64;
import java.nio.charset.StandardCharsets;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class MlDsa65Test {
  /** SubjectPublicKeyInfo of ML-DSA-65 (RFC 9881) up to the key. */
  private static final byte[] SPKI =
      HexFormat.of().parseHex("308207b2300b0609608648016503040312038207a100");

  private final SigningKey key = SigningKey.mlDsa65(new byte[32]);
  private final byte[] message = "message".getBytes(StandardCharsets.US_ASCII);

  @Test
  void signsDeterministicallyWithTheSizesOfFips204() {
    assertThat(key.algorithm()).isEqualTo(Algorithm.ML_DSA_65);
    assertThat(key.verifyingKey().bytes()).hasSize(1952);
    byte[] signature = key.sign(message);
    assertThat(signature).hasSize(3309).isEqualTo(key.sign(message));
    assertThat(SigningKey.mlDsa65(new byte[32]).sign(message)).isEqualTo(signature);
    key.verifyingKey().verify(message, signature);
  }

  @Test
  void theJdkAcceptsOursAndWeTheJdks() throws Exception {
    byte[] spki = Arrays.copyOf(SPKI, SPKI.length + 1952);
    System.arraycopy(key.verifyingKey().bytes(), 0, spki, SPKI.length, 1952);
    Signature verifier = Signature.getInstance("ML-DSA-65");
    verifier.initVerify(
        KeyFactory.getInstance("ML-DSA-65").generatePublic(new X509EncodedKeySpec(spki)));
    verifier.update(message);
    assertThat(verifier.verify(key.sign(message))).isTrue();

    KeyPair jdk = KeyPairGenerator.getInstance("ML-DSA-65").generateKeyPair();
    Signature signer = Signature.getInstance("ML-DSA-65");
    signer.initSign(jdk.getPrivate());
    signer.update(message);
    byte[] encoded = jdk.getPublic().getEncoded();
    VerifyingKey ours =
        VerifyingKey.mlDsa65(Arrays.copyOfRange(encoded, encoded.length - 1952, encoded.length));
    byte[] signature = signer.sign();
    ours.verify(message, signature);
    signature[100] ^= 1;
    Refused.with(CanonicalizeError.SIGNATURE_INVALID, () -> ours.verify(message, signature));
  }

  @Test
  void refusesOtherMessagesKeysLengthsAndAlgorithms() {
    byte[] signature = key.sign(message);
    VerifyingKey own = key.verifyingKey();
    VerifyingKey foreign = SigningKey.generateMlDsa65(new SecureRandom()).verifyingKey();
    CanonicalizeError invalid = CanonicalizeError.SIGNATURE_INVALID;
    Refused.with(invalid, () -> own.verify(new byte[0], signature));
    Refused.with(invalid, () -> foreign.verify(message, signature));
    Refused.with(invalid, () -> own.verify(message, Arrays.copyOf(signature, 3308)));
    Refused.with(invalid, () -> own.verify(message, Arrays.copyOf(signature, 3310)));
    Refused.with(invalid, () -> own.verify(message, new byte[0]));
    SigningKey ed25519 = SigningKey.ed25519(new byte[32]);
    Refused.with(invalid, () -> own.verify(message, ed25519.sign(message)));
    Refused.with(invalid, () -> ed25519.verifyingKey().verify(message, signature));
    Refused.with(CanonicalizeError.KEY_MALFORMED, () -> VerifyingKey.mlDsa65(new byte[1951]));
    Refused.with(CanonicalizeError.KEY_MALFORMED, () -> SigningKey.mlDsa65(new byte[31]));
  }

  @Test
  void itsJwkIsThatOfRfc9964AndReadsBack() {
    VerifyingKey own = key.verifyingKey();
    var jwk = own.toJwk();
    assertThat(jwk.members().keySet()).containsExactly("alg", "kid", "kty", "pub");
    assertThat(VerifyingKey.fromJwk(jwk)).isEqualTo(own).hasSameHashCodeAs(own);
    // The example key of RFC 9964 for ML-DSA-65 has the zero seed too.
    assertThat(own.kid()).isEqualTo("Suiu29qbfuaBaR4Ats-c6XQBePB_OpAxAwcTR_0KXVM");
    assertThat(StrictBase64.encodeUrl(own.bytes()))
        .startsWith("QksvJn5Y1bO0TXGs_Gpla7JpUNV8YdsciAvPof6rRD8JQquL2619cIq7w1YHj22Z");
  }
}
