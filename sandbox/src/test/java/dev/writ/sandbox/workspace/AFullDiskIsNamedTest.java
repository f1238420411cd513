package dev.writ.sandbox.workspace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class AFullDiskIsNamedTest {
  @Test
  void byWhatTheSystemSaysOfIt() {
    IOException full =
        catchThrowableOfType(
            IOException.class, () -> Files.write(Path.of("/dev/full"), new byte[] {1}));
    assertThat(FullDisk.is(full)).isTrue();
    assertThat(FullDisk.is(new WritException(SandboxError.HOST, "copying", full))).isTrue();
    assertThat(FullDisk.is(new IOException("Permission denied"))).isFalse();
    assertThat(FullDisk.is(new IOException())).isFalse();
    assertThat(FullDisk.is(new WritException(SandboxError.HOST, "copying"))).isFalse();
  }
}
