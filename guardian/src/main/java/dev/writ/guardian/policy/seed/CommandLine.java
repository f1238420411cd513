package dev.writ.guardian.policy.seed;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads a command line as a list of words, as a POSIX shell would read one without expansions. A
 * line that needs a shell is not read as plain words: there is a word list only if {@code sh -c}
 * with the same line would run exactly these words.
 *
 * @param words the words; empty if a shell is needed
 * @param needsShell the first character that has a meaning only in a shell
 */
public record CommandLine(List<String> words, Optional<Character> needsShell) {
  private static final String SPECIAL = "|&;<>()$`*?[]{}!\n\r";
  private static final String SPECIAL_AT_START = "#~";

  public CommandLine {
    words = List.copyOf(words);
  }

  /** Empty where a quote is not closed, or where it holds characters that no argument may. */
  public static Optional<CommandLine> parse(String text) {
    return text.indexOf('\0') >= 0 ? Optional.empty() : new Reader(text).read();
  }

  /** The program of a plain line. */
  public Optional<String> program() {
    return words.stream().findFirst();
  }

  /** One pass over the text. */
  private static final class Reader {
    private final String text;
    private final List<String> words = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private int at;
    private Optional<Character> special = Optional.empty();

    Reader(String text) {
      this.text = text;
    }

    Optional<CommandLine> read() {
      while (at < text.length()) {
        char c = text.charAt(at++);
        if (c == '\'' || c == '"') {
          inWord = true;
          if (!(c == '\'' ? singleQuoted() : doubleQuoted())) {
            return Optional.empty();
          }
        } else if (c == '\\') {
          if (at == text.length()) {
            return Optional.empty();
          }
          escaped(text.charAt(at++));
        } else if (c == ' ' || c == '\t') {
          endWord();
        } else {
          plain(c);
        }
      }
      endWord();
      return Optional.of(
          special.isPresent()
              ? new CommandLine(List.of(), special)
              : new CommandLine(words, Optional.empty()));
    }

    private void plain(char c) {
      boolean assigns = c == '=' && words.isEmpty();
      if (SPECIAL.indexOf(c) >= 0 || (!inWord && SPECIAL_AT_START.indexOf(c) >= 0) || assigns) {
        special(c);
      }
      append(c);
    }

    /** A backslash before a line end joins two lines: that needs a shell. */
    private void escaped(char c) {
      if (c == '\n' || c == '\r') {
        special(c);
      }
      append(c);
    }

    private boolean singleQuoted() {
      int end = text.indexOf('\'', at);
      if (end < 0) {
        return false;
      }
      word.append(text, at, end);
      at = end + 1;
      return true;
    }

    private boolean doubleQuoted() {
      while (at < text.length()) {
        char c = text.charAt(at++);
        if (c == '"') {
          return true;
        }
        if (c == '\\' && at < text.length() && "$`\"\\\n".indexOf(text.charAt(at)) >= 0) {
          escaped(text.charAt(at++));
        } else {
          if (c == '$' || c == '`') {
            special(c);
          }
          append(c);
        }
      }
      return false;
    }

    private void append(char c) {
      inWord = true;
      word.append(c);
    }

    private void endWord() {
      if (inWord) {
        words.add(word.toString());
        word.setLength(0);
        inWord = false;
      }
    }

    private void special(char c) {
      if (special.isEmpty()) {
        special = Optional.of(c);
      }
    }
  }
}
