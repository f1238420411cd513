package dev.writ.tools.js;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a short command reads instead of making it. */
class AStoredSnapshotIsTheOneThatIsMadeTest {
  private static final Supplier<QuickJs.Snapshot> NEVER =
      () -> {
        throw new AssertionError("it is in the file");
      };

  @TempDir Path folder;

  private static void same(QuickJs.Snapshot one, QuickJs.Snapshot other) {
    assertThat(one.memory().toBytes()).isEqualTo(other.memory().toBytes());
    assertThat(one.stackPointer()).isEqualTo(other.stackPointer());
    assertThat(one.programAt()).isEqualTo(other.programAt());
    assertThat(one.programLength()).isEqualTo(other.programLength());
  }

  @Test
  void itIsMadeOnceAndReadFromThenOn() throws Exception {
    Path file = folder.resolve("prelude");
    same(StoredSnapshot.of(file, Prelude::snapshot), Prelude.snapshot());
    same(StoredSnapshot.of(file, NEVER), Prelude.snapshot());
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left).containsExactly(file);
    }
  }

  @Test
  void whatIsDamagedOrCutOffIsMadeAgain() throws Exception {
    Path file = folder.resolve("prelude");
    StoredSnapshot.of(file, Prelude::snapshot);
    byte[] whole = Files.readAllBytes(file);
    byte[] changed = whole.clone();
    changed[whole.length / 2] ^= 1;
    byte[] half = new byte[whole.length / 2];
    System.arraycopy(whole, 0, half, 0, half.length);
    for (byte[] damaged : new byte[][] {changed, half, new byte[3], new byte[0]}) {
      Files.write(file, damaged);
      same(StoredSnapshot.of(file, Prelude::snapshot), Prelude.snapshot());
      assertThat(Files.readAllBytes(file)).isEqualTo(whole);
    }
  }

  @Test
  void whereNothingCanBeWrittenItIsMadeEachTime() {
    Path file = folder.resolve("no such folder/prelude");
    same(StoredSnapshot.of(file, Prelude::snapshot), Prelude.snapshot());
    assertThat(file).doesNotExist();
  }
}
