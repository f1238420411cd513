package dev.writ.cli.hook;

import dev.writ.canonicalize.json.JsonValue;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The paths that a call of an agent's tool names. Agents read a text in different ways, before the
 * system does: what any of them would take for a path outside is outside.
 */
final class CallPaths {
  /** Names of members, in small letters and without {@code _}. */
  private static final Set<String> PATHS =
      Set.of(
          "directory",
          "directories",
          "dirpath",
          "filepath",
          "filepaths",
          "notebookpath",
          "path",
          "paths",
          "relativeworkspacepath",
          "targetdirectory",
          "targetdirectories",
          "targetfile",
          "targetnotebook");

  /** Lists of objects with such members; or of paths. */
  private static final Set<String> LISTS = Set.of("edits", "files", "replacements");

  private static final Set<String> GLOBS =
      Set.of("glob", "globpattern", "include", "includepattern");

  private static final List<String> PATCHED =
      List.of("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ");

  /** A home, which some agents put in, and URIs and drives, which some take. */
  private static final Pattern ELSEWHERE = Pattern.compile("~|[A-Za-z][A-Za-z0-9+.-]*:");

  private final HookEvent event;
  private final Path cwd;
  private final Optional<Path> folder;
  private final List<String> named = new ArrayList<>();
  private final List<String> globs = new ArrayList<>();
  private final LinkedHashSet<Path> all = new LinkedHashSet<>();
  private boolean inside = true;

  private CallPaths(HookEvent event, Path cwd) {
    this.event = event;
    this.cwd = cwd;
    this.folder = LinkWalk.end(cwd);
  }

  /**
   * @param cwd absolute
   * @param isFind whether it looks for files: where no path is given, in the working directory
   * @throws dev.writ.canonicalize.WritException {@code CLI-033} where no path is found, or what is
   *     none
   */
  static CallPaths of(HookEvent event, Path cwd, boolean isFind) {
    CallPaths paths = new CallPaths(event, cwd);
    paths.collect(event.input());
    paths.patched();
    if (paths.named.isEmpty()) {
      if (!isFind) {
        throw event.unknown("file_path");
      }
      paths.named.add(".");
    }
    List<Path> bases =
        paths.named.stream().flatMap(CallPaths::readings).map(paths::judged).toList();
    if (isFind) {
      paths.find(bases);
    }
    return paths;
  }

  /** Absolute, without {@code .} and {@code ..}. */
  List<Path> all() {
    return List.copyOf(all);
  }

  /** Whether all of them lead into the working directory. */
  boolean isInside() {
    return inside;
  }

  private void collect(JsonValue.Obj object) {
    object
        .members()
        .forEach((member, value) -> {
          String plain = plain(member);
          if (PATHS.contains(plain) || LISTS.contains(plain)) {
            add(named, member, value, LISTS.contains(plain));
          }
        });
  }

  private static String plain(String member) {
    return member.replace("_", "").toLowerCase(Locale.ROOT);
  }

  private void add(List<String> to, String member, JsonValue value, boolean isList) {
    switch (value) {
      case JsonValue.Str text when text.value().isEmpty() -> {
        // As if it were not there.
      }
      case JsonValue.Str text -> to.add(text.value());
      case JsonValue.Arr items -> items.items().forEach(item -> add(to, member, item, isList));
      case JsonValue.Obj object when isList -> collect(object);
      case JsonValue.Null _ -> {
        // As if it were not there.
      }
      default -> throw event.unknown(member);
    }
  }

  private void patched() {
    if (event.tool().equals("apply_patch")) {
      for (String member : List.of("command", "input", "patch")) {
        HookEvent.text(event.input(), member).ifPresent(this::patched);
      }
    }
  }

  /** Codex takes blanks off a header. */
  private void patched(String patch) {
    for (String line : patch.split("\r?\n")) {
      readings(line)
          .forEach(header ->
              PATCHED.stream()
                  .filter(header::startsWith)
                  .forEach(prefix -> named.add(header.substring(prefix.length()))));
    }
  }

  private void find(List<Path> bases) {
    event
        .input()
        .members()
        .forEach((member, value) -> {
          if (isGlob(plain(member))) {
            add(globs, member, value, false);
          }
        });
    List<Path> from = Stream.concat(Stream.of(cwd), bases.stream()).distinct().toList();
    globs.stream().flatMap(CallPaths::readings).forEach(glob -> glob(glob, from));
  }

  /** Other tools have a regular expression under these names, or words. */
  private boolean isGlob(String member) {
    return switch (member) {
      case "pattern" -> event.tool().equals("Glob");
      case "query" -> event.tool().equals("file_search");
      default -> GLOBS.contains(member);
    };
  }

  private void glob(String glob, List<Path> from) {
    Optional<List<String>> alternatives = GlobText.alternatives(glob);
    inside &= alternatives.isPresent();
    for (String alternative : alternatives.orElse(List.of())) {
      inside &= !alternative.contains("..") && !ELSEWHERE.matcher(alternative).lookingAt();
      String under = GlobText.folder(alternative);
      if (!under.isEmpty()) {
        from.forEach(base -> judged(base, under));
      }
    }
  }

  private Path judged(String text) {
    inside &= !ELSEWHERE.matcher(text).lookingAt();
    return judged(cwd, text);
  }

  /** Some agents take {@code ..} off the text, and others leave it to the system. */
  private Path judged(Path base, String text) {
    Path path = path(base, text);
    all.add(path.normalize());
    inside &= leadsInside(path) && leadsInside(path.normalize());
    return path;
  }

  private boolean leadsInside(Path path) {
    return folder.isPresent()
        && LinkWalk.end(path).filter(p -> p.startsWith(folder.get())).isPresent();
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code CLI-033} for what is no path
   */
  static Path path(Path base, String text) {
    try {
      return base.resolve(text).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw HookEvent.refused("a path that is none");
    }
  }

  /** Some agents take the blanks off its ends. */
  private static Stream<String> readings(String text) {
    return Stream.of(text, trimmed(text)).distinct();
  }

  /** Without what JavaScript or Rust take for blanks, which are more than Java's. */
  private static String trimmed(String text) {
    int begin = 0;
    int end = text.length();
    while (begin < end && isBlank(text.charAt(begin))) {
      begin++;
    }
    while (end > begin && isBlank(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(begin, end);
  }

  private static boolean isBlank(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085' || c == '\ufeff';
  }
}
