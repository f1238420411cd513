package dev.writ.conform.run;

import dev.writ.canonicalize.WritException;
import dev.writ.conform.ConformError;
import java.util.ArrayList;
import java.util.List;

/** Splits a command as a shell does where nothing is expanded: words, quotes, backslashes. */
final class AdapterCommand {
  private AdapterCommand() {}

  /**
   * @throws WritException {@code CNF-010} for an open quote or no word at all
   */
  static List<String> split(String command) {
    List<String> words = new ArrayList<>();
    StringBuilder word = new StringBuilder();
    boolean inWord = false;
    char quote = 0;
    for (int i = 0; i < command.length(); i++) {
      char c = command.charAt(i);
      if (quote != 0) {
        if (c == quote) {
          quote = 0;
        } else {
          word.append(c);
        }
      } else if (c == '"' || c == '\'') {
        quote = c;
        inWord = true;
      } else if (c == '\\' && i + 1 < command.length()) {
        word.append(command.charAt(++i));
        inWord = true;
      } else if (c == ' ' || c == '\t') {
        if (inWord) {
          words.add(word.toString());
          word.setLength(0);
          inWord = false;
        }
      } else {
        word.append(c);
        inWord = true;
      }
    }
    if (inWord) {
      words.add(word.toString());
    }
    if (quote != 0 || words.isEmpty()) {
      throw new WritException(
          ConformError.COMMAND, quote != 0 ? "a quote is not closed" : "it is empty");
    }
    return words;
  }
}
