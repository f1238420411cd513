package dev.writ.cli.command.cells;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.JoinFile;
import java.nio.file.Path;

/**
 * {@code writ cells invite}: the file by which further gateways join (spec/cells.md, "Joining").
 */
final class CellsInvite implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "invite",
            "Write a file by which further gateways join this installation: `writ init --join`"
                + " takes it, on any machine and any number of times.",
            "It has the private keys of this home, its secrets, policy and tools: keep it as you"
                + " keep the home itself.")
        .argument("FILE", "The file to make, which only you can read.")
        .example("cells invite gateway.join");
  }

  /** Where the file is. */
  record Invitation(Path file) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("file", file.toString()).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    JoinFile join = JoinFile.of(Homes.home(session));
    Path file = Path.of(arguments.argument("FILE"));
    OutputFile.write(file, join::to);
    session.show(
        new Invitation(file),
        (made, terminal) ->
            terminal
                .out()
                .println(
                    "Made "
                        + Text.printable(made.file().toString())
                        + ", which has private keys. Where a further gateway is to be:  "
                        + Homes.name()
                        + " init --join FILE"));
    return ExitCode.OK;
  }
}
