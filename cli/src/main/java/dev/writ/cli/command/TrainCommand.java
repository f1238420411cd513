package dev.writ.cli.command;

import dev.writ.cli.Arguments;
import dev.writ.cli.Cli;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Session;
import dev.writ.cli.Usage;
import dev.writ.cli.term.Terminal;
import java.io.ByteArrayInputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * {@code writ train}, hidden: runs what people run, for nothing, so that the launcher's build can
 * keep the classes that this loads in the AOT cache.
 */
public final class TrainCommand implements CliCommand {
  private static final List<List<String>> RUNS =
      List.of(
          List.of("--help"),
          List.of("--version"),
          List.of("version"),
          List.of("canon", "-"),
          List.of("canon", "--json", "-"),
          List.of("no-such-command"));

  @Override
  public Usage usage() {
    return Usage.of("train", "Load what commands need, for the AOT cache.").hidden();
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    for (List<String> args : RUNS) {
      Terminal terminal =
          new Terminal(
              new ByteArrayInputStream(
                  "{\"b\":[1.5e3,\"é\"],\"a\":null}".getBytes(StandardCharsets.UTF_8)),
              OutputStream.nullOutputStream(),
              OutputStream.nullOutputStream(),
              "out,err",
              session.environment());
      new Cli(new Session(terminal, session.environment())).run(args.toArray(String[]::new));
    }
    return ExitCode.OK;
  }
}
