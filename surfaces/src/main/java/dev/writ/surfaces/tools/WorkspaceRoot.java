package dev.writ.surfaces.tools;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.profile.ProfileError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * Seed 002's WORKSPACE_ROOT, if it is a directory of this machine. The symbolic links of a path
 * under it are resolved, and the result must still be under the root. The profile has checked only
 * names; the sandbox checks again when it opens them.
 */
public final class WorkspaceRoot {
  private final Path root;

  /**
   * @param root an existing directory
   */
  public WorkspaceRoot(Path root) throws IOException {
    this.root = root.toRealPath();
  }

  /**
   * @param relative in normal form, {@code .} for the root
   * @throws WritException {@code GRD-716} where a link leads out
   */
  void require(String relative) {
    try {
      Path at = root.resolve(relative).normalize();
      // The sandbox creates missing directories, so the deepest existing one is checked.
      while (!Files.exists(at, LinkOption.NOFOLLOW_LINKS)) {
        at = at.getParent();
      }
      if (!at.toRealPath().startsWith(root)) {
        throw new WritException(ProfileError.COMMAND_CWD, "a link leads out of it");
      }
    } catch (IOException e) {
      throw new WritException(ProfileError.COMMAND_CWD, e.getClass().getSimpleName(), e);
    }
  }
}
