package dev.writ.tools.author;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The runtime versions that a tool is written for: {@code 3} is any 3.x, {@code 3.13} any 3.13.x,
 * {@code 18+} is 18 and later. A word, such as {@code wasi_snapshot_preview1}, is only itself.
 */
public record RuntimeRange(String text) {
  private static final Pattern FORM =
      Pattern.compile("[0-9]{1,6}(\\.[0-9]{1,6}){0,2}\\+?|[a-z][a-z0-9_]{0,63}");
  private static final Pattern NUMBERS = Pattern.compile("[0-9]{1,6}(\\.[0-9]{1,6}){0,3}");

  public static RuntimeRange of(String text) {
    return new RuntimeRange(text);
  }

  /** Whether a text has one of these forms. */
  boolean isWellFormed() {
    return FORM.matcher(text).matches();
  }

  /**
   * Whether a version is in it.
   *
   * @param version a full version, such as {@code 3.13.5}; a suffix after its numbers is ignored
   */
  public boolean admits(String version) {
    if (!isNumeric()) {
      return text.equals(version);
    }
    List<Integer> range = numbers(text);
    int compared = compare(numbers(version), range, range.size());
    return isOpen() ? compared >= 0 : compared == 0;
  }

  /** Whether it has a version in common with an entry of the matrix; entries are closed ranges. */
  boolean meets(String entry) {
    if (!isNumeric() || !RuntimeRange.of(entry).isNumeric()) {
      return text.equals(entry);
    }
    List<Integer> range = numbers(text);
    List<Integer> other = numbers(entry);
    int compared = compare(other, range, Math.min(range.size(), other.size()));
    return isOpen() ? compared >= 0 : compared == 0;
  }

  private boolean isNumeric() {
    return !text.isEmpty() && Character.isDigit(text.charAt(0));
  }

  private boolean isOpen() {
    return text.endsWith("+");
  }

  private static List<Integer> numbers(String version) {
    Matcher numbers = NUMBERS.matcher(version);
    List<Integer> list = new ArrayList<>();
    if (numbers.lookingAt()) {
      for (String number : numbers.group().split("\\.")) {
        list.add(Integer.valueOf(number));
      }
    }
    return list;
  }

  /** Compares the first numbers of both; a missing number is 0, as in {@code 25} of Java. */
  private static int compare(List<Integer> a, List<Integer> b, int first) {
    for (int i = 0; i < first; i++) {
      int compared = Integer.compare(i < a.size() ? a.get(i) : 0, i < b.size() ? b.get(i) : 0);
      if (compared != 0) {
        return compared;
      }
    }
    return 0;
  }
}
