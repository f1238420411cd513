package dev.writ.cli;

import java.io.IOException;
import java.util.List;

/**
 * One command: a class with picocli's annotations for its options, listed in {@link Commands}. A
 * refusal is a {@link dev.writ.canonicalize.WritException}; {@link Cli} says it.
 */
public interface CliCommand {
  /** Does it. */
  ExitCode run() throws IOException;

  /** Commands below this one, as in {@code writ key list}. */
  default List<CliCommand> subcommands() {
    return List.of();
  }
}
