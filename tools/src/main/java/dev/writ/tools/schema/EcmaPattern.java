package dev.writ.tools.schema;

import dev.writ.guardian.ToolSchemas;
import java.util.Locale;
import java.util.Optional;

/**
 * A pattern of a JSON Schema of others, which means it as ECMA-262 does (with its flag {@code u}),
 * as one that means the same to RE2 and still the same to ECMA-262. Read once from left to right:
 * the pattern is a stranger's, and so is its length.
 */
public final class EcmaPattern {
  private static final int LENGTH_MAX = 1_000;
  private static final int REPEAT_MAX = 1_000;

  /** What {@code .} is to ECMA-262: RE2's takes the other ends of lines, too. */
  private static final String DOT = "[^\\n\\r\\p{Zl}\\p{Zp}]";

  /** What {@code \s} is to ECMA-262, within brackets. */
  private static final String SPACES = "\\t-\\r\\p{Z}\ufeff";

  private static final String ITSELF = "^$\\.*+?()[]{}|/-";

  private final String source;
  private final StringBuilder text = new StringBuilder();
  private int at;
  private boolean dot;
  private boolean valid = true;

  /**
   * @param exact means exactly the same
   * @param loose as a reader expects it: accepts what {@code exact} does, and where {@code .} meets
   *     a carriage return or a separator of lines, more
   */
  public record Held(String exact, String loose) {}

  private EcmaPattern(String source) {
    this.source = source;
  }

  /** Empty where no pattern of RE2 is known to mean the same. */
  public static Optional<Held> of(String source) {
    if (source.length() > LENGTH_MAX) {
      return Optional.empty();
    }
    EcmaPattern pattern = new EcmaPattern(source);
    pattern.read();
    String exact = pattern.text.toString();
    if (!pattern.valid || !ToolSchemas.isPattern(exact)) {
      return Optional.empty();
    }
    return Optional.of(new Held(exact, pattern.dot ? exact.replace(DOT, ".") : exact));
  }

  private boolean isEnd() {
    return at >= source.length();
  }

  private char peek() {
    return isEnd() ? '\0' : source.charAt(at);
  }

  private boolean take(String expected) {
    if (!source.startsWith(expected, at)) {
      return false;
    }
    at += expected.length();
    return true;
  }

  private void read() {
    boolean repeatable = false;
    while (valid && !isEnd()) {
      char c = source.charAt(at);
      at++;
      switch (c) {
        case '^', '$', '|' -> {
          text.append(c);
          repeatable = false;
        }
        case '(' -> {
          text.append(take("?:") ? "(?:" : "(");
          valid &= peek() != '?';
          repeatable = false;
        }
        case ')' -> {
          text.append(c);
          repeatable = true;
        }
        case '.' -> {
          text.append(DOT);
          dot = true;
          repeatable = true;
        }
        case '[' -> {
          brackets();
          repeatable = true;
        }
        case '\\' -> repeatable = escape();
        case '*', '+', '?', '{' -> {
          valid &= repeatable;
          repeat(c);
          repeatable = false;
        }
        case ']', '}' -> valid = false;
        default -> {
          text.append(c);
          repeatable = true;
        }
      }
    }
  }

  private void repeat(char c) {
    text.append(c);
    if (c == '{') {
      int least = number();
      int most = least;
      text.append(least);
      if (take(",")) {
        text.append(',');
        if (peek() != '}') {
          most = number();
          text.append(most);
        }
      }
      valid &= least <= most && take("}");
      text.append('}');
    }
    if (take("?")) {
      text.append('?');
    }
  }

  private int number() {
    int digits = at;
    while (Character.isDigit(peek()) && at - digits < 5) {
      at++;
    }
    int number = at == digits ? -1 : Integer.parseInt(source.substring(digits, at));
    valid &= number >= 0 && number <= REPEAT_MAX;
    return number;
  }

  /** An escape outside of brackets; whether it may be repeated. */
  private boolean escape() {
    char c = peek();
    at++;
    switch (c) {
      case 'd', 'D', 'w', 'W' -> text.append('\\').append(c);
      case 'b', 'B' -> {
        text.append('\\').append(c);
        return false;
      }
      case 's' -> text.append('[').append(SPACES).append(']');
      case 'S' -> text.append("[^").append(SPACES).append(']');
      default -> text.append(character(c));
    }
    return true;
  }

  /** An escape that stands for one character. */
  private String character(char c) {
    if ("tnvfr".indexOf(c) >= 0) {
      return "\\" + c;
    }
    if (c == 'x' || c == 'u') {
      return coded(c == 'x' ? 2 : 4);
    }
    valid &= ITSELF.indexOf(c) >= 0 && c != '\0';
    return "\\" + c;
  }

  /** By its number: as it is, or escaped where it has a meaning of its own. */
  private String coded(int digits) {
    if (at + digits > source.length()) {
      valid = false;
      return "";
    }
    String hex = source.substring(at, at + digits);
    if (!hex.matches("[0-9A-Fa-f]+")) { // by a code point in braces, too: seldom written
      valid = false;
      return "";
    }
    at += digits;
    char found = (char) Integer.parseInt(hex, 16);
    valid &= !Character.isSurrogate(found);
    if (found < 0x80) {
      return String.format(Locale.ROOT, "\\x%02x", (int) found);
    }
    return String.valueOf(found);
  }

  /** From behind the bracket that opens to the one that closes. */
  private void brackets() {
    text.append('[');
    if (take("^")) {
      text.append('^');
    }
    valid &= peek() != ']'; // nothing, or anything: RE2 reads on
    boolean range = false; // whether what comes next ends one
    boolean single = false; // whether what was before can begin one
    while (valid && peek() != ']') {
      if (isEnd()) {
        valid = false;
        return;
      }
      if (single && !range && peek() == '-' && !source.startsWith("-]", at)) {
        at++;
        text.append('-');
        range = true;
        continue;
      }
      boolean one = member();
      valid &= one || !range && (peek() != '-' || source.startsWith("-]", at));
      single = one && !range;
      range = false;
    }
    at++;
    text.append(']');
  }

  /** One member of a class; whether it is a single character. */
  private boolean member() {
    char c = peek();
    at++;
    if (c == '\\') {
      char escaped = peek();
      at++;
      switch (escaped) {
        case 'd', 'D', 'w', 'W' -> {
          text.append('\\').append(escaped);
          return false;
        }
        case 's' -> {
          text.append(SPACES);
          return false;
        }
        default -> text.append(character(escaped));
      }
    } else if (c == '[' || c == '-' || c == '^') {
      text.append('\\').append(c);
    } else {
      text.append(c);
      if (Character.isHighSurrogate(c) && Character.isLowSurrogate(peek())) {
        text.append(peek());
        at++;
      }
    }
    return true;
  }
}
