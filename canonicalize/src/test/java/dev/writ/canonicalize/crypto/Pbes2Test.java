package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.CanonicalizeError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Random;
import org.bouncycastle.asn1.ASN1EncodableVector;
import org.bouncycastle.asn1.ASN1Integer;
import org.bouncycastle.asn1.ASN1ObjectIdentifier;
import org.bouncycastle.asn1.ASN1OctetString;
import org.bouncycastle.asn1.ASN1Sequence;
import org.bouncycastle.asn1.DERNull;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Pbes2Test {
  private static final char[] PASSPHRASE = {'x'};

  private static byte[] encrypted(KeyDerivationFunc function, int ivLength) throws IOException {
    return new EncryptedPrivateKeyInfo(
            new AlgorithmIdentifier(
                PKCSObjectIdentifiers.id_PBES2,
                new PBES2Parameters(
                    function,
                    new EncryptionScheme(
                        NISTObjectIdentifiers.id_aes256_CBC,
                        new DEROctetString(new byte[ivLength])))),
            new byte[64])
        .getEncoded("DER");
  }

  private static KeyDerivationFunc scrypt(int saltLength, long n, long r, long p, long... more) {
    ASN1EncodableVector cost = new ASN1EncodableVector();
    cost.add(new DEROctetString(new byte[saltLength]));
    cost.add(new ASN1Integer(n));
    cost.add(new ASN1Integer(r));
    cost.add(new ASN1Integer(p));
    for (long each : more) {
      cost.add(new ASN1Integer(each));
    }
    return new KeyDerivationFunc(
        new ASN1ObjectIdentifier("1.3.6.1.4.1.11591.4.11"), new DERSequence(cost));
  }

  private static KeyDerivationFunc pbkdf2(int iterations, ASN1ObjectIdentifier prf) {
    return new KeyDerivationFunc(
        PKCSObjectIdentifiers.id_PBKDF2,
        new PBKDF2Params(new byte[8], iterations, new AlgorithmIdentifier(prf, DERNull.INSTANCE)));
  }

  /** What a file asks for is bounded, and refused before it is done. */
  @ParameterizedTest
  @CsvSource({
    "16, 16384, 8, 17, scrypt p",
    "16, 16384, 8, 0, scrypt p",
    "16, 16384, 129, 1, scrypt r",
    "16, 16384, 0, 1, scrypt r",
    "16, 4194304, 1, 1, scrypt N",
    "16, 2097152, 2, 1, scrypt r",
    "16, 1099511627776, 8, 1, scrypt N",
    "16, -16384, 8, 1, scrypt N",
    "16, 16383, 8, 1, no power of two",
    "16, 1, 8, 1, no power of two",
    "0, 16384, 8, 1, salt",
    "65, 16384, 8, 1, salt"
  })
  void costsOfScryptAreBounded(int salt, long n, long r, long p, String said) throws IOException {
    byte[] der = encrypted(scrypt(salt, n, r, p), 16);
    assertThatThrownBy(() -> Pbes2.decrypt(der, PASSPHRASE))
        .isInstanceOf(Pbes2.UnsupportedException.class)
        .hasMessageContaining(said);
  }

  @ParameterizedTest
  @ValueSource(ints = {10_000_001, Integer.MAX_VALUE, 0, -1})
  void iterationsOfPbkdf2AreBounded(int iterations) throws IOException {
    byte[] der = encrypted(pbkdf2(iterations, PKCSObjectIdentifiers.id_hmacWithSHA256), 16);
    assertThatThrownBy(() -> Pbes2.decrypt(der, PASSPHRASE))
        .isInstanceOf(Pbes2.UnsupportedException.class)
        .hasMessageContaining("iterations");
  }

  @Test
  void otherFormsAreRefused() throws IOException {
    for (byte[] der :
        new byte[][] {
          encrypted(scrypt(16, 2, 1, 1), 15),
          encrypted(scrypt(16, 2, 1, 1, 16), 16),
          encrypted(scrypt(16, 2, 1, 1, 32, 1), 16),
          encrypted(pbkdf2(1, PKCSObjectIdentifiers.id_hmacWithSHA1), 16),
          encrypted(new KeyDerivationFunc(PKCSObjectIdentifiers.id_PBES2, DERNull.INSTANCE), 16)
        }) {
      assertThatThrownBy(() -> Pbes2.decrypt(der, PASSPHRASE))
          .isInstanceOf(Pbes2.UnsupportedException.class);
    }
    for (byte[] der :
        new byte[][] {
          {},
          {0x30, 0x00},
          {0x05, 0x00},
          {0x30, (byte) 0x84, 0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff},
          Pkcs8.encode(Algorithm.ED25519, new byte[32]),
          Arrays.copyOf(encrypted(scrypt(16, 2, 1, 1), 16), 60),
          encrypted(new KeyDerivationFunc(PKCSObjectIdentifiers.id_PBKDF2, DERNull.INSTANCE), 16)
        }) {
      assertThatThrownBy(() -> Pbes2.decrypt(der, PASSPHRASE))
          .isInstanceOf(Pbes2.MalformedException.class);
    }
    byte[] small = encrypted(scrypt(16, 2, 1, 1, 32), 16);
    assertThatThrownBy(() -> Pbes2.decrypt(small, PASSPHRASE))
        .isInstanceOf(Pbes2.WrongPassphraseException.class);
  }

  /** Cheap costs, so that every byte can be bent: only the three exceptions ever come out. */
  @Test
  void noMutantDoesAnythingElse() throws IOException {
    Random random = new Random(Refused.seed(getClass()));
    byte[] whole = encrypted(scrypt(16, 2, 1, 1), 16);
    int rounds = Integer.getInteger("writ.mutations", 20_000) / 10;
    int refused = 0;
    for (int i = 0; i < rounds; i++) {
      byte[] mutant = whole.clone();
      for (int n = random.nextInt(1, 4); n > 0; n--) {
        mutant[random.nextInt(mutant.length)] ^= (byte) (1 << random.nextInt(8));
      }
      try {
        Pbes2.decrypt(mutant, PASSPHRASE);
      } catch (Pbes2.MalformedException
          | Pbes2.UnsupportedException
          | Pbes2.WrongPassphraseException e) {
        refused++;
      }
    }
    // A bent salt, cost or ciphertext now and then leaves a right padding: noise, for KeyFiles to
    // see.
    assertThat(refused).isBetween(rounds * 9 / 10, rounds);
  }

  @Test
  void saltAndInitializationVectorAreNewForEachFile() throws IOException {
    SecureRandom random = new SecureRandom();
    byte[][] one = saltAndIv(Pbes2.encrypt(new byte[48], PASSPHRASE, random));
    byte[][] other = saltAndIv(Pbes2.encrypt(new byte[48], PASSPHRASE, random));
    for (int i = 0; i < 2; i++) {
      assertThat(one[i]).hasSize(16).isNotEqualTo(other[i]).isNotEqualTo(new byte[16]);
      assertThat(other[i]).isNotEqualTo(new byte[16]);
    }
    assertThat(one[0]).isNotEqualTo(one[1]);
  }

  private static byte[][] saltAndIv(byte[] der) {
    PBES2Parameters parameters =
        PBES2Parameters.getInstance(
            EncryptedPrivateKeyInfo.getInstance(der).getEncryptionAlgorithm().getParameters());
    ASN1Sequence cost = ASN1Sequence.getInstance(parameters.getKeyDerivationFunc().getParameters());
    return new byte[][] {
      ASN1OctetString.getInstance(cost.getObjectAt(0)).getOctets(),
      ASN1OctetString.getInstance(parameters.getEncryptionScheme().getParameters()).getOctets()
    };
  }

  /** One wrong passphrase in 256 leaves a padding that looks right; what comes out is noise. */
  @Test
  void noiseUnderARightPaddingIsAWrongPassphrase(@TempDir Path dir) throws IOException {
    byte[] noise = new byte[48];
    noise[0] = 0x17;
    byte[] der = Pbes2.encrypt(noise, PASSPHRASE, new SecureRandom());
    Path file = dir.resolve("key.pem");
    Files.write(file, new Pem(Pem.ENCRYPTED, der).toBytes());
    Refused.with(
        CanonicalizeError.KEY_FILE_PASSPHRASE, () -> KeyFiles.read(file, PASSPHRASE::clone));
  }
}
