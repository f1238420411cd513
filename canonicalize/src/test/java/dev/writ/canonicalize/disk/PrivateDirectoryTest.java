package dev.writ.canonicalize.disk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A directory is private where no other user can put or rename anything. */
class PrivateDirectoryTest {
  @TempDir Path dir;
  private UserPrincipal self;

  @BeforeEach
  void whoIsThis() throws IOException {
    self = PrivateDirectory.self();
  }

  private Path make(Path path, String permissions) throws IOException {
    Files.createDirectory(path);
    return Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  @Test
  void whatIsMissingIsMadeForUsAlone() throws IOException {
    Path made = PrivateDirectory.require(dir.resolve("a/b"), self);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
        .isEqualTo("rwx------");
    assertThat(PrivateDirectory.require(dir.resolve("a/b"), self)).isEqualTo(made);
  }

  @Test
  void whatOthersMayReadIsClosed() throws IOException {
    Path made = PrivateDirectory.require(make(dir.resolve("a"), "rwxr-xr-x"), self);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
        .isEqualTo("rwx------");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rwxrwx---", "rwx----w-", "rwxrwxrwx"})
  void whatOthersMayWriteIsRefused(String permissions) throws IOException {
    Path open = make(dir.resolve("open"), permissions);
    assertThatThrownBy(() -> PrivateDirectory.require(open, self))
        .isInstanceOf(FileSystemException.class);
  }

  @Test
  void whatLiesInADirectoryThatOthersMayWriteIsRefused() throws IOException {
    Path open = make(dir.resolve("open"), "rwxrwxrwx");
    assertThatThrownBy(() -> PrivateDirectory.require(open.resolve("below"), self))
        .hasMessageContaining("another user may write there");
    // Sticky, as /tmp is: what is in it can be renamed by its owner alone.
    Files.setAttribute(open, "unix:mode", 0_1777);
    PrivateDirectory.require(open.resolve("below"), self);
  }

  @Test
  void aLinkAndAFileAreRefused() throws IOException {
    Path link =
        Files.createSymbolicLink(dir.resolve("link"), Files.createDirectory(dir.resolve("x")));
    assertThatThrownBy(() -> PrivateDirectory.require(link, self))
        .isInstanceOf(FileSystemException.class);
    Path file = Files.createFile(dir.resolve("file"));
    assertThatThrownBy(() -> PrivateDirectory.require(file, self)).isInstanceOf(IOException.class);
  }

  @Test
  void whatAnotherUserOwnsIsRefused() throws IOException {
    UserPrincipal other =
        dir.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    Path place = Files.createDirectory(dir.resolve("place"));
    assertThatThrownBy(() -> PrivateDirectory.require(place, other))
        .isInstanceOf(FileSystemException.class);
  }

  @Test
  void aVolumeThatTheUsersOwnGroupMayWriteIsTheUsers() throws IOException {
    assumeThat(self.getName()).as("only root makes directories of others").isEqualTo("root");
    var names = dir.getFileSystem().getUserPrincipalLookupService();
    UserPrincipal daemon = names.lookupPrincipalByName("daemon");
    // As Kubernetes hands out a volume to a container with an fsGroup.
    Path volume = make(dir.resolve("volume"), "rwxrwxr-x");
    Files.setAttribute(volume, "posix:group", names.lookupPrincipalByGroupName("daemon"));
    Path cache = make(volume.resolve("cache"), "rwx------");
    Files.setOwner(cache, daemon);

    assertThat(PrivateDirectory.require(cache, daemon)).isEqualTo(cache.toRealPath());
    Files.setAttribute(volume, "posix:group", names.lookupPrincipalByGroupName("nogroup"));
    assertThatThrownBy(() -> PrivateDirectory.require(cache, daemon))
        .hasMessageContaining("another user may write there");
  }

  @Test
  void aLibraryThatItsJarDoesNotHaveIsRefused() {
    assertThatThrownBy(
            () -> NativeLibraries.load(Test.class, "none.so", "none.so", _ -> assertThat(false)))
        .hasMessageContaining("CAN-058");
  }
}
