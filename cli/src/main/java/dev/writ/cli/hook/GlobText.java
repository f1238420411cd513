package dev.writ.cli.hook;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the text of a glob pattern says of the folder under which it looks for files. */
final class GlobText {
  private static final int CHARS_MAX = 4096;
  private static final int STEPS_MAX = 1000;
  private static final Pattern CHOICE = Pattern.compile("\\{([^{}]*)\\}");

  private GlobText() {}

  /**
   * The pattern without choices in braces, as a text for each of them. Some programs take a
   * backslash, or brackets around one character, for an escape of what follows; so they are read
   * without these, too.
   *
   * @return empty for a pattern that is too long or has too many choices
   */
  static Optional<List<String>> alternatives(String pattern) {
    if (pattern.length() > CHARS_MAX) {
      return Optional.empty();
    }
    ArrayDeque<String> open = new ArrayDeque<>();
    Stream.of(pattern, pattern.replace("\\", ""), pattern.replaceAll("[\\[\\]\\\\]", ""))
        .distinct()
        .forEach(open::add);
    List<String> done = new ArrayList<>();
    for (int steps = 0; !open.isEmpty(); steps++) {
      if (steps + open.size() > STEPS_MAX) {
        return Optional.empty();
      }
      String text = open.pop();
      Matcher choice = CHOICE.matcher(text);
      if (choice.find()) {
        for (String chosen : choice.group(1).split(",", -1)) {
          open.push(text.substring(0, choice.start()) + chosen + text.substring(choice.end()));
        }
      } else {
        done.add(text);
      }
    }
    return Optional.of(done);
  }

  /** What stands before the first part with a wildcard. */
  static String folder(String alternative) {
    int end = 0;
    while (end < alternative.length() && "*?{(".indexOf(alternative.charAt(end)) < 0) {
      end++;
    }
    return end == alternative.length()
        ? alternative
        : alternative.substring(0, alternative.lastIndexOf('/', end) + 1);
  }
}
