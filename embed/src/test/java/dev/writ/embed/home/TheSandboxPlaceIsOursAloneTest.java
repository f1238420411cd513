package dev.writ.embed.home;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.workspace.WorkspaceBounds;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Others may write beside the directory of our sandboxes; nothing of theirs is taken for ours. */
class TheSandboxPlaceIsOursAloneTest {
  @TempDir Path dir;

  private UserPrincipal self() throws Exception {
    return Files.getOwner(Path.of("/proc/self"));
  }

  private void require(Path place) throws Exception {
    SandboxPlace.require(place, self(), "rwx------");
  }

  @Test
  void whatIsNotThereIsMadeForUsAndTakenAgain() throws Exception {
    Path place = dir.resolve("place");
    require(place);
    require(place);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(place)))
        .isEqualTo("rwx------");
  }

  @Test
  void aLinkAFileAndWhatOthersMayWriteAreRefused() throws Exception {
    Path target = Files.createDirectory(dir.resolve("target"));
    Path link = Files.createSymbolicLink(dir.resolve("link"), target);
    assertThatThrownBy(() -> require(link)).hasMessageContaining("CLI-017");
    Path file = Files.createFile(dir.resolve("file"));
    assertThatThrownBy(() -> require(file)).hasMessageContaining("CLI-017");
    for (String permissions : new String[] {"rwxrwx---", "rwx----w-"}) {
      Path open = Files.createDirectory(dir.resolve(permissions));
      Files.setPosixFilePermissions(open, PosixFilePermissions.fromString(permissions));
      assertThatThrownBy(() -> require(open)).hasMessageContaining("CLI-017");
    }
    assertThatThrownBy(() -> require(dir.resolve("none/below"))).hasMessageContaining("CLI-017");
  }

  @Test
  void whatAnotherUserMadeIsRefused() throws Exception {
    Path place = Files.createDirectory(dir.resolve("place"));
    UserPrincipal other =
        place.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    assertThatThrownBy(() -> SandboxPlace.require(place, other, "rwx------"))
        .hasMessageContaining("CLI-017");
  }

  @Test
  void nothingIsMadeBeforeTheFirstProcess() {
    Path named = dir.resolve("named");
    Home home = new Home(dir.resolve("home"), () -> null);
    try (var _ = SandboxPlace.host(home, Map.of("WRIT_SANDBOX_DIR", named.toString()))) {
      assertThat(Files.exists(named, LinkOption.NOFOLLOW_LINKS)).isFalse();
    }
  }

  @Test
  void whatIsInTheWayOfADirectoryIsToldBeforeThereIsAProcess() throws Exception {
    assertThat(hindrance(dir.resolve("a/b/c"))).isEmpty();
    assertThat(hindrance(dir)).isEmpty();
    assertThat(Files.exists(dir.resolve("a"))).as("it makes nothing").isFalse();
    Path file = Files.createFile(dir.resolve("file")); // as a directory that is read-only, to root
    assertThat(hindrance(file.resolve("below")).orElseThrow())
        .hasMessageContaining("CLI-017")
        .hasMessageContaining("file/below cannot be made: nothing can be written to " + file);
    assertThatThrownBy(() -> require(dir.resolve("none/below")))
        .hasMessageContaining("there is no " + dir.resolve("none"));
  }

  private static Optional<WritException> hindrance(Path named) {
    return SandboxPlace.hindrance(Map.of("WRIT_SANDBOX_DIR", named.toString()));
  }

  @Test
  void howManyWorkspacesMayExistIsTheOperatorsChoice() {
    assertThat(SandboxPlace.settings(dir, Map.of()).workspaces())
        .isEqualTo(new WorkspaceBounds(512, 128));
    assertThat(
            SandboxPlace.settings(
                    dir, Map.of("WRIT_WORKSPACES_MAX", "3", "WRIT_WORKSPACES_PER_TENANT_MAX", "2"))
                .workspaces())
        .isEqualTo(new WorkspaceBounds(3, 2));
    for (String wrong : new String[] {"0", "-1", "many", "1000000000", "1.5"}) {
      assertThatThrownBy(
              () -> SandboxPlace.settings(dir, Map.of("WRIT_WORKSPACES_PER_TENANT_MAX", wrong)))
          .hasMessageContaining("SBX-026")
          .hasMessageContaining("WRIT_WORKSPACES_PER_TENANT_MAX");
    }
  }
}
