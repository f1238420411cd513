package dev.writ.tools.process;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Selects the artifacts of a call: a relative path in which {@code *} stands for any characters
 * within a part, {@code ?} for one character, and a part {@code **} for any number of parts. A
 * slash at its end selects directories, and {@code ./} the base directory itself.
 */
final class ArtifactPattern {
  static final int PATTERNS_MAX = 32;
  static final int PARTS_MAX = 16;
  private static final int CHARS_MAX = 256;
  private static final String ANY_PARTS = "**";
  private static final String ITSELF = "./";

  private final List<String> parts;
  private final boolean directory;

  private ArtifactPattern(List<String> parts, boolean directory) {
    this.parts = parts;
    this.directory = directory;
  }

  /**
   * @throws WritException {@code TOL-045}
   */
  static ArtifactPattern parse(String text) {
    if (text.equals(ITSELF)) {
      return new ArtifactPattern(List.of(), true);
    }
    boolean directory = text.endsWith("/");
    String path = directory ? text.substring(0, text.length() - 1) : text;
    List<String> parts = List.of(path.split("/", -1));
    boolean allowed =
        text.length() <= CHARS_MAX
            && parts.size() <= PARTS_MAX
            && path.chars().noneMatch(c -> c < 0x20 || c == 0x7f || c == '\\')
            && parts.stream().allMatch(ArtifactPattern::isPart);
    if (!allowed) {
      throw new WritException(
          ToolsError.ARTIFACT_PATTERN, "one of " + text.length() + " characters");
    }
    return new ArtifactPattern(parts, directory);
  }

  private static boolean isPart(String part) {
    boolean names = !part.isEmpty() && !part.equals(".") && !part.equals("..");
    return names && (part.equals(ANY_PARTS) || !part.contains(ANY_PARTS));
  }

  /**
   * The patterns in a param; none if it is absent.
   *
   * @throws WritException {@code TOL-045}
   */
  static List<ArtifactPattern> list(JsonValue.Obj params, String param) {
    List<ArtifactPattern> patterns = new ArrayList<>();
    if (params.get(param) instanceof JsonValue.Arr list) {
      if (list.items().size() > PATTERNS_MAX) {
        throw new WritException(
            ToolsError.ARTIFACT_PATTERN, list.items().size() + ", at most " + PATTERNS_MAX);
      }
      for (JsonValue item : list.items()) {
        if (!(item instanceof JsonValue.Str text)) {
          throw new WritException(ToolsError.ARTIFACT_PATTERN, "one that is no text");
        }
        patterns.add(parse(text.value()));
      }
    } else if (params.get(param) != null) {
      throw new WritException(ToolsError.ARTIFACT_PATTERN, "no list");
    }
    return List.copyOf(patterns);
  }

  /** Whether it selects the base directory itself. */
  boolean isItself() {
    return parts.isEmpty();
  }

  /** Whether it means directories. */
  boolean isDirectory() {
    return directory;
  }

  /**
   * @param path relative, in normal form; of a file, or of a directory without a slash at its end
   */
  boolean matches(String path) {
    List<String> names = List.of(path.split("/", -1));
    int part = 0;
    int name = 0;
    int anyAt = -1;
    int nameAtAny = 0;
    while (name < names.size()) {
      if (part < parts.size() && parts.get(part).equals(ANY_PARTS)) {
        anyAt = part++;
        nameAtAny = name;
      } else if (part < parts.size() && partMatches(parts.get(part), names.get(name))) {
        part++;
        name++;
      } else if (anyAt >= 0) {
        part = anyAt + 1;
        name = ++nameAtAny;
      } else {
        return false;
      }
    }
    while (part < parts.size() && parts.get(part).equals(ANY_PARTS)) {
      part++;
    }
    return part == parts.size();
  }

  /**
   * Matches the characters of one part; what a star matched is extended one by one on a mismatch.
   */
  private static boolean partMatches(String pattern, String name) {
    int[] wanted = pattern.codePoints().toArray();
    int[] given = name.codePoints().toArray();
    int at = 0;
    int i = 0;
    int star = -1;
    int givenAtStar = 0;
    while (i < given.length) {
      if (at < wanted.length && wanted[at] == '*') {
        star = at++;
        givenAtStar = i;
      } else if (at < wanted.length && (wanted[at] == '?' || wanted[at] == given[i])) {
        at++;
        i++;
      } else if (star >= 0) {
        at = star + 1;
        i = ++givenAtStar;
      } else {
        return false;
      }
    }
    while (at < wanted.length && wanted[at] == '*') {
      at++;
    }
    return at == wanted.length;
  }

  /** The directories that contain the files of these paths. */
  static TreeSet<String> directories(List<String> files) {
    TreeSet<String> directories = new TreeSet<>();
    for (String file : files) {
      for (int slash = file.indexOf('/'); slash >= 0; slash = file.indexOf('/', slash + 1)) {
        directories.add(file.substring(0, slash));
      }
    }
    return directories;
  }
}
