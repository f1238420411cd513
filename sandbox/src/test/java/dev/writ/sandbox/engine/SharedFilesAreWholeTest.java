package dev.writ.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that tools bring are there whole, under a name that is theirs alone. */
class SharedFilesAreWholeTest {
  @TempDir Path root;

  private static TreeMap<String, byte[]> files(String... pairs) {
    TreeMap<String, byte[]> files = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      files.put(pairs[i], pairs[i + 1].getBytes(StandardCharsets.UTF_8));
    }
    return files;
  }

  @Test
  void equalFilesAreOneDirectoryAndOthersAnother() throws Exception {
    Path first = new SharedFiles(root).of(files("a/b/c", "1", "d", "2"));
    assertThat(first.resolve("a/b/c")).hasContent("1");
    assertThat(first.resolve("d")).hasContent("2");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(first.resolve("a/b"))))
        .isEqualTo("rwxr-xr-x");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(first.resolve("d"))))
        .isEqualTo("rw-r--r--");
    SharedFiles again = new SharedFiles(root);
    assertThat(again.of(files("a/b/c", "1", "d", "2"))).isEqualTo(first);
    assertThat(again.of(files("a/b/c", "1", "d", "3"))).isNotEqualTo(first);
    assertThat(again.of(files("a/b/c", "1", "e", "2"))).isNotEqualTo(first);
    assertThat(root.toFile().list()).hasSize(3);
  }

  @Test
  void whatAKilledProcessLeftHalfMadeIsMadeAnew() throws Exception {
    Path whole = new SharedFiles(root).of(files("a", "1"));
    Path half = whole.resolveSibling(whole.getFileName() + ".new");
    Files.move(whole, half);
    Files.writeString(half.resolve("a"), "half");
    Files.writeString(half.resolve("more"), "x");
    assertThat(new SharedFiles(root).of(files("a", "1"))).isEqualTo(whole);
    assertThat(whole.resolve("a")).hasContent("1");
    assertThat(whole.toFile().list()).containsExactly("a");
    assertThat(half).doesNotExist();
  }

  @Test
  void namesThatLeadOutAreAMistakeOfOurs() throws IOException {
    Path inner = Files.createDirectory(root.resolve("inner"));
    for (String name : List.of("../x", "/etc/x", "a/../../x", ".")) {
      assertThatThrownBy(() -> new SharedFiles(inner).of(files(name, "1")))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(root.resolve("x")).doesNotExist();
  }
}
