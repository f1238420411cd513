package dev.writ.cli.command;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import java.util.List;
import java.util.function.Function;
import picocli.AutoComplete;
import picocli.CommandLine;

/** {@code writ completion}: a script that completes commands and options in a shell. */
public final class CompletionCommand implements CliCommand {
  private static final List<String> SHELLS = List.of("bash", "zsh");

  private final Function<Session, CommandLine> commands;

  /**
   * @param commands the whole command line
   */
  public CompletionCommand(Function<Session, CommandLine> commands) {
    this.commands = commands;
  }

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "completion",
            "Print a completion script for bash or zsh.",
            "Use it by: source <(writ completion bash)")
        .optionalArgument("SHELL", "bash or zsh; the same script serves both.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Arguments.oneOf("SHELL", arguments.optionalArgument("SHELL").orElse("bash"), SHELLS);
    session.terminal().out().print(AutoComplete.bash("writ", commands.apply(session)));
    return ExitCode.OK;
  }
}
