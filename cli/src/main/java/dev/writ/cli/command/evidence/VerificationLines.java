package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import java.util.List;
import java.util.Optional;

/** What was verified, what was not, and the failure: a line each. */
final class VerificationLines {
  private VerificationLines() {}

  static void print(
      List<String> verified,
      List<String> notVerified,
      Optional<WritException> failure,
      Terminal terminal) {
    verified.forEach(line -> terminal.out().println("verified      " + Text.printable(line)));
    notVerified.forEach(line -> terminal.out().println("not verified  " + Text.printable(line)));
    failure.ifPresent(e ->
        terminal
            .out()
            .println(
                terminal.paint(Style.BAD, "FAILED") + "        " + Text.printable(e.getMessage())));
  }
}
