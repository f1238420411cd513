package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.error.EmbedError;
import dev.writ.verify.bundle.Bundle;
import java.nio.file.Files;
import java.nio.file.Path;

/** {@code writ inspect}: what a bundle says of itself; needs no data directory. */
public final class InspectCommand implements CliCommand {
  private static final int LABEL = 12;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "inspect",
            "Show what a bundle says of itself: run, period, verdicts, receipts, tools, subjects,"
                + " keys, checkpoint, sizes.",
            "It verifies nothing; `writ verify` does.")
        .argument("BUNDLE", "The bundle.");
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String name = arguments.argument("BUNDLE");
    if (!Files.isRegularFile(Path.of(name))) {
      throw new WritException(EmbedError.FILE_UNREADABLE, name + " is no file");
    }
    InspectedBundle inspected;
    try (Bundle bundle = Bundle.open(Path.of(name))) {
      inspected = InspectedBundle.read(bundle);
    }
    session.show(inspected, (seen, terminal) -> print(seen, terminal, name));
    return ExitCode.OK;
  }

  private static void print(InspectedBundle seen, Terminal terminal, String name) {
    seen.lines()
        .forEach(line -> {
          String head = line.label() + " ".repeat(LABEL - line.label().length());
          int cells = terminal.outIsTerminal() ? terminal.width() - LABEL : Integer.MAX_VALUE;
          for (String part : Text.fold(Text.printable(line.value()), cells)) {
            terminal.out().println(terminal.paint(Style.DIM, head) + part);
            head = " ".repeat(LABEL);
          }
        });
    terminal.out().flush();
    terminal
        .err()
        .println(
            "Nothing of this is verified; to do that: "
                + Homes.name()
                + " verify "
                + Text.printable(name));
  }
}
