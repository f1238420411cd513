package dev.writ.tools.sql;

import java.util.regex.Pattern;

/** Recognizes texts that are numbers as JSON writes them. */
final class Numbers {
  private static final Pattern INTEGER = Pattern.compile("-?(0|[1-9][0-9]{0,18})");
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9][0-9]{0,309})(\\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?");

  private Numbers() {}

  /** Whether a text is an integer of 64 bits. */
  static boolean isInteger(String text) {
    if (!INTEGER.matcher(text).matches()) {
      return false;
    }
    try {
      Long.parseLong(text);
      return true;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  /** Whether a text is a number that a double holds as a finite value. */
  static boolean isNumber(String text) {
    return NUMBER.matcher(text).matches() && Double.isFinite(Double.parseDouble(text));
  }
}
