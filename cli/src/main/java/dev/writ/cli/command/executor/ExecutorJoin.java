package dev.writ.cli.command.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.GuardianCard;
import java.nio.file.Path;

/** {@code writ executor join}: begins the executor's log. */
final class ExecutorJoin implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "join",
            "Begin the executor's log with a copy of its guardian's system run: keys, policies and"
                + " tools in force, each document of it verified.",
            "All of it rests on the first operator's key, whose id the guardian's operator tells.")
        .argument("FILE", "What `writ executor enrol` wrote on the guardian.")
        .option("--operator", "KEY-ID", "The id of the first operator's key; required.")
        .example("--home executor-home executor join guardian.apart --operator KEY-ID");
  }

  record Joined(String guardian, String executor) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("executor", executor).put("guardian", guardian).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    GuardianCard guardian = GuardianCard.read(Path.of(arguments.argument("FILE")));
    String operator = ExecutorEnrol.required(arguments, "--operator");
    String found = ExecutorEnrol.founder(guardian);
    if (!found.equals(operator)) {
      throw new WritException(
          CliError.USAGE, "the first operator's key is " + found + ", not " + operator);
    }
    ApartHomes.join(Homes.place(session), guardian, Homes.clock());
    session.show(
        new Joined(guardian.log().name(), Homes.home(session).origin()),
        (joined, terminal) ->
            terminal
                .out()
                .println("the log " + joined.executor() + " serves " + joined.guardian()));
    return ExitCode.OK;
  }
}
