package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The configuration file of a repository. Git reads it first, and many of its keys run programs. So
 * it may contain only listed keys, in the form that git itself writes: no comments, no continued
 * lines, no escapes, so that it can be read in one way only.
 */
final class LocalConfig {
  static final int MOST_BYTES = 256 * 1024;

  private static final Pattern SECTION =
      Pattern.compile("\\[([A-Za-z0-9-]+)( \"([^\"\\\\]*)\")?\\]");
  private static final Pattern ENTRY =
      Pattern.compile("\t([A-Za-z][A-Za-z0-9-]*) = ([^\"\\\\;# ]([^\"\\\\;#]*[^\"\\\\;# ])?)");
  private static final Pattern QUOTED =
      Pattern.compile("\t([A-Za-z][A-Za-z0-9-]*) = \"([^\"\\\\]*)\"");

  private static final String REMOTE = "[A-Za-z0-9][A-Za-z0-9._-]*";

  /** One line of it. */
  private record Entry(String section, String subsection, String key, String value) {
    /** As git config knows it; a subsection of other characters, or a long one, is not told. */
    String name() {
      boolean plain = subsection.matches("[A-Za-z0-9._-]{1,64}");
      return section + (plain ? "." + subsection : "") + "." + key;
    }
  }

  private LocalConfig() {}

  /**
   * @throws WritException {@code TOL-075} with the key, where it is a plain one
   */
  static void require(byte[] bytes) {
    for (Entry entry : read(bytes)) {
      if (!isHarmless(entry)) {
        throw new WritException(
            ToolsError.GIT_CONFIG,
            "the key " + entry.name() + " is not among those that may stand");
      }
    }
  }

  private static List<Entry> read(byte[] bytes) {
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      if (b < 0x20 && b != '\n' && b != '\t' || b == 0x7f) {
        throw refused(1, "a control character, or not ASCII"); // bytes from 0x80 are negative
      }
      text.append((char) b);
    }
    List<Entry> entries = new ArrayList<>();
    String section = "";
    String subsection = "";
    String[] lines = text.toString().split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      Matcher head = SECTION.matcher(lines[i]);
      if (head.matches()) {
        section = head.group(1).toLowerCase(Locale.ROOT);
        subsection = head.group(3) == null ? "" : head.group(3);
      } else if (!lines[i].isEmpty()) {
        Matcher entry = ENTRY.matcher(lines[i]);
        Matcher quoted = QUOTED.matcher(lines[i]);
        Matcher found = entry.matches() ? entry : quoted.matches() ? quoted : null;
        if (found == null || section.isEmpty()) {
          throw refused(i + 1, "not in the form in which git writes it");
        }
        String key = found.group(1).toLowerCase(Locale.ROOT);
        entries.add(new Entry(section, subsection, key, found.group(2)));
      }
    }
    return entries;
  }

  private static boolean isHarmless(Entry e) {
    boolean flag = e.value.matches("true|false");
    return switch (e.section) {
      case "core" ->
          e.subsection.isEmpty()
              && switch (e.key) {
                case "repositoryformatversion" -> e.value.matches("[01]");
                case "bare" -> e.value.equals("false");
                case "filemode",
                    "logallrefupdates",
                    "symlinks",
                    "ignorecase",
                    "precomposeunicode" ->
                    flag;
                default -> false;
              };
      case "extensions" -> e.key.equals("objectformat") && e.value.matches("sha1|sha256");
      case "user" -> e.subsection.isEmpty() && (e.key.equals("name") || e.key.equals("email"));
      case "remote" ->
          e.subsection.matches(REMOTE) // no remote named like a URL, which it would replace
              && switch (e.key) {
                case "url" -> isUrl(e.value);
                case "fetch" -> e.value.matches("\\+?refs/[!-~]+:refs/(remotes|tags)/[!-~]+");
                case "tagopt" -> e.value.matches("--tags|--no-tags");
                default -> false;
              };
      case "branch" ->
          !e.subsection.isEmpty()
              && switch (e.key) {
                case "remote" -> e.value.matches(REMOTE + "|\\.");
                case "merge" -> e.value.matches("refs/heads/[!-~]+");
                default -> false;
              };
      default -> false;
    };
  }

  private static boolean isUrl(String text) {
    try {
      RemoteUrl.parse(text);
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  private static WritException refused(int line, String what) {
    return new WritException(ToolsError.GIT_CONFIG, "line " + line + " is " + what);
  }
}
