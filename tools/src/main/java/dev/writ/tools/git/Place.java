package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.WorkspacePaths;
import dev.writ.tools.error.ToolsError;
import java.util.List;

/**
 * A directory of the workspace in which a repository is, or is to be.
 *
 * @param path in normal form; {@code .} is the workspace itself
 */
record Place(String path) {
  private static final int MOST_PATHS = 1_000;

  /**
   * @throws WritException {@code TOL-052}
   */
  static Place of(String path) {
    requirePlain(path);
    return new Place(path);
  }

  /**
   * Paths in a repository, taken as they are written.
   *
   * @throws WritException {@code TOL-052}
   */
  static List<String> files(List<String> paths) {
    if (paths.size() > MOST_PATHS) {
      throw new WritException(ToolsError.GIT_PATH, paths.size() + " paths");
    }
    paths.forEach(Place::requirePlain);
    return paths;
  }

  private static void requirePlain(String path) {
    boolean plain =
        WorkspacePaths.isNormal(path)
            && path.length() <= 1_000
            && List.of(path.split("/")).stream().noneMatch(Place::isGit);
    if (!plain) {
      throw new WritException(
          ToolsError.GIT_PATH, "a path of " + path.length() + " characters, not plain or in .git");
    }
  }

  /** What git takes for its own directory, also where names mean less than their bytes. */
  private static boolean isGit(String part) {
    return part.equalsIgnoreCase(".git") || part.equalsIgnoreCase("git~1");
  }

  /** A name below it, as the workspace has it. */
  String below(String name) {
    return path.equals(".") ? name : path + "/" + name;
  }

  /** As a command in the sandbox sees it. */
  String inside() {
    return path.equals(".") ? "/workspace" : "/workspace/" + path;
  }
}
