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
   * @param tenants the tenant's directory below the root, {@code .} for all of it
   * @param relative below that, in normal form, {@code .} for itself
   * @throws WritException {@code GRD-716} where a link leads out of the tenant's directory
   */
  void require(String tenants, String relative) {
    try {
      Path allowed = real(root.resolve(tenants));
      if (!allowed.startsWith(root) || !real(allowed.resolve(relative)).startsWith(allowed)) {
        throw new WritException(ProfileError.COMMAND_CWD, "a link leads out of it");
      }
    } catch (IOException e) {
      throw new WritException(ProfileError.COMMAND_CWD, e.getClass().getSimpleName(), e);
    }
  }

  /** With the links of what exists of it resolved: the sandbox makes missing directories. */
  private static Path real(Path path) throws IOException {
    Path wanted = path.normalize();
    Path there = wanted;
    while (!Files.exists(there, LinkOption.NOFOLLOW_LINKS)) {
      there = there.getParent();
    }
    return there.toRealPath().resolve(there.relativize(wanted)).normalize();
  }
}
