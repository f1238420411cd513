package dev.writ.tools.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Secrets are files that nobody else can read; whatever else stands there is refused by code. */
class SecretsAreTheirOwnersAloneTest {
  private static final byte[] VALUE = "correct horse".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path home;

  private SecretDirectory secrets() {
    return new SecretDirectory(home.resolve("secrets"));
  }

  private static AbstractThrowableAssert<?, ?> refused(ToolsError code, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(WritException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  @Test
  void whatIsPutIsReadListedAndRemoved() throws IOException {
    assertThat(secrets().list()).isEmpty();
    secrets().put("token", VALUE);
    secrets().put("a.b-c_D", VALUE);
    assertThat(secrets().list()).containsExactly("a.b-c_D", "token");
    assertThat(secrets().read("token")).isEqualTo(VALUE);
    secrets().put("token", "another value".getBytes(StandardCharsets.UTF_8));
    assertThat(secrets().read("token")).asString().isEqualTo("another value");
    Path file = home.resolve("secrets/token");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
        .isEqualTo("rwx------");
    secrets().remove("token");
    assertThat(secrets().list()).containsExactly("a.b-c_D");
    refused(ToolsError.SECRET_UNKNOWN, () -> secrets().read("token"));
    refused(ToolsError.SECRET_UNKNOWN, () -> secrets().remove("token"));
    try (var left = Files.list(home.resolve("secrets"))) {
      assertThat(left).hasSize(1);
    }
  }

  /** Two people put the same secret: it is one's or the other's, and neither is told otherwise. */
  @Test
  void whoeverPutsItAtTheSameTimeItIsWhole() throws Exception {
    byte[] longer = new byte[SecretDirectory.BYTES_MAX];
    Arrays.fill(longer, (byte) 'x');
    try (ExecutorService people = Executors.newFixedThreadPool(2)) {
      List<Future<?>> puts = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        byte[] own = i % 2 == 0 ? VALUE : longer;
        puts.add(people.submit(() -> secrets().put("token", own)));
      }
      for (Future<?> put : puts) {
        assertThat(put.get()).isNull();
        assertThat(secrets().read("token")).isIn(VALUE, longer);
      }
    }
    try (Stream<Path> files = Files.list(home.resolve("secrets"))) {
      assertThat(files).containsExactly(home.resolve("secrets/token"));
    }
  }

  @Test
  void nothingOfItIsLeftWhereItCannotBePut() throws IOException {
    secrets().put("token", VALUE);
    Files.createDirectory(home.resolve("secrets/taken"));
    refused(ToolsError.SECRET_IO, () -> secrets().put("taken", VALUE));
    assertThat(home.resolve("secrets")).isDirectoryNotContaining("glob:**.new");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "../x", "a/b", ".x", "-x", "a b", "a\n", "é", "a\u0000"})
  void aNameIsPlain(String name) {
    refused(ToolsError.SECRET_NAME, () -> secrets().put(name, VALUE));
    refused(ToolsError.SECRET_NAME, () -> secrets().read(name));
    refused(ToolsError.SECRET_NAME, () -> secrets().remove(name));
    assertThat(home.resolve("secrets")).doesNotExist();
  }

  @Test
  void aSecretIsLongEnoughToBeMasked() {
    refused(ToolsError.SECRET_SIZE, () -> secrets().put("x", new byte[7]))
        .hasMessageContaining("7 bytes");
    refused(
        ToolsError.SECRET_SIZE, () -> secrets().put("x", new byte[SecretDirectory.BYTES_MAX + 1]));
    secrets().put("x", new byte[8]);
    secrets().put("y", new byte[SecretDirectory.BYTES_MAX]);
    assertThat(secrets().read("y")).hasSize(SecretDirectory.BYTES_MAX);
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-r-----", "rw----r--", "rw--w----", "rwx--x---"})
  void aFileThatIsOpenToOthersIsRefused(String mode) throws IOException {
    secrets().put("token", VALUE);
    Path file = home.resolve("secrets/token");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    refused(ToolsError.SECRET_EXPOSED, () -> secrets().read("token"))
        .hasMessageNotContaining("horse");
  }

  @Test
  void aDirectoryThatIsOpenToOthersIsRefused() throws IOException {
    secrets().put("token", VALUE);
    Files.setPosixFilePermissions(
        home.resolve("secrets"), PosixFilePermissions.fromString("rwxr-x---"));
    refused(ToolsError.SECRET_EXPOSED, () -> secrets().read("token"));
    refused(ToolsError.SECRET_EXPOSED, () -> secrets().put("other", VALUE));
    refused(ToolsError.SECRET_EXPOSED, () -> secrets().list());
  }

  @Test
  void linksAndWhatIsNoFileAreRefused() throws IOException {
    secrets().put("token", VALUE);
    Path directory = home.resolve("secrets");
    Files.createSymbolicLink(directory.resolve("link"), directory.resolve("token"));
    refused(ToolsError.SECRET_EXPOSED, () -> secrets().read("link"));
    Files.createDirectory(directory.resolve("folder"));
    refused(ToolsError.SECRET_EXPOSED, () -> secrets().read("folder"));
    Path other = home.resolve("other");
    Files.createSymbolicLink(other, directory);
    refused(ToolsError.SECRET_EXPOSED, () -> new SecretDirectory(other).read("token"));
    refused(ToolsError.SECRET_EXPOSED, () -> new SecretDirectory(other).put("token", VALUE));
  }

  @Test
  void whatCannotBeWrittenSaysSo() throws IOException {
    Path file = Files.createFile(home.resolve("file"));
    SecretDirectory nowhere = new SecretDirectory(file.resolve("secrets"));
    refused(ToolsError.SECRET_IO, () -> nowhere.put("token", VALUE));
    assertThatThrownBy(() -> nowhere.put("token", VALUE))
        .hasMessageContaining(file + ": something else is there")
        .hasMessageNotContaining("Exception");
    assertThat(List.of(ToolsError.values()))
        .extracting(ToolsError::code)
        .contains("TOL-040", "TOL-041", "TOL-042", "TOL-043", "TOL-044");
  }
}
