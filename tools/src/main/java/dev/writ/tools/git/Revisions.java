package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.Locale;

/** Names of branches, tags and commits: valid by git-check-ref-format(1), and never an option. */
final class Revisions {
  private static final int MOST = 200;

  private Revisions() {}

  /**
   * A name of a branch or tag.
   *
   * @throws WritException {@code TOL-071}
   */
  static String name(String text) {
    boolean refused =
        text.isEmpty()
            || text.length() > MOST
            || text.startsWith("-")
            || text.startsWith("/")
            || text.endsWith("/")
            || text.endsWith(".")
            || text.equals("@")
            || text.equals("HEAD")
            || text.contains("..")
            || text.contains("//")
            || text.contains("@{")
            || text.chars().anyMatch(c -> c <= 0x20 || c >= 0x7f || " ~^:?*[\\\"".indexOf(c) >= 0);
    for (String part : text.split("/", -1)) {
      refused |= part.startsWith(".") || part.toLowerCase(Locale.ROOT).endsWith(".lock");
    }
    if (refused) {
      throw refused("a name", text);
    }
    return text;
  }

  private static WritException refused(String what, String text) {
    return new WritException(
        ToolsError.GIT_REVISION, what + " of " + text.length() + " characters");
  }

  /**
   * A branch or a tag as a full reference.
   *
   * @throws WritException {@code TOL-071}
   */
  static String full(String text) {
    name(text);
    return text.startsWith("refs/heads/") || text.startsWith("refs/tags/")
        ? text
        : "refs/heads/" + text;
  }

  /**
   * A commit: a name, HEAD or an id, and steps back from it such as {@code ~2} and {@code ^1}.
   *
   * @throws WritException {@code TOL-071}
   */
  static String commit(String text) {
    if (text.length() > 2 * MOST) {
      throw refused("a commit", text);
    }
    String base = text.replaceFirst("(?:~[0-9]{0,6}|\\^[0-9]{0,2})++$", "");
    if (!base.equals("HEAD")) {
      name(base);
    }
    return text;
  }

  /**
   * @throws WritException {@code TOL-071}
   */
  static String id(String text) {
    if (!text.matches("[0-9a-f]{40}|[0-9a-f]{64}")) {
      throw new WritException(ToolsError.GIT_REVISION, "no full id of a commit");
    }
    return text;
  }
}
