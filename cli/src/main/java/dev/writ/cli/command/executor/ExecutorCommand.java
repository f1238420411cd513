package dev.writ.cli.command.executor;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import java.util.List;

/** {@code writ executor}: an executor apart from its guardian (spec/apart.md). */
public final class ExecutorCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "executor",
        "Run tools in a process of their own, with a key and a log of its own, which believes"
            + " nothing but signatures.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    throw new IllegalStateException("a group of commands");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new ExecutorInit(),
        new ExecutorEnrol(),
        new ExecutorJoin(),
        new ExecutorServe(),
        new ExecutorCompare());
  }
}
