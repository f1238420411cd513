package dev.writ.tools.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** What the system says of a file names it, and says why. */
class FileTroubleTest {
  private static final Path AT = Path.of("/srv/place");

  @Test
  void aFullDiskNamesNoFileSoThePlaceIsSaid() {
    assertThat(FileTrouble.of(AT, new IOException("No space left on device")))
        .isEqualTo("/srv/place: No space left on device");
  }

  @Test
  void theFileAndTheReasonAreTheSystems() {
    assertThat(
            FileTrouble.of(
                AT, new FileSystemException("/srv/place/x", null, "Read-only file system")))
        .isEqualTo("/srv/place/x: Read-only file system");
    assertThat(FileTrouble.of(AT, new AccessDeniedException("/srv/place/x")))
        .isEqualTo("/srv/place/x: no permission");
    assertThat(FileTrouble.of(AT, new NotDirectoryException("/srv/place/x")))
        .isEqualTo("/srv/place/x: no folder");
  }
}
