package dev.writ.cli.command.machine;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * {@code writ train GROUP DIR}, hidden: runs typical command lines and discards the results, so
 * that the launcher's build can store the loaded classes in the AOT cache of a group of commands.
 */
public final class TrainCommand implements CliCommand {
  private static final List<List<String>> LIGHT =
      List.of(
          List.of("--help"),
          List.of("--version"),
          List.of("version"),
          List.of("canon", "-"),
          List.of("canon", "--json", "-"),
          List.of("canon", "-", "--digest"),
          List.of("no-such-command"));

  private static final List<List<String>> HOME =
      List.of(
          List.of("--help"),
          List.of("--version"),
          List.of("no-such-command"),
          List.of("init"),
          List.of("run", "js", "--param", "source='6*7'"),
          List.of("run", "js", "--param", "source=process.exit"),
          List.of("receipts"),
          List.of("runs"),
          List.of("tool", "list"),
          List.of("hook", "claude-code"),
          List.of("policy", "show"),
          List.of("checkpoint"),
          List.of("export", "main", "-o", "BUNDLE"));

  /** Makes what the next ones read, with some of everything in it; its classes are not kept. */
  private static final List<List<String>> DEMO =
      List.of(List.of("demo"), List.of("export", "demo", "-o", "BUNDLE"));

  /** What is asked most in a home that is there, and what is refused before it is judged. */
  private static final List<List<String>> RUN =
      List.of(
          List.of("run", "js", "--param", "source='6*7'"),
          List.of("run", "js", "--param", "source='6*7'", "--json"),
          List.of("run", "no-such-tool"));

  private static final List<List<String>> READ =
      List.of(
          List.of("receipts"),
          List.of("receipts", "--json"),
          List.of("log"),
          List.of("log", "--denied", "--output", "csv"),
          List.of("runs"),
          List.of("show", "RECEIPT"),
          List.of("show", "no-such-id"));

  private static final List<List<String>> VERIFY =
      List.of(
          List.of("verify", "no-such-file"),
          List.of("verify", "BUNDLE"),
          List.of("verify", "BUNDLE", "--trust", "TRUST"),
          List.of("verify", "BUNDLE", "--trust", "TRUST", "--json"));

  private static final List<List<String>> VERSION =
      List.of(List.of("version"), List.of("version", "--json"));

  /** What an agent asks its hook. */
  private static final String QUESTION =
      "{\"hook_event_name\":\"PreToolUse\",\"session_id\":\"s\",\"tool_name\":\"Read\","
          + "\"tool_input\":{\"file_path\":\"a\"}}";

  private static final Map<String, List<List<String>>> GROUPS =
      new TreeMap<>(
          Map.of(
              "demo", DEMO,
              "home", HOME,
              "light", LIGHT,
              "read", READ,
              "run", RUN,
              "verify", VERIFY,
              "version", VERSION));

  private final BiConsumer<Session, String[]> runner;

  /**
   * @param runner runs one command line in a session
   */
  public TrainCommand(BiConsumer<Session, String[]> runner) {
    this.runner = runner;
  }

  @Override
  public CommandUsage usage() {
    return CommandUsage.of("train", "Load what commands need, for an AOT cache.")
        .argument("GROUP", "demo, home, light, read, run, verify, version.")
        .argument(
            "DIR",
            "A folder to work in; home and demo leave a home and a bundle there, which others"
                + " read.")
        .hidden();
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    String group = arguments.argument("GROUP");
    Arguments.oneOf("GROUP", group, List.copyOf(GROUPS.keySet()));
    Path folder = Path.of(arguments.argument("DIR"));
    Path home = folder.resolve(List.of("demo", "read", "verify").contains(group) ? "demo" : "home");
    for (List<String> args : GROUPS.get(group)) {
      List<String> line = new ArrayList<>(List.of("--home", home.toString()));
      for (String word : args) {
        line.add(
            switch (word) {
              case "BUNDLE" -> home + ".writ";
              case "TRUST" -> home.resolve("trust.jwks").toString();
              case "RECEIPT" -> firstReceipt(session, home);
              default -> word;
            });
      }
      quietly(session, line);
    }
    return ExitCode.OK;
  }

  private String firstReceipt(Session session, Path home) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    run(session, List.of("--home", home.toString(), "receipts", "--json"), out);
    int at = out.toString(UTF_8).indexOf("sha256:");
    return at < 0 ? "none" : out.toString(UTF_8).substring(at, at + 7 + 64);
  }

  private void quietly(Session session, List<String> line) {
    run(session, line, OutputStream.nullOutputStream());
  }

  private void run(Session session, List<String> line, OutputStream out) {
    Terminal terminal =
        new Terminal(
            new ByteArrayInputStream(
                (line.contains("hook") ? QUESTION : "{\"b\":[1.5e3,\"é\"],\"a\":null}")
                    .getBytes(UTF_8)),
            out,
            OutputStream.nullOutputStream(),
            "out,err",
            session.environment());
    runner.accept(new Session(terminal, session.environment()), line.toArray(String[]::new));
  }
}
