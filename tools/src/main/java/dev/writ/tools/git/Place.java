package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.seed.WorkspacePaths;
import dev.writ.tools.error.ToolsError;
import java.util.List;

/**
 * A directory of the workspace that holds, or will hold, a repository.
 *
 * @param path in normal form; {@code .} is the workspace itself
 */
record Place(String path) {
  private static final int MOST_PATHS = 1_000;

  /**
   * @throws WritException {@code TOL-072}
   */
  static Place of(String path) {
    requirePlain(path);
    return new Place(path);
  }

  /**
   * Paths in a repository, taken literally.
   *
   * @throws WritException {@code TOL-072}
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

  /**
   * Names that git takes for its own directory, including those of file systems that ignore case or
   * shorten names.
   */
  private static boolean isGit(String part) {
    return part.equalsIgnoreCase(".git") || part.equalsIgnoreCase("git~1");
  }

  /** The path of a name below it, relative to the workspace. */
  String below(String name) {
    return path.equals(".") ? name : path + "/" + name;
  }

  /** Its path in the sandbox. */
  String inside() {
    return path.equals(".") ? "/workspace" : "/workspace/" + path;
  }
}
