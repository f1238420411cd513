package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.sandbox.Guarantee;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {

  static List<String> commandNames() {
    return Commands.ALL.stream().map(c -> c.usage().name()).toList();
  }

  @ParameterizedTest
  @MethodSource("commandNames")
  void everyCommandHasHelpThatNamesItselfAndTheSharedOptions(String name) {
    Run run = Run.of(name, "--help");
    assertThat(run.status()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out()).startsWith("Usage: writ " + name).contains("--home", "--json", "--help");
  }

  @Test
  void helpListsTheCommandsThatAreForPeopleAndEveryExitStatus() {
    Run run = Run.of("--help");
    assertThat(run.status()).isZero();
    for (CliCommand command : Commands.ALL) {
      String name = command.usage().name();
      boolean hidden = List.of("man", "train").contains(name);
      assertThat(run.out().contains("\n  " + name + " ")).as(name).isNotEqualTo(hidden);
    }
    for (ExitCode code : ExitCode.values()) {
      assertThat(run.out()).contains("   " + code.status() + " ");
    }
  }

  @Test
  void nothingAtAllIsAMistakeThatShowsHelpBesideTheData() {
    Run run = Run.of();
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("Usage: writ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "frobnicate",
        "--frobnicate",
        "canon",
        "canon a b",
        "canon --digset a",
        "canon --digest=1 a",
        "version more",
        "completion tcsh",
        "--home",
        "version --home",
        "version --home a --home b",
        "\u001b[31mred",
      })
  void whatIsNotUnderstoodIsOneLineWithACodeAndStatus2(String line) {
    Run run = Run.of(line.split(" "));
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err())
        .startsWith("writ: CLI-001 the command line is not understood: ")
        .endsWith("See writ --help, or writ COMMAND --help.\n")
        .doesNotContain("\u001b")
        .hasLineCount(1);
  }

  @Test
  void aFlagTakesNoValueSinceOneGivenAsFalseWouldBeGiven() {
    for (String flag : List.of("--json=true", "--json=false", "--digest=false", "--digest=")) {
      Run run = Run.of("canon", "-", flag);
      assertThat(run.status()).as(flag).isEqualTo(2);
      assertThat(run.err()).contains("CLI-001", flag.substring(0, flag.indexOf('=')));
    }
    assertThat(Run.of("canon", "-", "--digest=false").err())
        .contains("--digest takes no value: give it alone, or leave it out (in writ canon)");
  }

  @Test
  void anEmptyHomeIsNotTheCurrentFolder() {
    for (List<String> line : List.of(List.of("--home", "", "runs"), List.of("runs", "--home="))) {
      Run run = Run.of(line.toArray(String[]::new));
      assertThat(run.status()).isEqualTo(2);
      assertThat(run.err()).contains("--home names no directory: its value is empty");
    }
  }

  @Test
  void aParameterWithoutItsOptionIsTold() {
    assertThat(Run.of("run", "js", "source=6*7").err())
        .contains("(in writ run); did you mean --param source=6*7? See writ --help, or writ");
    assertThat(Run.of("receipts", "source=6*7").err()).doesNotContain("did you mean");
    assertThat(Run.of("run", "--", "js", "--param", "source=6*7").err())
        .contains("behind -- nothing is an option")
        .doesNotContain("did you mean");
  }

  @Test
  void aRefusalIsOneJsonObjectWhereJsonIsAskedForEvenIfTheRestIsNotUnderstood() {
    Run run = Run.of("canon", "--json", "--frobnicate");
    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    JsonValue.Obj object = (JsonValue.Obj) oneLine(run.err());
    JsonValue.Obj error = (JsonValue.Obj) object.get("error");
    assertThat(object.members()).containsOnlyKeys("error");
    assertThat(error.members()).containsOnlyKeys("code", "found", "meaning", "remedy");
    assertThat(error.get("code")).isEqualTo(JsonValue.of("CLI-001"));
  }

  @Test
  void canonPrintsTheExactBytesAndNoLineEndIntoAPipe() {
    Run run = Run.withInput("{\"b\": [1.50, \"€\"], \"a\": 1e2}\n", "canon", "-");
    assertThat(run).isEqualTo(new Run(0, "{\"a\":100,\"b\":[1.5,\"€\"]}", ""));
    assertThat(Run.on("[ ]", "out", Map.of(), Commands.ALL, "canon", "-").out()).isEqualTo("[]\n");
  }

  @Test
  void canonDigestIsTheDigestOfTheCanonicalForm(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("a.json"), "{ }");
    String digest = Jcs.digest(JsonValue.object().build()).toString();
    assertThat(Run.of("canon", "--digest", file.toString()).out()).isEqualTo(digest + "\n");
    assertThat(oneLine(Run.of("canon", "--json", file.toString()).out()))
        .isEqualTo(
            JsonValue.object()
                .put("bytes", 2)
                .put("canonical", JsonValue.object().build())
                .put("digest", digest)
                .build());
  }

  @Test
  void canonRefusesWithTheCodeOfTheParserAndPrintsNothing() {
    Run twice = Run.withInput("{\"a\":1,\"a\":2}", "canon", "-");
    assertThat(twice.status()).isEqualTo(4);
    assertThat(twice.out()).isEmpty();
    assertThat(twice.err()).startsWith("writ: CAN-004 an object names a key twice: at byte ");
    assertThat(Run.withInput("{ }", "canon", "--check", "-").err()).contains("CAN-012");
    assertThat(Run.withInput("{}", "canon", "--check", "-").status()).isZero();
    String large = " ".repeat(Limits.DEFAULT.bytesMax()) + "1";
    assertThat(Run.withInput(large, "canon", "-").err()).contains("CAN-009");
  }

  @Test
  void aFileThatCannotBeReadIsNamedWithTheReason(@TempDir Path folder) {
    Run missing = Run.of("canon", folder.resolve("none").toString());
    assertThat(missing.status()).isEqualTo(4);
    assertThat(missing.err()).contains("CLI-002", "none does not exist").hasLineCount(1);
    Run directory = Run.of("canon", folder.toString());
    assertThat(directory.status()).isEqualTo(4);
    assertThat(directory.err()).contains("CLI-002", folder.toString()).hasLineCount(1);
  }

  @Test
  void anArgumentThatBeginsWithAnAtSignIsNoFileOfArguments() {
    assertThat(Run.of("canon", "@none").err()).contains("@none does not exist");
  }

  @Test
  void theHomeIsTheOptionElseTheVariableElseWritData() {
    Map<String, String> variable = Map.of("WRIT_HOME", "/from/variable");
    assertThat(home(Map.of(), "show")).isEqualTo("writ-data");
    assertThat(home(Map.of("WRIT_HOME", ""), "show")).isEqualTo("writ-data");
    assertThat(home(variable, "show")).isEqualTo("/from/variable");
    assertThat(home(variable, "show", "--home", "a")).isEqualTo("a");
    assertThat(home(variable, "--home", "a", "show")).isEqualTo("a");
    assertThat(home(variable, "--home=a", "show")).isEqualTo("a");
  }

  private static String home(Map<String, String> environment, String... args) {
    CliCommand show =
        command(
            "show",
            session -> {
              session.terminal().out().print(session.home());
              return ExitCode.OK;
            });
    return Run.on("", "", environment, List.of(show), args).out();
  }

  @Test
  void aCommandBelowAnotherIsFoundAndTheUpperOneAloneIsAMistake() {
    CliCommand below = command("list", _ -> ExitCode.PENDING);
    CliCommand above =
        new CliCommand() {
          @Override
          public CommandUsage usage() {
            return CommandUsage.of("key", "Keys.");
          }

          @Override
          public ExitCode run(Session session, Arguments arguments) {
            throw new AssertionError("a command with subcommands is never run");
          }

          @Override
          public List<CliCommand> subcommands() {
            return List.of(below);
          }
        };
    List<CliCommand> commands = List.of(above);
    assertThat(Run.on("", "", Map.of(), commands, "key", "list").status()).isEqualTo(7);
    assertThat(Run.on("", "", Map.of(), commands, "key", "list", "--help").out())
        .startsWith("Usage: writ key list");
    Run alone = Run.on("", "", Map.of(), commands, "key");
    assertThat(alone.status()).isEqualTo(2);
    assertThat(alone.err()).contains("CLI-001", "which command of key?");
  }

  static List<Supplier<Throwable>> surprises() {
    return List.of(
        () -> new IllegalStateException("secret"),
        () -> new IOException("secret"),
        StackOverflowError::new,
        () -> new OutOfMemoryError("secret"),
        () -> new NoClassDefFoundError("secret"));
  }

  static List<Object[]> shortfalls() {
    FileSystemException files = new FileSystemException("/x", null, "Too many open files");
    return List.of(
        new Object[] {"CLI-018", new InternalError("Error loading java.security file", files)},
        new Object[] {"CLI-018", new ExceptionInInitializerError(files)},
        new Object[] {"CLI-116", new OutOfMemoryError("unable to create native thread: …")});
  }

  /** No log is asked for that nobody could learn more from. */
  @ParameterizedTest
  @MethodSource("shortfalls")
  void whatTheProcessMayHaveNoMoreOfIsNamed(String code, Throwable shortfall) {
    CliCommand bad =
        command(
            "bad",
            _ -> {
              CommandLineTest.<RuntimeException>sneak(shortfall);
              return ExitCode.OK;
            });
    Run run = Run.on("", "", Map.of(), List.of(bad), "bad");
    assertThat(run.status()).isEqualTo(6);
    assertThat(run.err())
        .startsWith("writ: " + code)
        .hasLineCount(1)
        .contains("Raise")
        .doesNotContain("log");
  }

  @ParameterizedTest
  @MethodSource("surprises")
  void whatNobodyForesawIsOneLineAndALogThatOnlyItsOwnerReads(Supplier<Throwable> surprise)
      throws IOException {
    CliCommand bad =
        command(
            "bad",
            _ -> {
              CommandLineTest.<RuntimeException>sneak(surprise.get());
              return ExitCode.OK;
            });
    Run run = Run.on("", "", Map.of(), List.of(bad), "bad");
    assertThat(run.status()).isEqualTo(70);
    assertThat(run.err()).startsWith("writ: CLI-070 ").hasLineCount(1).doesNotContain("secret");
    Matcher log = Pattern.compile("log: (\\S+\\.log)").matcher(run.err());
    assertThat(log.find()).isTrue();
    Path file = Path.of(log.group(1));
    assertThat(Files.readString(file)).contains(surprise.get().getClass().getName(), "\tat ");
    assertThat(Files.getPosixFilePermissions(file)).hasSize(2);
    Files.delete(file);
  }

  @Test
  void whatARefusalQuotesCannotSteerTheTerminal() {
    CliCommand bad =
        command(
            "bad",
            _ -> {
              throw new WritException(CanonicalizeError.FIELD_VALUE, "a\u001b[2J\u202eb\nwrit: ok");
            });
    Run run = Run.on("", "err", Map.of("NO_COLOR", "1"), List.of(bad), "bad");
    assertThat(run.err()).doesNotContain("\u001b", "\u202e").hasLineCount(1);
    assertThat(run.status()).isEqualTo(4);
  }

  @Test
  void coloursAreForTerminalsThatWantThem() {
    String[] args = {"canon", "/none"};
    assertThat(Run.on("", "err", Map.of(), Commands.ALL, args).err()).contains("\u001b[31mCLI-002");
    assertThat(Run.on("", "out", Map.of(), Commands.ALL, args).err()).doesNotContain("\u001b");
    assertThat(Run.on("", "err", Map.of("NO_COLOR", "1"), Commands.ALL, args).err())
        .doesNotContain("\u001b");
    assertThat(Run.on("", "err", Map.of("TERM", "dumb"), Commands.ALL, args).err())
        .doesNotContain("\u001b");
  }

  @Test
  void outputThatCannotBeWrittenIsNoSuccessUnlessItsReaderLeft() {
    assertThat(statusWritingTo("No space left on device")).isEqualTo(6);
    assertThat(statusWritingTo("Broken pipe")).isZero();
  }

  private static int statusWritingTo(String failure) {
    OutputStream out =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException(failure);
          }
        };
    Terminal terminal =
        new Terminal(
            new ByteArrayInputStream("1".getBytes(StandardCharsets.UTF_8)),
            out,
            OutputStream.nullOutputStream(),
            "",
            Map.of());
    return new Cli(new Session(terminal, Map.of())).run("canon", "-");
  }

  @Test
  void doctorFindsAHomeThatIsNoFolderAndSaysSoInBothForms(@TempDir Path folder) throws IOException {
    Path file = Files.createFile(folder.resolve("file"));
    Run bad = Run.of("doctor", "--home", file.toString());
    assertThat(bad.status()).isEqualTo(6);
    assertThat(bad.out()).contains("is no folder", "Writ cannot run here");
    Run json = Run.of("doctor", "--json", "--home", file.toString());
    assertThat(json.status()).isEqualTo(6);
    assertThat(((JsonValue.Obj) oneLine(json.out())).get("good")).isEqualTo(JsonValue.FALSE);
    Run good = Run.of("doctor", "--home", folder.resolve("new").toString());
    assertThat(good.status()).as(good.out()).isZero();
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void doctorTellsOfEachEngineWhatItHoldsAndHow(@TempDir Path folder) throws IOException {
    Run shown = Run.of("doctor", "--home", folder.toString());
    assertThat(shown.out()).contains("bubblewrap", "runc", "docker", "Landlock: ", "AppArmor: ");
    Run json = Run.of("doctor", "--json", "--home", folder.toString());
    JsonValue.Arr engines = (JsonValue.Arr) ((JsonValue.Obj) oneLine(json.out())).get("engines");
    List<String> names = new ArrayList<>();
    for (JsonValue one : engines.items()) {
      Fields engine = Fields.of("engine", one);
      names.add(engine.string("name"));
      JsonValue.Arr guarantees = (JsonValue.Arr) engine.value("guarantees");
      assertThat(guarantees.items())
          .as(names.getLast())
          .hasSize(Guarantee.values().length)
          .allSatisfy(g -> assertThat(Fields.of("g", g).string("how")).isNotEmpty());
      // What is not there comes with the command that gets it.
      assertThat(engine.string("install").isEmpty()).isEqualTo(engine.bool("available"));
    }
    assertThat(names).containsExactly("bubblewrap", "runc", "docker");
  }

  @Test
  void optionsAndWordsComeBackByTheirNames() {
    CliCommand probe =
        new CliCommand() {
          @Override
          public CommandUsage usage() {
            return CommandUsage.of("probe", "100 % of it.")
                .argument("TOOL", "A tool.")
                .moreArguments("REST", "More.")
                .options("--param", "K=V", "A parameter.")
                .option("--count", "N", "A number.");
          }

          @Override
          public ExitCode run(Session session, Arguments arguments) {
            session
                .terminal()
                .out()
                .print(
                    arguments.argument("TOOL")
                        + arguments.moreArguments("REST")
                        + arguments.options("--param")
                        + arguments.integer("--count", 1, 9));
            return ExitCode.OK;
          }
        };
    List<CliCommand> commands = List.of(probe);
    assertThat(Run.on("", "", Map.of(), commands, "probe", "t").out())
        .isEqualTo("t[][]Optional.empty");
    Run full =
        Run.on(
            "", "", Map.of(), commands, "probe", "t", "--param", "a=1,b", "--param", "c=", "u", "v",
            "--count", "3");
    assertThat(full.out()).isEqualTo("t[u, v][a=1,b, c=]Optional[3]");
    assertThat(Run.on("", "", Map.of(), commands, "probe", "t", "--count", "10").err())
        .contains("CLI-001", "--count 10 is no integer from 1 to 9");
    assertThat(Run.on("", "", Map.of(), commands, "probe", "--help").out()).contains("100 % of it");
  }

  private static JsonValue oneLine(String text) {
    assertThat(text).endsWith("\n").hasLineCount(1);
    return Jcs.parseCanonical(
        text.stripTrailing().getBytes(StandardCharsets.UTF_8), Limits.DEFAULT);
  }

  private interface Body {
    ExitCode run(Session session) throws IOException;
  }

  private static CliCommand command(String name, Body body) {
    return new CliCommand() {
      @Override
      public CommandUsage usage() {
        return CommandUsage.of(name, "A test.");
      }

      @Override
      public ExitCode run(Session session, Arguments arguments) throws IOException {
        return body.run(session);
      }
    };
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable e) throws T {
    throw (T) e;
  }
}
