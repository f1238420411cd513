package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.PlainLine;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Ordinary command lines are read without picocli, and must mean what they mean to it. */
class PlainLinesAreReadAsPicocliReadsThemTest {
  private static final List<String> ODD =
      List.of("", "-", "--", "x", "a=b", "-x", "@f", "\"q\"", "${sys:x}", "--home", "list", "run");

  private final Session session =
      new Session(
          new Terminal(
              InputStream.nullInputStream(),
              OutputStream.nullOutputStream(),
              OutputStream.nullOutputStream(),
              "",
              Map.of()),
          Map.of());

  /** What a line means: the command, the data directory, and what was given. */
  private record Meaning(Object command, Optional<String> home, boolean json, Arguments given) {}

  private static Optional<Meaning> byPicocli(CommandLine whole, List<String> line) {
    ParseResult result;
    try {
      result = whole.parseArgs(line.toArray(String[]::new));
    } catch (ParameterException e) {
      return Optional.empty();
    }
    Optional<String> home = Optional.empty();
    for (ParseResult at = result; at != null; at = at.hasSubcommand() ? at.subcommand() : null) {
      result = at;
      home =
          Optional.ofNullable(at.<String>matchedOptionValue("--home", null))
              .or(List.of(home)::getFirst);
    }
    if (result.isUsageHelpRequested()
        || result.isVersionHelpRequested()
        || !(result.commandSpec().userObject() instanceof CliCommand command)
        || !command.runsByItself()) {
      return Optional.empty();
    }
    return Optional.of(
        new Meaning(
            command.getClass(),
            home,
            line.contains("--json"),
            Arguments.of(command.usage(), result)));
  }

  private static Optional<Meaning> plainly(List<String> line) {
    List<CliCommand> meant = Commands.meantBy(line, Commands.ALL);
    return (meant.size() == 1
            ? PlainLine.read(meant.getFirst(), line)
            : Optional.<PlainLine>empty())
        .map(plain ->
            new Meaning(
                plain.command().getClass(),
                plain.home(),
                line.contains("--json"),
                plain.arguments()));
  }

  @Test
  void whereTheyAreReadAtAll() {
    Random random = new Random(20_261_124);
    int plain = 0;
    int left = 0;
    CommandLine whole = Cli.commandLine(session);
    for (CommandLine command : List.copyOf(whole.getSubcommands().values())) {
      for (int i = 0; i < 150; i++) {
        List<String> line = line(command, random);
        Optional<Meaning> ours = plainly(line);
        if (ours.isPresent()) {
          plain++;
          assertThat(ours).as(line.toString()).isEqualTo(byPicocli(Cli.commandLine(session), line));
        } else {
          left++;
        }
      }
    }
    assertThat(plain).as("lines that were read plainly").isGreaterThan(1000);
    assertThat(left).as("lines that were left to picocli").isGreaterThan(1000);
  }

  private static List<String> line(CommandLine command, Random random) {
    List<String> line = new ArrayList<>();
    if (random.nextInt(4) == 0) {
      line.addAll(List.of("--home", "here"));
    }
    CommandLine at = command;
    line.add(at.getCommandName());
    while (!at.getSubcommands().isEmpty() && random.nextInt(8) > 0) {
      List<CommandLine> below = List.copyOf(at.getSubcommands().values());
      at = below.get(random.nextInt(below.size()));
      line.add(at.getCommandName());
    }
    CommandSpec spec = at.getCommandSpec();
    int words = spec.positionalParameters().size() + (random.nextInt(5) == 0 ? 1 : 0);
    List<List<String>> parts = new ArrayList<>();
    for (int i = 0; i < words; i++) {
      parts.add(List.of(value(random)));
    }
    for (OptionSpec option : spec.options()) {
      for (int n = random.nextInt(6); n > 3; n--) {
        String name = option.longestName();
        if (option.arity().max() == 0) {
          parts.add(List.of(name));
        } else {
          parts.add(
              random.nextInt(10) == 0
                  ? List.of(name + "=" + value(random))
                  : List.of(name, value(random)));
        }
      }
    }
    while (!parts.isEmpty()) {
      line.addAll(parts.remove(random.nextInt(parts.size())));
    }
    return line;
  }

  private static String value(Random random) {
    return random.nextInt(8) == 0 ? ODD.get(random.nextInt(ODD.size())) : "v" + random.nextInt(9);
  }

  @Test
  void whatUsersTypeMostIsPlain() {
    for (String line :
        List.of(
            "version",
            "verify run.writ --trust trust.jwks",
            "--home h run js --param source=6*7",
            "run js --param a=1 --param b=2 --json",
            "receipts --last 5",
            "show abcdef",
            "canon -")) {
      assertThat(plainly(List.of(line.split(" ")))).as(line).isPresent();
    }
  }

  @Test
  void helpMistakesAndOtherWaysOfWritingAreLeftToPicocli() {
    for (String line :
        List.of(
            "verify --help",
            "verify -h",
            "--version",
            "verify",
            "verify a b",
            "verify a --trust",
            "verify a --trust --closed",
            "verify a --trust=b",
            "verify a --closed --closed",
            "verify a --trust b --trust c",
            "--home a verify b --home c",
            "--closed verify a",
            "key",
            "frobnicate",
            "verify -- a")) {
      assertThat(plainly(List.of(line.split(" ")))).as(line).isEmpty();
    }
  }
}
