package dev.writ.cli.command;

import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import java.util.List;

/** What an examination of a ledger found, a line each. */
public final class FoundLines {
  private FoundLines() {}

  public static void print(
      List<String> verified, List<String> notVerified, List<?> problems, Terminal terminal) {
    verified.forEach(line -> terminal.out().println("verified      " + line));
    notVerified.forEach(line -> terminal.out().println("not verified  " + line));
    problems.forEach(problem ->
        terminal.out().println(terminal.paint(Style.BAD, "PROBLEM") + "       " + problem));
  }
}
