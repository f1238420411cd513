package dev.writ.guardian.policy.seed;

import dev.writ.guardian.yaml.Section;
import java.util.List;

/** Paths under a run's workspace root: relative, with slashes, in normal form. */
public final class WorkspacePaths {
  private WorkspacePaths() {}

  /** Refuses what no policy may write, with the form that it has to have. */
  public static void require(Section section, String key, String path) {
    section.require(
        key,
        isNormal(path),
        path
            + " is no folder of the workspace like src/main: relative, in its one form; . is all of"
            + " it");
  }

  /** Whether a path names something under the root in the one form that is allowed. */
  public static boolean isNormal(String path) {
    if (path.equals(".")) {
      return true;
    }
    if (path.isEmpty()
        || path.indexOf('\\') >= 0
        || path.chars().anyMatch(c -> c < 0x20 || c == 0x7f)) {
      return false;
    }
    for (String part : path.split("/", -1)) {
      if (part.isEmpty() || part.equals(".") || part.equals("..")) {
        return false;
      }
    }
    return true;
  }

  /** Whether a path in normal form is one of the directories or under one. */
  public static boolean isUnder(String path, List<String> directories) {
    return directories.stream()
        .anyMatch(d -> d.equals(".") || path.equals(d) || path.startsWith(d + "/"));
  }
}
