package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.workspace.TreeEntry;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.tools.error.ToolsError;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A repository in the workspace. Other tools and untrusted commits may have written it, so it is
 * checked from outside the sandbox before git opens it.
 */
final class Repository {

  /** Files below .git that redirect to other places or contain settings of their own. */
  private static final List<String> REFUSED =
      List.of(
          "commondir",
          "config.worktree",
          "gitdir",
          "info/grafts",
          "modules",
          "objects/info/alternates",
          "objects/info/http-alternates",
          "refs/replace",
          "worktrees");

  private Repository() {}

  /**
   * Requires a repository that git can safely open.
   *
   * @throws WritException {@code TOL-074} for what may not be in it, {@code TOL-075} for its
   *     configuration, {@code SBX-043} to {@code SBX-046}
   */
  static void require(Workspace workspace, Place place) {
    requireThere(workspace, place);
    String root = place.below("");
    for (TreeEntry entry : workspace.entries(TreeLimits.STANDARD)) {
      if (entry.name().startsWith(root)) {
        requireHarmless(entry, entry.name().substring(root.length()));
      }
    }
    LocalConfig.require(workspace.read(place.below(".git/config"), LocalConfig.MOST_BYTES));
  }

  private static void requireThere(Workspace workspace, Place place) {
    try {
      workspace.requireDirectory(place.below(".git"));
    } catch (WritException e) {
      if (e.code() == SandboxError.PATH_MISSING) {
        throw new WritException(
            e.code(), "path has no .git, or is not there: init and clone make a repository", e);
      }
      if (e.code() == SandboxError.PATH_KIND) {
        throw new WritException(
            e.code(), ".git of path is no directory: a worktree or a submodule is not taken", e);
      }
      throw e;
    }
  }

  private static void requireHarmless(TreeEntry entry, String name) {
    if (name.equals(".git") || name.startsWith(".git/")) {
      if (entry.kind() != 'f' && entry.kind() != 'd') {
        throw refused("something in .git is neither file nor directory");
      }
      String inner = name.length() > 5 ? name.substring(5) : "";
      for (String one : REFUSED) {
        if (inner.equals(one) || inner.startsWith(one + "/")) {
          throw refused(".git/" + one);
        }
      }
    } else if (name.endsWith("/.git")) {
      throw refused("a repository within the repository");
    }
  }

  /**
   * Requires that a new one can be made at a place: it is not reached through a link.
   *
   * @throws WritException {@code TOL-074}, {@code SBX-043}, {@code SBX-045}
   */
  static void requireFree(Workspace workspace, Place place) {
    if (place.path().equals(".")) {
      return; // git refuses a directory that is not empty
    }
    for (TreeEntry entry : workspace.entries(TreeLimits.STANDARD)) {
      boolean above = place.path().startsWith(entry.name() + "/");
      boolean there = place.path().equals(entry.name());
      if ((above || there) && entry.kind() != 'd') {
        throw refused("the place, or one above it, is there and no directory");
      }
    }
  }

  /** The branch that is checked out; null if it is a commit. */
  static JsonValue branch(Workspace workspace, Place place) {
    String head;
    try {
      head = new String(workspace.read(place.below(".git/HEAD"), 4_096), StandardCharsets.UTF_8);
    } catch (WritException e) {
      return JsonValue.NULL;
    }
    String prefix = "ref: refs/heads/";
    return head.startsWith(prefix) && head.endsWith("\n")
        ? JsonValue.of(head.substring(prefix.length(), head.length() - 1))
        : JsonValue.NULL;
  }

  private static WritException refused(String what) {
    return new WritException(ToolsError.GIT_REPOSITORY, what);
  }
}
