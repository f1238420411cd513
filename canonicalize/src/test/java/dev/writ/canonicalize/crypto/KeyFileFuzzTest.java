package dev.writ.canonicalize.crypto;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A file of any bytes whatever, without a passphrase: a key that writes and reads back as itself,
 * or a refusal. What is encrypted is refused before any key is derived.
 */
class KeyFileFuzzTest {
  private static Path directory;
  private static Path file;

  @BeforeAll
  static void makeFile() throws IOException {
    directory = Files.createTempDirectory("writ-key-fuzz");
    file =
        Files.createFile(
            directory.resolve("key.pem"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  @AfterAll
  static void removeFile() throws IOException {
    Files.delete(file);
    Files.delete(directory);
  }

  static Stream<byte[]> seeds() {
    byte[] encrypted = new Pem(Pem.ENCRYPTED, new byte[] {0x30, 0}).toBytes();
    return Stream.concat(
        Algorithm.SEEDED.stream()
            .map(a ->
                new Pem(Pem.PLAIN, Pkcs8.encode(a, Digest.sha256(new byte[0]).bytes())).toBytes()),
        Stream.of(
            encrypted,
            "-----BEGIN PRIVATE KEY-----\r\n\r\n-----END PRIVATE KEY-----"
                .getBytes(StandardCharsets.US_ASCII)));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) throws IOException {
    SigningKey key;
    try {
      Files.write(file, bytes);
      key = KeyFiles.read(file, () -> null);
    } catch (WritException refused) {
      return;
    }
    byte[] der = Pem.parse(bytes).orElseThrow().der();
    if (!Arrays.equals(Pkcs8.encode(key.algorithm(), key.seed()), der)) {
      throw new AssertionError("a key that changes when it is written");
    }
  }
}
