package dev.writ.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The libraries of a runtime are gathered, and stay those of the host. */
class ManyFilesOfADirectoryAreOneMountTest {
  private static final String PLACE = "/usr/lib/here";

  @TempDir Path dir;
  private Path host;
  private GatheredFiles gathered;

  @BeforeEach
  void make() throws IOException {
    host = Files.createDirectory(dir.resolve("host"));
    gathered = new GatheredFiles(Files.createDirectory(dir.resolve("gathered")));
  }

  private List<Mounted> files(int count) throws IOException {
    List<Mounted> files = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Path file = host.resolve("lib" + i + ".so.1.0");
      if (!Files.exists(file)) {
        Files.writeString(file, "library " + i);
      }
      files.add(new Mounted.ReadOnly(file, PLACE + "/lib" + i + ".so"));
    }
    return files;
  }

  private static Path only(List<Mounted> mounts) {
    assertThat(mounts).hasSize(1);
    Mounted.ReadOnly one = (Mounted.ReadOnly) mounts.getFirst();
    assertThat(one.target()).isEqualTo(PLACE);
    return one.source();
  }

  @Test
  void they_are_there_by_their_names_and_nothing_else_is() throws IOException {
    Files.writeString(host.resolve("secret"), "not asked for");
    Path directory = only(gathered.in(files(10), List.of()));
    assertThat(directory.toFile().list()).hasSize(10).doesNotContain("secret");
    assertThat(directory.resolve("lib3.so")).hasContent("library 3");
    assertThat(only(gathered.in(files(10), List.of()))).isEqualTo(directory);
  }

  @Test
  void a_change_of_the_copy_would_not_reach_the_host() throws IOException {
    Path directory = only(gathered.in(files(8), List.of()));
    Files.writeString(directory.resolve("lib0.so"), "changed");
    assertThat(host.resolve("lib0.so.1.0")).hasContent("library 0");
  }

  @Test
  void a_library_that_was_replaced_is_the_new_one_in_the_next_sandbox() throws IOException {
    Path before = only(gathered.in(files(9), List.of()));
    Path file = host.resolve("lib5.so.1.0");
    FileTime time = Files.getLastModifiedTime(file);
    Files.move(Files.writeString(host.resolve("next"), "mended! 5"), host.resolve("then"));
    Files.setLastModifiedTime(host.resolve("then"), time);
    Files.delete(file);
    Files.move(host.resolve("then"), file);
    Path after = only(gathered.in(files(9), List.of()));
    assertThat(after).isNotEqualTo(before);
    assertThat(after.resolve("lib5.so")).hasContent("mended! 5");
  }

  @Test
  void files_with_rights_of_their_own_are_never_copied() throws Exception {
    List<Mounted> files = files(8);
    Path file = host.resolve("lib2.so.1.0");
    assertThat(new ProcessBuilder("chmod", "u+s", file.toString()).start().waitFor()).isZero();
    assertThat(gathered.in(files, List.of())).isEqualTo(files);
    assertThat(dir.resolve("gathered")).isEmptyDirectory();
  }

  @Test
  void few_files_and_directories_with_a_mount_in_them_stay_as_they_are() throws IOException {
    assertThat(gathered.in(files(7), List.of())).isEqualTo(files(7));
    assertThat(gathered.in(files(8), List.of(PLACE + "/more"))).isEqualTo(files(8));
    List<Mounted> nested = files(8);
    nested.add(new Mounted.ReadOnly(host, PLACE + "/tree"));
    assertThat(gathered.in(nested, List.of())).isEqualTo(nested);
    List<Mounted> inATree = files(8);
    inATree.add(new Mounted.ReadOnly(host, "/usr/lib"));
    assertThat(gathered.in(inATree, List.of())).isEqualTo(inATree);
  }

  @Test
  void a_file_beside_the_directory_changes_nothing() throws IOException {
    List<Mounted> files = files(8);
    Mounted beside = new Mounted.ReadOnly(host.resolve("lib0.so.1.0"), "/usr/lib/beside");
    files.add(beside);
    assertThat(gathered.in(files, List.of())).hasSize(2).contains(beside);
  }

  @Test
  void what_a_process_before_left_is_made_anew_after_a_start() throws IOException {
    Path directory = only(gathered.in(files(8), List.of()));
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    GatheredFiles next = new GatheredFiles(dir.resolve("gathered"));
    next.clear();
    assertThat(directory).doesNotExist();
    assertThat(only(next.in(files(8), List.of())).resolve("lib7.so")).hasContent("library 7");
  }
}
