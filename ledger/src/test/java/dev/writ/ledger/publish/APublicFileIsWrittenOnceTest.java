package dev.writ.ledger.publish;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class APublicFileIsWrittenOnceTest {
  @TempDir Path dir;

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aFileThatIsThereStaysAsItIs() throws IOException {
    PublicFolder folder = new PublicFolder(dir);
    assertThat(folder.read("1.txt")).isEmpty();
    assertThat(folder.create("1.txt", bytes("one"))).isTrue();
    assertThat(folder.create("1.txt", bytes("one"))).as("as after a restart").isTrue();
    assertThat(folder.create("1.txt", bytes("another"))).isFalse();
    assertThat(folder.read("1.txt")).hasValue(bytes("one"));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(dir.resolve("1.txt"))))
        .as("others read it")
        .isEqualTo("rw-r--r--");
    assertThat(names()).as("no draft is left").containsExactly("1.txt");
  }

  @Test
  void whoReplacesAFileHasSeenIt() throws IOException {
    PublicFolder folder = new PublicFolder(dir);
    assertThat(folder.change("latest.txt", before -> before.or(() -> Optional.of(bytes("one")))))
        .isTrue();
    assertThat(
            folder.change(
                "latest.txt",
                before -> {
                  assertThat(before).hasValue(bytes("one"));
                  return Optional.of(bytes("two"));
                }))
        .isTrue();
    assertThat(folder.change("latest.txt", _ -> Optional.empty())).isTrue();
    assertThat(folder.read("latest.txt")).hasValue(bytes("two"));
    assertThat(names()).containsExactly("latest.txt");
  }

  @Test
  void aFolderThatIsNotThereIsNotMade() {
    PublicFolder folder = new PublicFolder(dir.resolve("none"));
    assertThatThrownBy(() -> folder.create("1.txt", bytes("one"))).isInstanceOf(IOException.class);
    assertThat(dir.resolve("none")).doesNotExist();
  }
}
