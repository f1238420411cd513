package dev.writ.cli;

import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** One command line, run in this JVM with captured streams. */
public record Run(int status, String out, String err) {

  public static Run of(String... args) {
    return on("", "", Map.of(), Commands.ALL, args);
  }

  public static Run in(Map<String, String> environment, String... args) {
    return on("", "", environment, Commands.ALL, args);
  }

  static Run withInput(String input, String... args) {
    return on(input, "", Map.of(), Commands.ALL, args);
  }

  /**
   * @param terminals as in {@link Terminal}
   */
  static Run on(
      String input,
      String terminals,
      Map<String, String> environment,
      List<CliCommand> commands,
      String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Terminal terminal =
        new Terminal(
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            out,
            err,
            terminals,
            environment);
    int status = new Cli(new Session(terminal, environment), commands).run(args);
    return new Run(
        status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }
}
