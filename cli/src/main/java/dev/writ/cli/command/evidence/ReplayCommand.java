package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.term.Progress;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.replay.engine.Divergence;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.replay.engine.ReplaySession;
import dev.writ.replay.report.JUnitReport;
import dev.writ.tools.Drivers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ replay}: needs no keys, and of files no data directory. */
public final class ReplayCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "replay",
            "Execute recorded runs again, and name the first byte that differs: every request is"
                + " judged again and goes through all eight stages, with the recorded clock, seed"
                + " and tool outcomes.",
            "A bundle is verified first; one that does not verify is INVALID and is not replayed."
                + " With several, the exit status is that of the worst.")
        .argument(
            "RUN|FILE",
            "A bundle that `export` wrote, or a run of the data directory, also an archived one.")
        .moreArguments("MORE", "More of them.")
        .flag("--live", "Run pure and reproducible tools again, and compare their results.")
        .option(
            "--against",
            "POLICY",
            "Judge every recorded request under this policy file instead, and list the decisions"
                + " that would change, and why.")
        .flag("--all", "Continue after the first difference.")
        .option("--trust", "JWKS", "The pinned keys; see `verify`.")
        .option("--junit", "XML", "Also write a report for CI to this file.")
        .example("replay main.writ --trust writ-data/trust.jwks")
        .example("replay main.writ --against policy.yaml");
  }

  record Replayed(List<ReplaySession> sessions) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().putList("sessions", sessions, ReplaySession::toJson).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    List<String> files = new ArrayList<>();
    files.add(arguments.argument("RUN|FILE"));
    files.addAll(arguments.moreArguments("MORE"));
    Optional<Trust> trust = NamedTrust.of(session, arguments);
    arguments.option("--junit").ifPresent(OutputFile::requireNew);
    if (arguments.option("--against").isPresent()) {
      return AgainstView.run(
          session, files, trust, arguments.option("--against").get(), arguments.option("--junit"));
    }
    List<ReplaySession> sessions = new ArrayList<>();
    try (NamedBundles bundles = new NamedBundles(session);
        Progress progress = new Progress(session.terminal());
        Drivers drivers =
            arguments.has("--live")
                ? Drivers.all(SandboxPlace.hostOfReplays(session.environment()))
                : Drivers.withoutProcesses()) {
      for (String file : files) {
        ReplayOptions options =
            new ReplayOptions(
                arguments.has("--live"),
                arguments.has("--all"),
                List.copyOf(drivers.byName().values()),
                events -> progress.step(file + ": replayed event " + events));
        sessions.add(replay(file, bundles, trust, options));
      }
    }
    arguments.option("--junit").ifPresent(xml -> OutputFile.write(xml, JUnitReport.of(sessions)));
    session.show(new Replayed(sessions), ReplayCommand::print);
    return worst(sessions.stream().map(ReplayCommand::end).toList());
  }

  private static ReplaySession replay(
      String file, NamedBundles bundles, Optional<Trust> trust, ReplayOptions options) {
    BundleFile bundle;
    try {
      bundle = BundleFile.verified(bundles.file(file), trust);
    } catch (WritException e) {
      return new ReplaySession(
          file, Optional.of(e), trust.isPresent(), Optional.empty(), List.of());
    }
    try (bundle) {
      ReplayResult result = new Replay(bundle.recording().ahead(), options).run();
      return new ReplaySession(
          file, Optional.empty(), trust.isPresent(), Optional.of(result), bundle.verified());
    }
  }

  private static ExitCode end(ReplaySession session) {
    Optional<WritException> failure =
        session.invalid().or(() -> session.result().flatMap(ReplayResult::failure));
    if (failure.isPresent()) {
      return ExitCode.of(failure.get().code()) == ExitCode.UNAVAILABLE
          ? ExitCode.UNAVAILABLE
          : ExitCode.BROKEN_INPUT;
    }
    if (!session.state().equals("COMPLETE")) {
      return ExitCode.DIVERGED;
    }
    return session.pinned() ? ExitCode.OK : ExitCode.INTEGRITY_ONLY;
  }

  /** The most severe of several exit codes. */
  static ExitCode worst(List<ExitCode> ends) {
    return List.of(
            ExitCode.BROKEN_INPUT, ExitCode.DIVERGED, ExitCode.UNAVAILABLE, ExitCode.INTEGRITY_ONLY)
        .stream()
        .filter(ends::contains)
        .findFirst()
        .orElse(ExitCode.OK);
  }

  private static void print(Replayed replayed, Terminal terminal) {
    replayed.sessions().forEach(session -> print(session, terminal));
  }

  private static void print(ReplaySession session, Terminal terminal) {
    boolean good = session.state().equals("COMPLETE");
    line(
        terminal,
        terminal.paint(good ? Style.GOOD : Style.BAD, session.state())
            + "  "
            + Text.printable(session.name())
            + session
                .result()
                .map(r -> Text.printable(": " + r.run() + ", " + r.events() + " events"))
                .orElse(""));
    session.invalid().ifPresent(e -> line(terminal, "  " + Text.printable(e.getMessage())));
    session.result().ifPresent(result -> print(result, terminal));
    if (session.result().isPresent() && !session.pinned()) {
      line(terminal, "  not known    who signed it: signer not pinned (--trust)");
    }
  }

  private static void print(ReplayResult result, Terminal terminal) {
    result.failure().ifPresent(e -> line(terminal, "  " + Text.printable(e.getMessage())));
    result.divergences().forEach(divergence -> print(divergence, terminal));
    result.runHash().ifPresent(hash -> line(terminal, "  run hash     " + hash));
    result.replayHash().ifPresent(hash -> line(terminal, "  replay hash  " + hash));
    result.reexecuted().forEach(text -> line(terminal, "  re-executed  " + text));
    result.checked().forEach(text -> line(terminal, "  checked      " + text));
    result.neither().forEach(text -> line(terminal, "  neither      " + text));
  }

  private static void print(Divergence divergence, Terminal terminal) {
    line(terminal, terminal.paint(Style.BAD, Text.printable(divergence.headline())));
    divergence.fields().stream()
        .skip(1)
        .forEach(field -> line(terminal, "  " + Text.printable(field.toString())));
    divergence
        .diff()
        .ifPresent(
            diff -> diff.lines().forEach(text -> line(terminal, "  " + Text.printable(text))));
  }

  private static void line(Terminal terminal, String text) {
    terminal.out().println(text);
  }
}
