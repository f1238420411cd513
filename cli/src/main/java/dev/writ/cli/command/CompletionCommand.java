package dev.writ.cli.command;

import dev.writ.cli.Arguments;
import dev.writ.cli.Cli;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Session;
import dev.writ.cli.Usage;
import java.util.List;
import picocli.AutoComplete;

/** {@code writ completion}: a script that completes commands and options in a shell. */
public final class CompletionCommand implements CliCommand {
  private static final List<String> SHELLS = List.of("bash", "zsh");

  @Override
  public Usage usage() {
    return Usage.of(
            "completion",
            "Print a completion script for bash or zsh.",
            "Use it by: source <(writ completion bash)")
        .optionalArgument("SHELL", "bash or zsh; the same script serves both.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Arguments.oneOf("SHELL", arguments.optionalArgument("SHELL").orElse("bash"), SHELLS);
    session.terminal().out().print(AutoComplete.bash("writ", Cli.commandLine(session)));
    return ExitCode.OK;
  }
}
