package dev.writ.cli.base;

import java.util.List;

/** Commands under one name that does nothing by itself, as {@code writ key} is. */
public interface CommandGroup extends CliCommand {
  @Override
  List<CliCommand> subcommands();

  /** Never called: the usage of the group is printed instead. */
  @Override
  default ExitCode run(Session session, Arguments arguments) {
    throw new IllegalStateException("a group of commands");
  }
}
