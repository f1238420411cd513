package dev.writ.canonicalize.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyFilesTest {
  private static final char[] PASSPHRASE = "Öffne dich \uD83D\uDD11".toCharArray();
  private static final int MUTANTS = Integer.getInteger("writ.rounds", 100);
  private static final Supplier<char[]> NOT_ASKED = () -> fail("asked for a passphrase");

  @TempDir Path dir;

  private final SecureRandom random = new SecureRandom();
  private final SigningKey key = SigningKey.generateEd25519(random);

  private Path file(String name) {
    return dir.resolve(name);
  }

  private Path written(char[] passphrase) {
    Path path = file("key.pem");
    KeyFiles.write(path, key, passphrase, random);
    return path;
  }

  private static void mode(Path path, String mode) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
  }

  private Path plainText(String text) throws IOException {
    Path path = file("text.pem");
    Files.writeString(path, text);
    mode(path, "rw-------");
    return path;
  }

  private void assertSame(SigningKey read, SigningKey key) {
    assertThat(read.verifyingKey()).isEqualTo(key.verifyingKey());
    assertThat(read.sign(new byte[9])).isEqualTo(key.sign(new byte[9]));
  }

  @ParameterizedTest
  @EnumSource(
      value = Algorithm.class,
      names = {"ED25519", "ES256", "ML_DSA_65"}) // passkeys are in no file
  void readsWhatItWrote(Algorithm algorithm) {
    SigningKey made = SigningKey.generate(algorithm, random);
    KeyFiles.write(file("plain"), made, null, random);
    KeyFiles.write(file("encrypted"), made, PASSPHRASE, random);
    assertSame(KeyFiles.read(file("plain"), NOT_ASKED), made);
    assertSame(KeyFiles.read(file("encrypted"), () -> PASSPHRASE.clone()), made);
  }

  @Test
  void theFileIsTheOwnersAloneFromTheStartAndNothingElseIsLeft() throws IOException {
    for (char[] passphrase : new char[][] {null, PASSPHRASE}) {
      Path path = file(passphrase == null ? "a" : "b");
      KeyFiles.write(path, key, passphrase, random);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rw-------");
      assertThat(Files.getAttribute(path, "unix:nlink")).isEqualTo(1);
    }
    try (Stream<Path> files = Files.list(dir)) {
      assertThat(files.map(p -> p.getFileName().toString())).containsExactlyInAnyOrder("a", "b");
    }
  }

  @Test
  void theEncryptedFileHoldsNoSecretAndIsNeverTheSameTwice() throws IOException {
    Path path = written(PASSPHRASE);
    byte[] der = Pem.parse(Files.readAllBytes(path)).orElseThrow().der();
    assertThat(hex(der)).doesNotContain(hex(key.seed()));
    KeyFiles.write(file("again"), key, PASSPHRASE, random);
    assertThat(Files.readAllBytes(file("again"))).isNotEqualTo(Files.readAllBytes(path));
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @Test
  void nothingIsOverwritten() throws IOException {
    Path path = written(null);
    byte[] before = Files.readAllBytes(path);
    SigningKey other = SigningKey.generateEd25519(random);
    Refused.with(
        CanonicalizeError.KEY_FILE_EXISTS, () -> KeyFiles.write(path, other, null, random));
    assertThat(Files.readAllBytes(path)).isEqualTo(before);

    Path dangling = file("dangling");
    Files.createSymbolicLink(dangling, file("nowhere"));
    Refused.with(
        CanonicalizeError.KEY_FILE_EXISTS, () -> KeyFiles.write(dangling, key, null, random));
    assertThat(file("nowhere")).doesNotExist();
  }

  @Test
  void ofManyWritersOneWins() throws Exception {
    Path path = file("raced");
    List<Callable<SigningKey>> writers =
        Stream.generate(() -> SigningKey.generateEd25519(random))
            .limit(8)
            .<Callable<SigningKey>>map(made ->
                () -> {
                  try {
                    KeyFiles.write(path, made, null, random);
                    return made;
                  } catch (WritException e) {
                    return null;
                  }
                })
            .toList();
    try (var threads = Executors.newFixedThreadPool(8)) {
      List<SigningKey> winners =
          threads.invokeAll(writers).stream()
              .map(Future::resultNow)
              .filter(k -> k != null)
              .toList();
      assertThat(winners).hasSize(1);
      assertSame(KeyFiles.read(path, NOT_ASKED), winners.getFirst());
    }
  }

  @Test
  void whatACrashLeftIsNoObstacle() throws IOException {
    Files.writeString(file(".key.pem.123.new"), "half a ke");
    assertSame(KeyFiles.read(written(null), NOT_ASKED), key);
  }

  @Test
  void aDirectoryThatIsNotThereIsSaid() {
    Refused.with(
        CanonicalizeError.KEY_FILE,
        () -> KeyFiles.write(file("no/such/key"), key, PASSPHRASE, random));
  }

  @Test
  void aWrongPassphraseIsSaid() {
    Path path = written(PASSPHRASE);
    for (String wrong : List.of("Öffne dich", "öffne dich \uD83D\uDD11")) {
      Refused.with(
          CanonicalizeError.KEY_FILE_PASSPHRASE, () -> KeyFiles.read(path, wrong::toCharArray));
    }
    Refused.with(
        CanonicalizeError.KEY_FILE_PASSPHRASE_MISSING, () -> KeyFiles.read(path, () -> null));
    Refused.with(
        CanonicalizeError.KEY_FILE_PASSPHRASE_MISSING,
        () -> KeyFiles.read(path, () -> new char[0]));
    Refused.with(
        CanonicalizeError.KEY_FILE_PASSPHRASE_MISSING,
        () -> KeyFiles.write(file("empty"), key, new char[0], random));
    assertThat(file("empty")).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw-r--r--", "rw-----w-", "r--------", "rwx------"})
  void aPlainKeyIsTheOwnersAlone(String mode) throws IOException {
    Path path = written(null);
    mode(path, mode);
    if (mode.endsWith("------")) {
      assertSame(KeyFiles.read(path, NOT_ASKED), key);
    } else {
      WritException refusal =
          Refused.with(CanonicalizeError.KEY_FILE_EXPOSED, () -> KeyFiles.read(path, NOT_ASKED));
      assertThat(refusal).hasMessageContaining(mode).hasMessageContaining("chmod 600");
    }
  }

  @Test
  void anEncryptedKeyMayBeSeen() throws IOException {
    Path path = written(PASSPHRASE);
    mode(path, "rw-r--r--");
    assertSame(KeyFiles.read(path, () -> PASSPHRASE), key);
  }

  @Test
  void onlyARegularFileIsRead() throws IOException {
    Path path = written(null);
    Path link = Files.createSymbolicLink(file("link"), path);
    CanonicalizeError kind = CanonicalizeError.KEY_FILE_KIND;
    Refused.with(kind, () -> KeyFiles.read(link, NOT_ASKED));
    Refused.with(kind, () -> KeyFiles.read(dir, NOT_ASKED));
    Files.createSymbolicLink(file("dangling"), file("nowhere"));
    Refused.with(kind, () -> KeyFiles.read(file("dangling"), NOT_ASKED));
    Refused.with(kind, () -> KeyFiles.read(Path.of("/dev/zero"), NOT_ASKED));
    Refused.with(
        CanonicalizeError.KEY_FILE_MISSING, () -> KeyFiles.read(file("nowhere"), NOT_ASKED));
  }

  @Test
  void aFileTooLargeForAKeyIsNotRead() throws IOException {
    Path path = plainText("x".repeat(70_000));
    Refused.with(CanonicalizeError.KEY_FILE_MALFORMED, () -> KeyFiles.read(path, NOT_ASKED));
  }

  @Test
  void noTruncatedFileIsRead() throws IOException {
    for (char[] passphrase : new char[][] {null, PASSPHRASE}) {
      Path path = file(passphrase == null ? "plain" : "encrypted");
      KeyFiles.write(path, key, passphrase, random);
      byte[] whole = Files.readAllBytes(path);
      // The last byte is a line feed, which may be absent.
      for (int length = 0; length < whole.length - 1; length++) {
        Files.write(path, Arrays.copyOf(whole, length));
        Refused.with(
            CanonicalizeError.KEY_FILE_MALFORMED, () -> KeyFiles.read(path, () -> PASSPHRASE));
      }
    }
  }

  @Test
  void derCutOffInsideItsBlockIsRefused() throws IOException {
    byte[] der = Pkcs8.encode(Algorithm.ED25519, key.seed());
    for (int length = 0; length < der.length; length++) {
      Path path = plainText(pem("PRIVATE KEY", Arrays.copyOf(der, length)));
      WritException refusal =
          org.assertj.core.api.Assertions.catchThrowableOfType(
              WritException.class, () -> KeyFiles.read(path, NOT_ASKED));
      assertThat(refusal.code())
          .isIn(CanonicalizeError.KEY_FILE_MALFORMED, CanonicalizeError.KEY_FILE_ALGORITHM);
    }
  }

  private static String pem(String label, byte[] der) {
    return new String(new Pem(label, der).toBytes(), StandardCharsets.US_ASCII);
  }

  @Test
  void otherAlgorithmsAndOtherTextsAreNamed() throws Exception {
    for (String algorithm : List.of("EC", "X25519", "RSA", "Ed448", "ML-DSA-65")) {
      var generator = java.security.KeyPairGenerator.getInstance(algorithm);
      if (algorithm.equals("RSA")) {
        generator.initialize(1024); // only its name is read
      }
      byte[] der = generator.generateKeyPair().getPrivate().getEncoded();
      Path path = plainText(pem("PRIVATE KEY", der));
      if (Pkcs8.decode(der).isEmpty()) {
        Refused.with(CanonicalizeError.KEY_FILE_ALGORITHM, () -> KeyFiles.read(path, NOT_ASKED));
      } else {
        // A JDK that writes ML-DSA keys as seeds writes them as we do.
        assertThat(KeyFiles.read(path, NOT_ASKED).algorithm()).isEqualTo(Algorithm.ML_DSA_65);
      }
    }
    byte[] der = Pkcs8.encode(Algorithm.ED25519, key.seed());
    String good = pem("PRIVATE KEY", der);
    for (String text :
        List.of(
            "",
            "hello",
            Base64.getEncoder().encodeToString(der),
            pem("PUBLIC KEY", der),
            pem("OPENSSH PRIVATE KEY", der),
            good + good,
            "Bag Attributes\n" + good,
            good.replace("END PRIVATE KEY", "END PUBLIC KEY"),
            good.replace("M", "*"),
            pem("PRIVATE KEY", new byte[0]),
            pem("PRIVATE KEY", new byte[48]))) {
      Path path = plainText(text);
      Refused.with(CanonicalizeError.KEY_FILE_MALFORMED, () -> KeyFiles.read(path, NOT_ASKED));
    }
    assertSame(KeyFiles.read(plainText(good.replace("\n", "\r\n")), NOT_ASKED), key);
    assertSame(KeyFiles.read(plainText(good.strip()), NOT_ASKED), key);
  }

  /** A file may not ask for more work than a bound before its passphrase can be tried. */
  @Test
  void noMutatedFileDoesAnythingButBeRefused() throws IOException {
    byte[] der = Pem.parse(Files.readAllBytes(written(PASSPHRASE))).orElseThrow().der();
    Random mutations = new Random(Refused.seed(getClass()));
    int cut = der.length - 48;
    for (int i = 0; i < MUTANTS; i++) {
      byte[] mutant = der.clone();
      // Only the ASN.1 around the ciphertext, and only what changes it: the rest needs scrypt.
      for (int n = mutations.nextInt(1, 4); n > 0; n--) {
        mutant[mutations.nextInt(Math.min(cut, 24))] = (byte) mutations.nextInt(256);
      }
      if (Arrays.equals(mutant, der)) {
        continue;
      }
      Path path = plainText(pem("ENCRYPTED PRIVATE KEY", mutant));
      WritException refusal =
          org.assertj.core.api.Assertions.catchThrowableOfType(
              WritException.class, () -> KeyFiles.read(path, () -> PASSPHRASE));
      assertThat(refusal).isNotNull();
      assertThat(refusal.code())
          .isIn(
              CanonicalizeError.KEY_FILE_MALFORMED,
              CanonicalizeError.KEY_FILE_ALGORITHM,
              CanonicalizeError.KEY_FILE_PASSPHRASE);
    }
  }

  /** A zip file system has neither permissions nor hard links. */
  @Test
  void whereThereAreNoPermissionsOnlyAnEncryptedKeyIsWritten() throws IOException {
    Path copy = file("copy.pem");
    var create = Map.of("create", "true");
    try (var zip = FileSystems.newFileSystem(file("fs.zip"), create)) {
      Path path = zip.getPath("/key.pem");
      WritException refusal =
          Refused.with(
              CanonicalizeError.KEY_FILE_EXPOSED, () -> KeyFiles.write(path, key, null, random));
      assertThat(refusal).hasMessageContaining("no POSIX permissions");
      assertThat(path).doesNotExist();
      KeyFiles.write(path, key, PASSPHRASE, random);
      Refused.with(
          CanonicalizeError.KEY_FILE_EXISTS, () -> KeyFiles.write(path, key, PASSPHRASE, random));
      try (Stream<Path> files = Files.list(zip.getPath("/"))) {
        assertThat(files).containsExactly(path);
      }
      Files.copy(path, copy);
    }
    assertSame(KeyFiles.read(copy, () -> PASSPHRASE), key);
  }

  private static int openssl(Path directory, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .directory(directory.toFile())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .waitFor();
  }

  private static boolean hasOpenssl() {
    try {
      return new ProcessBuilder("openssl", "version").start().waitFor() == 0;
    } catch (IOException | InterruptedException e) {
      return false;
    }
  }

  @Test
  void opensslReadsOurs() throws Exception {
    assumeTrue(hasOpenssl() || System.getenv("CI") != null, "no openssl here");
    written(null);
    KeyFiles.write(file("encrypted.pem"), key, "secret".toCharArray(), random);
    for (String name : List.of("key.pem", "encrypted.pem")) {
      assertThat(
              openssl(
                  dir,
                  "pkey",
                  "-in",
                  name,
                  "-passin",
                  "pass:secret",
                  "-pubout",
                  "-outform",
                  "DER",
                  "-out",
                  name + ".pub"))
          .as(name)
          .isZero();
      assertThat(Files.readAllBytes(file(name + ".pub")))
          .isEqualTo(Pkcs8.ed25519SubjectPublicKeyInfo(key.verifyingKey().bytes()));
    }
    assertThat(openssl(dir, "pkey", "-in", "encrypted.pem", "-passin", "pass:wrong", "-noout"))
        .isNotZero();
  }

  @Test
  void weReadOpenssls() throws Exception {
    assumeTrue(hasOpenssl() || System.getenv("CI") != null, "no openssl here");
    Supplier<char[]> secret = "secret"::toCharArray;
    assertThat(openssl(dir, "genpkey", "-algorithm", "ed25519", "-out", "plain.pem")).isZero();
    mode(file("plain.pem"), "rw-------");
    SigningKey plain = KeyFiles.read(file("plain.pem"), NOT_ASKED);
    for (String[] cipher :
        new String[][] {
          {"-v2", "aes-256-cbc"}, {"-v2", "aes-256-cbc", "-iter", "50000"}, {"-scrypt"}
        }) {
      List<String> command =
          new ArrayList<>(List.of("pkcs8", "-topk8", "-in", "plain.pem", "-out", "enc.pem"));
      command.addAll(List.of("-passout", "pass:secret"));
      command.addAll(List.of(cipher));
      assertThat(openssl(dir, command.toArray(String[]::new))).isZero();
      assertSame(KeyFiles.read(file("enc.pem"), secret), plain);
      Refused.with(
          CanonicalizeError.KEY_FILE_PASSPHRASE,
          () -> KeyFiles.read(file("enc.pem"), "other"::toCharArray));
    }
    for (String[] weak :
        new String[][] {{"-v2", "des3"}, {"-v2", "aes-128-cbc"}, {"-v2prf", "hmacWithSHA1"}}) {
      List<String> command =
          new ArrayList<>(List.of("pkcs8", "-topk8", "-in", "plain.pem", "-out", "weak.pem"));
      command.addAll(List.of("-passout", "pass:secret"));
      command.addAll(List.of(weak));
      assertThat(openssl(dir, command.toArray(String[]::new))).isZero();
      Refused.with(
          CanonicalizeError.KEY_FILE_ALGORITHM, () -> KeyFiles.read(file("weak.pem"), secret));
    }
  }

  @Test
  void aFileOfThePublicHalfSaysWhichKeyAndIsNoPrivateOne() throws IOException {
    Path path = file("elsewhere.pem");
    KeyFiles.writePublicHalf(path, key.verifyingKey());
    assertThat(Files.readString(path)).startsWith("-----BEGIN PUBLIC KEY-----");
    assertThat(KeyFiles.publicHalf(path)).contains(key.verifyingKey());
    assertThatThrownBy(() -> KeyFiles.read(path, NOT_ASKED)).hasMessageContaining("CAN-074");
    assertThatThrownBy(() -> KeyFiles.writePublicHalf(path, key.verifyingKey()))
        .hasMessageContaining("CAN-071");
    assertThat(KeyFiles.publicHalf(written(null))).isEmpty();
    // Of P-384: another curve.
    Path other =
        plainText(
            "-----BEGIN PUBLIC KEY-----\n"
                + "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEqofKIr6LBTeOscce8yCtdG4dO2KLp5uY\n"
                + "WfdB4IJUKjhVAvJdv1UpbDpUXjhydgq3NhfeSpYmLG9dnpi/kpLcKfj0Hb0omhR8\n"
                + "6doxE7XwuMAKYLHOHX6BnXpDHXyQ6g5f\n"
                + "-----END PUBLIC KEY-----\n");
    assertThatThrownBy(() -> KeyFiles.publicHalf(other)).hasMessageContaining("CAN-075");
    assertThatThrownBy(() -> KeyFiles.publicHalf(file("nothing"))).hasMessageContaining("CAN-070");
  }

  @Test
  void ofASignerOutsideOnlyItsKeysOwnSignatureOfTheMessageIsTaken() {
    byte[] message = {1, 2, 3};
    byte[] right = key.sign(message);
    assertThat(SigningKey.outside(key.verifyingKey(), key::sign).sign(message)).isEqualTo(right);
    SigningKey other = SigningKey.generateEd25519(random);
    byte[] damaged = right.clone();
    damaged[63] ^= 1;
    for (byte[] wrong : List.of(other.sign(message), key.sign(new byte[1]), damaged, new byte[0])) {
      assertThatThrownBy(() -> SigningKey.outside(key.verifyingKey(), _ -> wrong).sign(message))
          .hasMessageContaining("CAN-078");
    }
    assertThatThrownBy(
            () -> SigningKey.outside(SigningKey.generateMlDsa65(random).verifyingKey(), key::sign))
        .hasMessageContaining("CAN-050");
  }
}
