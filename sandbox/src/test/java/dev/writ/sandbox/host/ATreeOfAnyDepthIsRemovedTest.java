package dev.writ.sandbox.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deeper than directories are held open, with what a program may leave in each level. */
class ATreeOfAnyDepthIsRemovedTest {
  private static final int LEVELS = 400;

  @TempDir Path dir;

  private Path deep() throws IOException {
    Path outside = Files.writeString(dir.resolve("outside"), "stays");
    Path top = Files.createDirectories(dir.resolve("top"));
    Path level = top;
    for (int i = 0; i < LEVELS; i++) {
      level = Files.createDirectory(level.resolve("d"));
      Files.writeString(level.resolve("file"), "x");
      Files.createSymbolicLink(level.resolve("link"), outside);
      Files.createDirectory(level.resolve("second"));
      Files.writeString(level.resolve("second/file"), "x");
    }
    for (Path each = level; !each.equals(top); each = each.getParent()) {
      Files.setPosixFilePermissions(each, PosixFilePermissions.fromString("r--------"));
    }
    return top;
  }

  @Test
  void nothingOfItIsLeftAndNothingElseIsTouched() throws IOException {
    Path top = deep();
    Trees.clear(top);
    assertThat(top).isEmptyDirectory();
    assertThat(dir.resolve("outside")).hasContent("stays");
    Trees.remove(deep());
    assertThat(top).doesNotExist();
  }
}
