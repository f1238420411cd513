package dev.writ.cli.command.machine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import java.util.List;
import java.util.function.Function;
import picocli.AutoComplete;
import picocli.CommandLine;

/** {@code writ completion}: a script that completes commands and options in a shell. */
public final class CompletionCommand implements CliCommand {
  private static final List<String> SHELLS = List.of("bash", "fish", "zsh");

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
            "Print a completion script for bash, zsh or fish.",
            "Use it by: source <(writ completion bash), or in fish by: writ completion fish |"
                + " source")
        .optionalArgument(
            "SHELL", "bash, zsh or fish (default: bash, whose script serves zsh too).");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String shell = arguments.optionalArgument("SHELL").orElse("bash");
    Arguments.oneOf("SHELL", shell, SHELLS);
    session.show(
        new Script(shell, script(shell, commands.apply(session))),
        (script, terminal) -> terminal.out().print(script.text()));
    return ExitCode.OK;
  }

  private record Script(String shell, String text) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("script", text).put("shell", shell).build();
    }
  }

  /**
   * A script.
   *
   * @param root the whole command line
   */
  static String script(String shell, CommandLine root) {
    return shell.equals("fish") ? FishCompletion.of(root) : AutoComplete.bash("writ", root);
  }
}
