package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.bouncycastle.math.ec.rfc8032.Ed25519;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class OneAcceptanceRuleTest {
  private static final BigInteger L =
      BigInteger.TWO.pow(252).add(new BigInteger("27742317777372353535851937790883648493"));

  static List<SignatureEngine> engines() {
    return List.of(
        SignatureEngines.bouncyCastle(), SignatureEngines.fastest(), SignatureEngines.forAFew());
  }

  static List<Rfc8032> rfc8032() {
    return Rfc8032.ALL;
  }

  @ParameterizedTest
  @MethodSource("engines")
  void ofTheTwelveSpeccheckVectorsExactlyThoseOfBouncyCastleAreAccepted(SignatureEngine engine) {
    List<Integer> accepted = new ArrayList<>();
    List<Integer> weak = new ArrayList<>();
    for (int i = 0; i < Speccheck.ALL.size(); i++) {
      Speccheck vector = Speccheck.ALL.get(i);
      try {
        VerifyingKey.ed25519(vector.keyBytes())
            .verify(engine, vector.messageBytes(), vector.signatureBytes());
        accepted.add(i);
      } catch (WritException e) {
        if (e.code() == CanonicalizeError.KEY_WEAK) {
          weak.add(i);
        } else {
          assertThat(e.code()).isEqualTo(CanonicalizeError.SIGNATURE_INVALID);
        }
      }
    }
    assertThat(Speccheck.ALL).hasSize(12);
    assertThat(accepted).containsExactly(2, 3, 4, 5);
    assertThat(weak).containsExactly(0, 1, 10, 11);
  }

  @Test
  void bouncyCastleAloneAcceptsTheSame() {
    List<Integer> accepted = new ArrayList<>();
    for (int i = 0; i < Speccheck.ALL.size(); i++) {
      Speccheck vector = Speccheck.ALL.get(i);
      byte[] message = vector.messageBytes();
      if (Ed25519.verify(
          vector.signatureBytes(), 0, vector.keyBytes(), 0, message, 0, message.length)) {
        accepted.add(i);
      }
    }
    assertThat(accepted).containsExactly(2, 3, 4, 5);
  }

  @ParameterizedTest
  @MethodSource("rfc8032")
  void theVectorsOfRfc8032SignAndVerify(Rfc8032 vector) {
    SigningKey key = SigningKey.ed25519(Rfc8032.hex(vector.secret()));
    byte[] message = Rfc8032.hex(vector.message());
    byte[] signature = Rfc8032.hex(vector.signature());
    assertThat(key.verifyingKey().bytes()).isEqualTo(Rfc8032.hex(vector.key()));
    for (SignatureEngine engine : engines()) {
      assertThat(key.sign(engine, message)).as(engine.description()).isEqualTo(signature);
      key.verifyingKey().verify(engine, message, signature);
      byte[] other = Arrays.copyOf(message, message.length + 1);
      Refused.with(
          CanonicalizeError.SIGNATURE_INVALID,
          () -> key.verifyingKey().verify(engine, other, signature));
    }
  }

  /** All encodings, canonical and not, of the eight points whose order divides 8. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
      })
  void noKeyOfSmallOrderIsAdmitted(String key) {
    Refused.with(
        CanonicalizeError.KEY_WEAK, () -> VerifyingKey.ed25519(HexFormat.of().parseHex(key)));
  }

  @Test
  void noKeyWithYOfPOrMoreIsAdmitted() {
    // p + 3 encodes y = 3, which is on the curve; p + 18 = 2^255 - 1 is the largest there is.
    for (int low = 0xed; low <= 0xff; low++) {
      byte[] key = new byte[32];
      Arrays.fill(key, (byte) 0xff);
      key[0] = (byte) low;
      for (int top : new int[] {0x7f, 0xff}) {
        key[31] = (byte) top;
        Refused.with(CanonicalizeError.KEY_WEAK, () -> VerifyingKey.ed25519(key));
      }
    }
  }

  /**
   * Keys are decoded by the arithmetic of batches, which must find the points that the judge does.
   */
  @Test
  void aPointIsAdmittedExactlyWhereBouncyCastleDecodesIt() {
    Random random = new Random(Refused.seed(getClass()));
    int admitted = 0;
    for (int i = 0; i < 2000; i++) {
      byte[] key = bytes(random, 32);
      key[31] &= (byte) (random.nextBoolean() ? 0x7f : 0xff);
      boolean isPoint = Ed25519.validatePublicKeyPartialExport(key, 0) != null;
      if (isPoint) {
        assertThatCode(() -> Ed25519Rule.admit(key)).doesNotThrowAnyException();
        admitted++;
      } else {
        Refused.with(CanonicalizeError.KEY_MALFORMED, () -> Ed25519Rule.admit(key));
      }
    }
    assertThat(admitted).isBetween(800, 1200);
  }

  @Test
  void whatIsNoPointOrHasAnotherLengthIsNoKey() {
    byte[] offCurve = new byte[32];
    offCurve[0] = 2;
    Refused.with(CanonicalizeError.KEY_MALFORMED, () -> VerifyingKey.ed25519(offCurve));
    for (int length : new int[] {0, 1, 31, 33, 64}) {
      Refused.with(CanonicalizeError.KEY_MALFORMED, () -> VerifyingKey.ed25519(new byte[length]));
      Refused.with(CanonicalizeError.KEY_MALFORMED, () -> SigningKey.ed25519(new byte[length]));
    }
  }

  @ParameterizedTest
  @MethodSource("engines")
  void aSignatureHasOneS(SignatureEngine engine) {
    Random random = new Random(Refused.seed(getClass()));
    for (int i = 0; i < 50; i++) {
      SigningKey key = SigningKey.ed25519(bytes(random, 32));
      byte[] message = bytes(random, random.nextInt(100));
      byte[] signature = key.sign(message);
      key.verifyingKey().verify(engine, message, signature);
      byte[] added = signature.clone();
      byte[] s = littleEndian(scalar(signature).add(L));
      System.arraycopy(s, 0, added, 32, 32);
      Refused.with(
          CanonicalizeError.SIGNATURE_INVALID,
          () -> key.verifyingKey().verify(engine, message, added));
    }
  }

  @Test
  void theBoundOfSIsExact() {
    byte[] below = new byte[64];
    below[0] = 1;
    System.arraycopy(littleEndian(L.subtract(BigInteger.ONE)), 0, below, 32, 32);
    byte[] at = below.clone();
    System.arraycopy(littleEndian(L), 0, at, 32, 32);
    byte[] top = below.clone();
    Arrays.fill(top, 32, 64, (byte) 0xff);
    assertThat(Ed25519Rule.isWellFormed(below)).isTrue();
    assertThat(Ed25519Rule.isWellFormed(at)).isFalse();
    assertThat(Ed25519Rule.isWellFormed(top)).isFalse();
  }

  /** As R, a point of small order is allowed, but in its canonical spelling only. */
  @Test
  void rIsCanonicalBeforeAnyLibraryIsAsked() {
    byte[] signature = new byte[64];
    for (String r :
        List.of(
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000080")) {
      System.arraycopy(HexFormat.of().parseHex(r), 0, signature, 0, 32);
      assertThat(Ed25519Rule.isWellFormed(signature)).as(r).isTrue();
    }
    for (String r :
        List.of(
            "0100000000000000000000000000000000000000000000000000000000000080",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff")) {
      System.arraycopy(HexFormat.of().parseHex(r), 0, signature, 0, 32);
      assertThat(Ed25519Rule.isWellFormed(signature)).as(r).isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 32, 63, 65, 128})
  void aSignatureHas64Bytes(int length) {
    SigningKey key = SigningKey.ed25519(new byte[32]);
    byte[] signature = Arrays.copyOf(key.sign(new byte[3]), length);
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () -> key.verifyingKey().verify(new byte[3], signature));
  }

  @ParameterizedTest
  @MethodSource("engines")
  void everyBitOfASignatureCounts(SignatureEngine engine) {
    SigningKey key = SigningKey.ed25519(new byte[32]);
    byte[] message = {1, 2, 3};
    byte[] signature = key.sign(message);
    for (int bit = 0; bit < 8 * signature.length; bit++) {
      byte[] flipped = signature.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      Refused.with(
          CanonicalizeError.SIGNATURE_INVALID,
          () -> key.verifyingKey().verify(engine, message, flipped));
    }
  }

  /**
   * Crafted signatures with torsion in A and R: the verdict is Bouncy Castle's with every engine.
   */
  @Test
  void allEnginesAgreeWithBouncyCastleOnMixedPointsAndOnNoise() {
    Random random = new Random(Refused.seed(getClass()));
    int accepted = 0;
    for (int i = 0; i < 400; i++) {
      Speccheck base = Speccheck.ALL.get(random.nextInt(2, 6));
      byte[] message = base.messageBytes();
      byte[] signature = base.signatureBytes();
      switch (random.nextInt(4)) {
        case 0 -> {}
        case 1 -> message = bytes(random, 32);
        case 2 -> signature[random.nextInt(64)] ^= (byte) (1 << random.nextInt(8));
        default -> signature = bytes(random, 64);
      }
      boolean raw = Ed25519.verify(signature, 0, base.keyBytes(), 0, message, 0, message.length);
      accepted += raw ? 1 : 0;
      VerifyingKey key = VerifyingKey.ed25519(base.keyBytes());
      for (SignatureEngine engine : engines()) {
        byte[] m = message;
        byte[] s = signature;
        if (raw) {
          assertThatCode(() -> key.verify(engine, m, s)).doesNotThrowAnyException();
        } else {
          Refused.with(CanonicalizeError.SIGNATURE_INVALID, () -> key.verify(engine, m, s));
        }
      }
    }
    assertThat(accepted).isBetween(20, 380);
  }

  static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static BigInteger scalar(byte[] signature) {
    byte[] s = Arrays.copyOfRange(signature, 32, 64);
    for (int i = 0; i < 16; i++) {
      byte swap = s[i];
      s[i] = s[31 - i];
      s[31 - i] = swap;
    }
    return new BigInteger(1, s);
  }

  private static byte[] littleEndian(BigInteger value) {
    byte[] big = value.toByteArray();
    byte[] little = new byte[32];
    for (int i = 0; i < big.length && i < 32; i++) {
      little[i] = big[big.length - 1 - i];
    }
    return little;
  }
}
