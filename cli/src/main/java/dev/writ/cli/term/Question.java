package dev.writ.cli.term;

import java.io.ByteArrayOutputStream;
import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** A question to the person at the terminal that is answered by a line. Asked beside the data. */
public final class Question {
  /** Of a longer answer the rest is read and forgotten. */
  private static final int ANSWER_MAX = 4096;

  private Question() {}

  /** The answer without white space around it; empty at the end of the input. */
  public static String line(Terminal terminal, String question) throws IOException {
    terminal.out().flush();
    terminal.err().print(question);
    terminal.err().flush();
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    int c = terminal.in().read();
    while (c >= 0 && c != '\n') {
      if (answer.size() < ANSWER_MAX) {
        answer.write(c);
      }
      c = terminal.in().read();
    }
    if (c < 0) {
      terminal.err().println();
    }
    return answer.toString(StandardCharsets.UTF_8).strip();
  }

  /**
   * The answer, which the terminal does not show while it is typed.
   *
   * @return empty where it could not be hidden, and so was not asked for
   */
  public static Optional<char[]> secret(Terminal terminal, String question) throws IOException {
    if (terminal.in() != System.in) {
      return Optional.of(line(terminal, question).toCharArray()); // no terminal that shows anything
    }
    Console console = System.console();
    if (console == null) {
      return Optional.empty();
    }
    terminal.out().flush();
    terminal.err().flush();
    return Optional.ofNullable(console.readPassword("%s", question));
  }
}
