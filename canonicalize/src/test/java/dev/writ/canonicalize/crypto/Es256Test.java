package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.json.JsonValue;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The rule of spec/signatures.md, "ES256", beside the RFC, the JDK and openssl. */
class Es256Test {
  private static final BigInteger ORDER =
      new BigInteger("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551", 16);

  @TempDir Path dir;

  private final SecureRandom random = new SecureRandom();
  private final SigningKey key = SigningKey.generateEs256(random);
  private final byte[] message = "message".getBytes(StandardCharsets.UTF_8);

  private static byte[] hex(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  /** RFC 6979, A.2.5: P-256 with SHA-256. The s of "sample" is the higher of two there. */
  @Test
  void signsAsRfc6979Says_withTheLowerS() {
    SigningKey rfc =
        SigningKey.es256(hex("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"));
    assertThat(HexFormat.of().formatHex(rfc.verifyingKey().bytes()))
        .isEqualTo(
            "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
                + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299");
    byte[] sample = "sample".getBytes(StandardCharsets.UTF_8);
    String high = "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";
    String low = HexFormat.of().formatHex(ORDER.subtract(new BigInteger(high, 16)).toByteArray());
    String r = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716";
    assertThat(rfc.sign(sample)).isEqualTo(hex(r + low));
    rfc.verifyingKey().verify(sample, hex(r + low));
    Refused.with(
        CanonicalizeError.SIGNATURE_INVALID,
        () -> rfc.verifyingKey().verify(sample, hex(r + high)));
    assertThat(rfc.sign("test".getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(
            hex(
                "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
                    + "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"));
  }

  @Test
  void theJdkAcceptsOurs_andWeTheJdksWithTheLowerS() throws Exception {
    byte[] signature = key.sign(message);
    assertThat(signature).hasSize(64).isEqualTo(key.sign(message));
    Signature jdk = Signature.getInstance("SHA256withECDSAinP1363Format");
    jdk.initVerify(
        KeyFactory.getInstance("EC")
            .generatePublic(
                new X509EncodedKeySpec(Pkcs8.subjectPublicKeyInfo(key.verifyingKey()))));
    jdk.update(message);
    assertThat(jdk.verify(signature)).isTrue();

    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    KeyPair pair = generator.generateKeyPair();
    VerifyingKey theirs =
        VerifyingKey.ofSubjectPublicKeyInfo(pair.getPublic().getEncoded()).orElseThrow();
    int high = 0;
    for (int i = 0; i < 64; i++) {
      jdk.initSign(pair.getPrivate());
      jdk.update(message);
      byte[] given = jdk.sign();
      byte[] lower = P256.withLowerS(given);
      theirs.verify(message, lower);
      if (!Arrays.equals(given, lower)) {
        high++;
        Refused.with(CanonicalizeError.SIGNATURE_INVALID, () -> theirs.verify(message, given));
      }
    }
    assertThat(high).as("of 64 signatures by the JDK, with a high s").isBetween(1, 63);
  }

  @Test
  void fromASignerOutsideEitherSIsTaken_andNothingThatDoesNotVerify() {
    byte[] right = key.sign(message);
    BigInteger s = new BigInteger(1, Arrays.copyOfRange(right, 32, 64));
    byte[] high = right.clone();
    byte[] other = ORDER.subtract(s).toByteArray();
    System.arraycopy(other, other.length - 32, high, 32, 32);
    for (byte[] given : List.of(right, high)) {
      assertThat(SigningKey.outside(key.verifyingKey(), _ -> given).sign(message)).isEqualTo(right);
    }
    byte[] bent = right.clone();
    bent[0] ^= 1;
    byte[] ones = new byte[64];
    Arrays.fill(ones, (byte) 0xff);
    for (byte[] wrong : List.of(bent, ones, new byte[64], new byte[0], new byte[72])) {
      Refused.with(
          CanonicalizeError.SIGNER_WRONG,
          () -> SigningKey.outside(key.verifyingKey(), _ -> wrong).sign(message));
    }
  }

  @Test
  void whatIsNoSecretOrNoPointIsRefused() {
    byte[] order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    for (byte[] wrong : List.of(new byte[32], order, new byte[31])) {
      Refused.with(CanonicalizeError.KEY_MALFORMED, () -> SigningKey.es256(wrong));
    }
    byte[] point = key.verifyingKey().bytes();
    assertThat(VerifyingKey.es256(point)).isEqualTo(key.verifyingKey());
    byte[] hybrid = point.clone();
    hybrid[0] = 6;
    byte[] off = point.clone();
    off[64] ^= 1;
    byte[] compressed = Arrays.copyOf(point, 33);
    compressed[0] = (byte) (2 + (point[64] & 1));
    for (byte[] wrong : List.of(hybrid, off, compressed, new byte[1], new byte[65])) {
      Refused.with(CanonicalizeError.KEY_MALFORMED, () -> VerifyingKey.es256(wrong));
    }
  }

  private static String openssl(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isZero();
    return said;
  }

  @Test
  void opensslReadsOurFiles_andWeItsOwn() throws Exception {
    Path ours = dir.resolve("ours.pem");
    KeyFiles.write(ours, key, null, random);
    Path half = dir.resolve("half.pem");
    KeyFiles.writePublicHalf(half, key.verifyingKey());
    assertThat(openssl("openssl", "pkey", "-in", ours.toString(), "-pubout"))
        .isEqualTo(Files.readString(half));
    assertThat(KeyFiles.publicHalf(half)).contains(key.verifyingKey());

    Path theirs = dir.resolve("theirs.pem");
    openssl(
        "openssl",
        "genpkey",
        "-algorithm",
        "EC",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-out",
        theirs.toString());
    Files.setPosixFilePermissions(theirs, PosixFilePermissions.fromString("rw-------"));
    SigningKey read = KeyFiles.read(theirs, () -> null);
    read.verifyingKey().verify(message, read.sign(message));

    // The same file with another key's point: whose key it is would depend on who reads it.
    byte[] der = Pem.parse(Files.readAllBytes(theirs)).orElseThrow().der();
    System.arraycopy(key.verifyingKey().bytes(), 0, der, der.length - P256.POINT, P256.POINT);
    Files.write(theirs, new Pem(Pem.PLAIN, der).toBytes());
    Refused.with(CanonicalizeError.KEY_FILE_ALGORITHM, () -> KeyFiles.read(theirs, () -> null));
  }

  /** With the block of the curve before it, without, and encrypted. */
  @Test
  void aKeyInSec1FormIsToldHowToConvertIt() throws Exception {
    Path old = dir.resolve("old.pem");
    Path made = dir.resolve("made.pem");
    String file = old.toString();
    String[] generate = {"openssl", "ecparam", "-name", "prime256v1", "-genkey", "-out", file};
    requireSec1(old, generate);
    openssl("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", file, "-out", made.toString());
    Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-------"));
    SigningKey read = KeyFiles.read(made, () -> null);
    read.verifyingKey().verify(message, read.sign(message));

    String encrypted = "-aes256 -passout pass:p";
    requireSec1(old, ("openssl ec -in " + made + " -out " + file).split(" "));
    requireSec1(old, ("openssl ec -in " + made + " -out " + file + " " + encrypted).split(" "));
  }

  private static void requireSec1(Path file, String... command) throws Exception {
    openssl(command);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    assertThat(
            Refused.with(
                CanonicalizeError.KEY_FILE_MALFORMED, () -> KeyFiles.read(file, () -> null)))
        .hasMessageContaining("SEC1")
        .hasMessageContaining("openssl pkcs8 -topk8 -nocrypt -in OLD -out NEW");
  }

  @Test
  void aPasskeyAndAnEs256KeyOfOnePointAreTwoKeysOfOneId() {
    var jwk = JsonValue.object();
    key.verifyingKey().toJwk().members().forEach(jwk::put);
    VerifyingKey passkey = VerifyingKey.fromJwk(jwk.put("writ_rp_id", "localhost").build());
    assertThat(passkey.algorithm()).isEqualTo(Algorithm.WEBAUTHN);
    assertThat(passkey.kid()).isEqualTo(key.kid());
    assertThat(passkey).isNotEqualTo(key.verifyingKey());
  }
}
