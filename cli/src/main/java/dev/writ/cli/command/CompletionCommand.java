package dev.writ.cli.command;

import dev.writ.cli.Cli;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Session;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code writ completion}: a script that completes commands and options in a shell. */
@Command(
    name = "completion",
    description = {
      "Print a completion script for bash or zsh.",
      "Use it by: source <(writ completion bash)"
    })
public final class CompletionCommand implements CliCommand {
  /** The shells that the script serves. */
  enum Shell {
    bash,
    zsh
  }

  private final Session session;

  @Parameters(
      paramLabel = "SHELL",
      defaultValue = "bash",
      description = "${COMPLETION-CANDIDATES}; the same script serves both.")
  private Shell shell;

  public CompletionCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    session.terminal().out().print(AutoComplete.bash("writ", Cli.commandLine(session)));
    return ExitCode.OK;
  }
}
