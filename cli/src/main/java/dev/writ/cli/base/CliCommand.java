package dev.writ.cli.base;

import java.io.IOException;
import java.util.List;

/**
 * One command, listed in {@code Commands}. It keeps nothing between runs. A refusal is a {@link
 * dev.writ.canonicalize.WritException}, thrown; {@code Cli} prints it and sets the exit status.
 */
public interface CliCommand {
  /** Its name, what it takes, and what it is for. */
  CommandUsage usage();

  /** Runs it; never called on a group of commands that does not run by itself. */
  ExitCode run(Session session, Arguments arguments) throws IOException;

  /** Whether it is a command although there are others below it, as {@code writ mcp} is. */
  default boolean runsByItself() {
    return subcommands().isEmpty();
  }

  /**
   * Whether the process may end without the shutdown of the JVM when this is done, which takes as
   * long as a short command: nothing that it uses has something to do then.
   */
  default boolean endsAtOnce() {
    return false;
  }

  /** Commands below this one, as in {@code writ key list}. */
  default List<CliCommand> subcommands() {
    return List.of();
  }
}
