package dev.writ.canonicalize.crypto;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.asn1.ASN1EncodableVector;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.DERSequence;
import org.bouncycastle.asn1.nist.NISTObjectIdentifiers;
import org.bouncycastle.asn1.pkcs.EncryptedPrivateKeyInfo;
import org.bouncycastle.asn1.pkcs.EncryptionScheme;
import org.bouncycastle.asn1.pkcs.KeyDerivationFunc;
import org.bouncycastle.asn1.pkcs.PBES2Parameters;
import org.bouncycastle.asn1.pkcs.PBKDF2Params;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.asn1.x509.AlgorithmIdentifier;
import org.bouncycastle.crypto.digests.SHA256Digest;
import org.bouncycastle.crypto.generators.PKCS5S2ParametersGenerator;
import org.bouncycastle.crypto.generators.SCrypt;
import org.bouncycastle.crypto.params.KeyParameter;

/**
 * Encryption of a private key under a passphrase: PBES2 (RFC 8018, 6.2) with AES-256-CBC and scrypt
 * (RFC 7914, 7). What openssl writes by default, PBKDF2 with HMAC-SHA-256, is read too. The costs
 * that a file may ask for are bounded, since they are spent before anything can be verified.
 */
final class Pbes2 {
  /**
   * 16 MiB and 5 rounds, about a quarter of a second: one of the equivalent settings that OWASP
   * names, and the largest memory that openssl takes without being told to.
   */
  private static final int SCRYPT_N = 1 << 14;

  private static final int SCRYPT_R = 8;
  private static final int SCRYPT_P = 5;

  /** 128 · N · r bytes: a file may ask for 256 MiB. */
  private static final long SCRYPT_MEMORY_BYTES_MAX = 256L << 20;

  private static final int SCRYPT_P_MAX = 16;
  private static final int PBKDF2_ITERATIONS_MAX = 10_000_000;

  private static final int SALT_BYTES = 16;
  private static final int SALT_BYTES_MAX = 64;
  private static final int IV_BYTES = 16;
  private static final int KEY_BYTES = 32;

  private static final ASN1ObjectIdentifier SCRYPT =
      new ASN1ObjectIdentifier("1.3.6.1.4.1.11591.4.11");

  private Pbes2() {}

  /** The bytes are no EncryptedPrivateKeyInfo. */
  static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;
  }

  /** An encrypted key of a form or cost that is not taken. */
  static final class UnsupportedException extends Exception {
    private static final long serialVersionUID = 1L;

    UnsupportedException(String message) {
      super(message);
    }
  }

  /** The passphrase does not open the file, or the file is damaged: CBC cannot tell these apart. */
  static final class WrongPassphraseException extends Exception {
    private static final long serialVersionUID = 1L;
  }

  /** The DER of an EncryptedPrivateKeyInfo. */
  static byte[] encrypt(byte[] der, char[] passphrase, SecureRandom random) throws IOException {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    byte[] iv = new byte[IV_BYTES];
    random.nextBytes(iv);
    ASN1EncodableVector cost = new ASN1EncodableVector();
    cost.add(new DEROctetString(salt));
    cost.add(new ASN1Integer(SCRYPT_N));
    cost.add(new ASN1Integer(SCRYPT_R));
    cost.add(new ASN1Integer(SCRYPT_P));
    PBES2Parameters parameters =
        new PBES2Parameters(
            new KeyDerivationFunc(SCRYPT, new DERSequence(cost)),
            new EncryptionScheme(NISTObjectIdentifiers.id_aes256_CBC, new DEROctetString(iv)));
    byte[] password = utf8(passphrase);
    byte[] key = SCrypt.generate(password, salt, SCRYPT_N, SCRYPT_R, SCRYPT_P, KEY_BYTES);
    try {
      return new EncryptedPrivateKeyInfo(
              new AlgorithmIdentifier(PKCSObjectIdentifiers.id_PBES2, parameters),
              cipher(Cipher.ENCRYPT_MODE, key, iv).doFinal(der))
          .getEncoded("DER");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has AES-256-CBC", e);
    } finally {
      Arrays.fill(password, (byte) 0);
      Arrays.fill(key, (byte) 0);
    }
  }

  /** The DER of a PrivateKeyInfo, as far as the padding tells. */
  static byte[] decrypt(byte[] encrypted, char[] passphrase)
      throws MalformedException, UnsupportedException, WrongPassphraseException {
    byte[] password = utf8(passphrase);
    try {
      EncryptedPrivateKeyInfo info = EncryptedPrivateKeyInfo.getInstance(encrypted);
      AlgorithmIdentifier scheme = info.getEncryptionAlgorithm();
      require(scheme.getAlgorithm().equals(PKCSObjectIdentifiers.id_PBES2), "not PBES2");
      PBES2Parameters parameters = PBES2Parameters.getInstance(scheme.getParameters());
      EncryptionScheme encryption = parameters.getEncryptionScheme();
      require(
          encryption.getAlgorithm().equals(NISTObjectIdentifiers.id_aes256_CBC), "not AES-256-CBC");
      byte[] iv = ASN1OctetString.getInstance(encryption.getParameters()).getOctets();
      require(iv.length == IV_BYTES, "an IV of " + iv.length + " bytes");
      byte[] key = deriveKey(parameters.getKeyDerivationFunc(), password);
      try {
        return cipher(Cipher.DECRYPT_MODE, key, iv).doFinal(info.getEncryptedData());
      } finally {
        Arrays.fill(key, (byte) 0);
      }
    } catch (GeneralSecurityException e) {
      throw new WrongPassphraseException();
    } catch (RuntimeException e) {
      // Bouncy Castle's ASN.1 classes throw many kinds at structures other than they expect.
      throw new MalformedException();
    } finally {
      Arrays.fill(password, (byte) 0);
    }
  }

  private static byte[] deriveKey(KeyDerivationFunc function, byte[] password)
      throws UnsupportedException {
    if (function.getAlgorithm().equals(SCRYPT)) {
      return scrypt(ASN1Sequence.getInstance(function.getParameters()), password);
    }
    require(
        function.getAlgorithm().equals(PKCSObjectIdentifiers.id_PBKDF2),
        "neither scrypt nor PBKDF2");
    PBKDF2Params parameters = PBKDF2Params.getInstance(function.getParameters());
    require(
        parameters.getPrf().getAlgorithm().equals(PKCSObjectIdentifiers.id_hmacWithSHA256),
        "PBKDF2 without HMAC-SHA-256");
    requireKeyLength(parameters.getKeyLength());
    int iterations = bounded(parameters.getIterationCount(), PBKDF2_ITERATIONS_MAX, "iterations");
    PKCS5S2ParametersGenerator generator = new PKCS5S2ParametersGenerator(new SHA256Digest());
    generator.init(password, salt(parameters.getSalt()), iterations);
    return ((KeyParameter) generator.generateDerivedParameters(8 * KEY_BYTES)).getKey();
  }

  private static byte[] scrypt(ASN1Sequence parameters, byte[] password)
      throws UnsupportedException {
    require(parameters.size() == 4 || parameters.size() == 5, "scrypt parameters");
    byte[] salt = salt(ASN1OctetString.getInstance(parameters.getObjectAt(0)).getOctets());
    int n = bounded(integer(parameters, 1), (int) (SCRYPT_MEMORY_BYTES_MAX / 128), "scrypt N");
    int r = bounded(integer(parameters, 2), (int) (SCRYPT_MEMORY_BYTES_MAX / 128 / n), "scrypt r");
    int p = bounded(integer(parameters, 3), SCRYPT_P_MAX, "scrypt p");
    require(n > 1 && Integer.bitCount(n) == 1, "scrypt N is no power of two");
    requireKeyLength(parameters.size() == 5 ? integer(parameters, 4) : null);
    return SCrypt.generate(password, salt, n, r, p, KEY_BYTES);
  }

  private static BigInteger integer(ASN1Sequence sequence, int index) {
    return ASN1Integer.getInstance(sequence.getObjectAt(index)).getValue();
  }

  private static int bounded(BigInteger value, int max, String what) throws UnsupportedException {
    require(
        value.signum() > 0 && value.compareTo(BigInteger.valueOf(max)) <= 0,
        what + " is not 1 to " + max);
    return value.intValueExact();
  }

  private static byte[] salt(byte[] salt) throws UnsupportedException {
    require(
        salt.length > 0 && salt.length <= SALT_BYTES_MAX, "a salt of " + salt.length + " bytes");
    return salt;
  }

  private static void requireKeyLength(BigInteger length) throws UnsupportedException {
    require(length == null || length.equals(BigInteger.valueOf(KEY_BYTES)), "another key length");
  }

  private static void require(boolean holds, String otherwise) throws UnsupportedException {
    if (!holds) {
      throw new UnsupportedException(otherwise);
    }
  }

  private static Cipher cipher(int mode, byte[] key, byte[] iv) throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/CBC/PKCS5Padding");
    cipher.init(mode, new SecretKeySpec(key, "AES"), new IvParameterSpec(iv));
    return cipher;
  }

  private static byte[] utf8(char[] passphrase) {
    ByteBuffer encoded = StandardCharsets.UTF_8.encode(CharBuffer.wrap(passphrase));
    byte[] bytes = Arrays.copyOfRange(encoded.array(), encoded.position(), encoded.limit());
    Arrays.fill(encoded.array(), (byte) 0);
    return bytes;
  }
}
