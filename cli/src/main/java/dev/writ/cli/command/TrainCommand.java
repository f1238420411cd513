package dev.writ.cli.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.cli.Arguments;
import dev.writ.cli.Cli;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Session;
import dev.writ.cli.Usage;
import dev.writ.cli.term.Terminal;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

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
          List.of("no-such-command"),
          List.of("init"),
          List.of("run", "js", "--param", "source='6*7'"),
          List.of("run", "js", "--param", "source=process.exit"),
          List.of("receipts"),
          List.of("runs"),
          List.of("tool", "list"),
          List.of("policy", "show"));

  @Override
  public Usage usage() {
    return Usage.of("train", "Load what commands need, for the AOT cache.").hidden();
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    Path folder = Files.createTempDirectory("writ-train");
    try {
      for (List<String> args : RUNS) {
        List<String> line = new ArrayList<>(List.of("--home", folder.resolve("home").toString()));
        line.addAll(args);
        quietly(session, line);
      }
    } finally {
      delete(folder);
    }
    return ExitCode.OK;
  }

  private static void quietly(Session session, List<String> line) {
    Terminal terminal =
        new Terminal(
            new ByteArrayInputStream("{\"b\":[1.5e3,\"é\"],\"a\":null}".getBytes(UTF_8)),
            OutputStream.nullOutputStream(),
            OutputStream.nullOutputStream(),
            "out,err",
            session.environment());
    new Cli(new Session(terminal, session.environment())).run(line.toArray(String[]::new));
  }

  private static void delete(Path folder) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(folder)) {
      all = files.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : all) {
      Files.delete(file);
    }
  }
}
