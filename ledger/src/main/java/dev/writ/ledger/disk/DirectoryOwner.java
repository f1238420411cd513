package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.CLibrary;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Root may write everywhere, but the service whose ledger it is could not open what root wrote
 * there, and would not start any more.
 */
public final class DirectoryOwner {
  private static final CLibrary.Plain USER = CLibrary.plain("geteuid");

  private DirectoryOwner() {}

  /**
   * @throws WritException {@code LED-004} where this is root, and the directory another user's
   */
  static void require(Path dir) {
    if (dir.getFileSystem() == FileSystems.getDefault()) {
      require(dir, user());
    }
  }

  public static void require(Path dir, int user) {
    try {
      if (user == 0 && (int) Files.getAttribute(dir, "unix:uid") != 0) {
        throw new WritException(
            LedgerError.NO_PERMISSION,
            dir
                + " belongs to "
                + Files.getOwner(dir).getName()
                + ", who could not open what root writes there");
      }
    } catch (IOException e) {
      throw Failures.of("looking at " + dir, e);
    }
  }

  private static int user() {
    try (Arena arena = Arena.ofConfined()) {
      return USER.call(CLibrary.capture(arena), 0, 0);
    }
  }
}
