package dev.writ.canonicalize.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link DurableFiles#update}: a file that people edit, changed by a command. */
class AnEditedFileIsReplacedAsAWholeTest {
  @TempDir private Path dir;
  private Path file;

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(dir.resolve("policy.yaml"), "old");
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void thereIsNothingElse(String... names) throws IOException {
    try (Stream<Path> all = Files.list(dir)) {
      assertThat(all).extracting(p -> p.getFileName().toString()).containsExactlyInAnyOrder(names);
    }
  }

  @Test
  void itKeepsItsModeAndItsOwner() throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    boolean root = (int) Files.getAttribute(dir, "unix:uid") == 0;
    if (root) { // whoever is not root has files of one owner only
      Files.setAttribute(file, "unix:uid", 4711);
      Files.setAttribute(file, "unix:gid", 4712);
    }

    DurableFiles.REAL.update(file, bytes("old"), bytes("new"));

    assertThat(file).hasContent("new");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-r--r--");
    if (root) {
      assertThat(Files.getAttribute(file, "unix:uid")).isEqualTo(4711);
      assertThat(Files.getAttribute(file, "unix:gid")).isEqualTo(4712);
    }
    thereIsNothingElse("policy.yaml");
  }

  @Test
  void aLinkStaysAndTheFileThatItLeadsToIsReplaced() throws IOException {
    Path link = Files.createSymbolicLink(dir.resolve("current"), Path.of("policy.yaml"));

    DurableFiles.REAL.update(link, bytes("old"), bytes("new"));

    assertThat(link).isSymbolicLink().hasContent("new");
    assertThat(file).isRegularFile().hasContent("new");
    thereIsNothingElse("policy.yaml", "current");
  }

  @Test
  void whatSomebodyWroteMeanwhileStays() throws IOException {
    Disk slow =
        new Disk() {
          @Override
          public void sync(FileChannel channel, Path synced) throws IOException {
            Files.writeString(file, "edited");
            Disk.super.sync(channel, synced);
          }
        };

    assertThatThrownBy(() -> new DurableFiles(slow).update(file, bytes("old"), bytes("new")))
        .isInstanceOf(DurableFiles.Changed.class);
    assertThat(file).hasContent("edited");
    thereIsNothingElse("policy.yaml");
  }

  @Test
  void whereItCannotBeWrittenWholeTheOldOneStays() throws IOException {
    Disk broken =
        new Disk() {
          @Override
          public void sync(FileChannel channel, Path synced) throws IOException {
            throw new SyncFailed(synced, new IOException("broken"));
          }
        };

    assertThatThrownBy(() -> new DurableFiles(broken).update(file, bytes("old"), bytes("new")))
        .isInstanceOf(Disk.SyncFailed.class);
    assertThat(file).hasContent("old");
    thereIsNothingElse("policy.yaml");
  }
}
