package dev.writ.guardian.policy.cel;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.Optional;
import java.util.regex.Matcher;

/**
 * A regular expression that RE2 runs in time that grows with the text alone. RE2 writes a count as
 * so many copies, so that counts within counts make programs of any size out of a few characters:
 * what could grow so is refused before it is compiled.
 */
public final class LinearPattern {
  /** More than that, by {@link #sizeAtMost}, is not compiled. */
  private static final long ESTIMATE_MAX = 100_000;

  /** A count, and the character before it. */
  private static final java.util.regex.Pattern COUNT =
      java.util.regex.Pattern.compile("(?s)(?<=(.))\\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?}");

  private final Pattern compiled;

  private LinearPattern(Pattern compiled) {
    this.compiled = compiled;
  }

  /**
   * @param sizeMax how many instructions its program may have
   * @return empty where it is larger
   * @throws PatternSyntaxException where it is none of RE2's
   */
  public static Optional<LinearPattern> compile(String source, int sizeMax) {
    if (sizeAtMost(source) > ESTIMATE_MAX) {
      return Optional.empty();
    }
    Pattern compiled = Pattern.compile(source);
    return compiled.programSize() > sizeMax
        ? Optional.empty()
        : Optional.of(new LinearPattern(compiled));
  }

  /** The same; empty as well where it is none of RE2's. */
  static Optional<LinearPattern> usable(String source, int sizeMax) {
    try {
      return compile(source, sizeMax);
    } catch (PatternSyntaxException e) {
      return Optional.empty();
    }
  }

  /**
   * The size of its program, estimated from above: as if each character were repeated as often as
   * any one is, and each group stood in all that are repeated. A group ends with a parenthesis,
   * behind which may be an empty quotation; both may also be what is repeated.
   */
  static long sizeAtMost(String source) {
    long characters = 1;
    long groups = 1;
    Matcher counts = COUNT.matcher(source);
    while (counts.find()) {
      if (isCodePoint(source, counts.start())) {
        continue;
      }
      long times = Long.parseLong(counts.group(2));
      if (counts.group(3) != null) {
        times = counts.group(4).isEmpty() ? times + 1 : Long.parseLong(counts.group(4));
      }
      if (counts.group(1).equals(")") || counts.group(1).equals("E")) {
        groups = times(groups, times);
      } else {
        characters = Math.max(characters, times);
      }
    }
    return times(times(groups, characters), source.length());
  }

  /**
   * Whether a brace at that place belongs to a character by its number, as in {@code \\x{3042}}.
   */
  private static boolean isCodePoint(String source, int brace) {
    int backslashes = 0;
    while (brace - 2 - backslashes >= 0 && source.charAt(brace - 2 - backslashes) == '\\') {
      backslashes++;
    }
    return source.charAt(brace - 1) == 'x' && backslashes % 2 == 1;
  }

  /** Never more than a little beyond the greatest size that is told apart. */
  private static long times(long a, long b) {
    return Math.min(ESTIMATE_MAX + 1, a) * Math.min(ESTIMATE_MAX + 1, Math.max(1, b));
  }

  /** How many instructions its program has: the work for each character of a text, at most. */
  public int size() {
    return compiled.programSize();
  }

  /** Whether it is anywhere in the text. */
  public boolean isIn(String text) {
    return compiled.matcher(text).find();
  }
}
