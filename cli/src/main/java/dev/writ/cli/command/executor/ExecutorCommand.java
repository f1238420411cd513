package dev.writ.cli.command.executor;

import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import java.util.List;

/** {@code writ executor}: an executor apart from its guardian (spec/apart.md). */
public final class ExecutorCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "executor",
        "Run tools in a process of their own, with a key and a log of its own, which believes"
            + " nothing but signatures.");
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
