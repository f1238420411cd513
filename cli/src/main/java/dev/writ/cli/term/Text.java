package dev.writ.cli.term;

import java.util.ArrayList;
import java.util.List;

/**
 * Text on a terminal: its width, cutting and wrapping it, and removing characters that control the
 * terminal.
 */
public final class Text {
  /** First and last code points that take two cells (Unicode UAX 11, W and F, coarsely). */
  private static final int[][] WIDE = {
    {0x1100, 0x115F},
    {0x231A, 0x231B},
    {0x23E9, 0x23EC},
    {0x2614, 0x2615},
    {0x2705, 0x2705},
    {0x270A, 0x270B},
    {0x274C, 0x274E},
    {0x2753, 0x2757},
    {0x2E80, 0x303E},
    {0x3041, 0x4DBF},
    {0x4E00, 0xA4CF},
    {0xA960, 0xA97F},
    {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60},
    {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF},
    {0x1F900, 0x1F9FF},
    {0x20000, 0x3FFFD},
  };

  private Text() {}

  /** The cells that a text takes. */
  public static int width(String text) {
    return text.codePoints().map(Text::width).sum();
  }

  private static int width(int c) {
    if (c < 0x300) {
      return 1;
    }
    int type = Character.getType(c);
    if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
      return 0;
    }
    for (int[] range : WIDE) {
      if (c >= range[0] && c <= range[1]) {
        return 2;
      }
    }
    return 1;
  }

  /**
   * The text on one line, with a visible sign in place of each character that steers a terminal or
   * turns the reading direction: text from others must not move the cursor or forge a line.
   */
  public static String printable(String text) {
    if (text.codePoints().noneMatch(Text::steers)) {
      return text;
    }
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(c -> {
          if (c == '\n') {
            out.append('⏎');
          } else if (c == '\t') {
            out.append(' ');
          } else {
            out.appendCodePoint(steers(c) ? 0xFFFD : c);
          }
        });
    return out.toString();
  }

  /** Whether a character steers a terminal, ends a line or turns the reading direction. */
  static boolean steers(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }

  /** The text, or its beginning and an ellipsis, in at most {@code cells} cells. */
  public static String cut(String text, int cells) {
    return width(text) <= cells ? text : head(text, cells - 1) + "…";
  }

  /** The text in lines of at most {@code cells} cells, broken at spaces where there are any. */
  public static List<String> wrap(String text, int cells) {
    List<String> lines = new ArrayList<>();
    String rest = text;
    while (width(rest) > cells) {
      String line = head(rest, cells);
      int space = rest.startsWith(" ", line.length()) ? line.length() : line.lastIndexOf(' ');
      int end =
          space > 0 ? space : Math.max(line.length(), Character.charCount(rest.codePointAt(0)));
      lines.add(rest.substring(0, end).stripTrailing());
      rest = rest.substring(end).stripLeading();
    }
    if (!rest.isEmpty() || lines.isEmpty()) {
      lines.add(rest);
    }
    return lines;
  }

  /** The text in lines of at most {@code cells} cells, every space kept: for what is signed. */
  public static List<String> fold(String text, int cells) {
    List<String> lines = new ArrayList<>();
    int from = 0;
    int used = 0;
    for (int at = 0; at < text.length(); ) {
      int c = text.codePointAt(at);
      if (used + width(c) > cells && at > from) {
        lines.add(text.substring(from, at));
        from = at;
        used = 0;
      }
      used += width(c);
      at += Character.charCount(c);
    }
    lines.add(text.substring(from));
    return lines;
  }

  private static String head(String text, int cells) {
    int used = 0;
    int at = 0;
    while (at < text.length()) {
      int c = text.codePointAt(at);
      used += width(c);
      if (used > cells) {
        break;
      }
      at += Character.charCount(c);
    }
    return text.substring(0, at);
  }

  /** The text and spaces up to {@code cells} cells. */
  static String pad(String text, int cells) {
    return text + " ".repeat(Math.max(0, cells - width(text)));
  }
}
