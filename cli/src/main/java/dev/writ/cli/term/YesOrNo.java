package dev.writ.cli.term;

import java.io.IOException;
import java.util.List;
import java.util.Locale;

/** A question to the person at the terminal that is answered by yes or no. */
public final class YesOrNo {
  private static final List<String> YES = List.of("y", "yes");

  /** Of a longer answer the rest is read and forgotten. */
  private static final int ANSWER_MAX = 8;

  private YesOrNo() {}

  /**
   * Asks beside the data.
   *
   * @return whether the answer is y or yes; nothing, the end of the input and anything else are no
   */
  public static boolean ask(Terminal terminal, String question) throws IOException {
    terminal.out().flush();
    terminal.err().print(question + " [y/N] ");
    terminal.err().flush();
    StringBuilder answer = new StringBuilder();
    int c = terminal.in().read();
    while (c >= 0 && c != '\n') {
      if (answer.length() < ANSWER_MAX) {
        answer.append((char) c);
      }
      c = terminal.in().read();
    }
    if (c < 0) {
      terminal.err().println();
      return false;
    }
    return YES.contains(answer.toString().strip().toLowerCase(Locale.ROOT));
  }
}
