package dev.writ.cli.hook;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Limits;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Verdict;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** {@code writ hook}: a coding agent asks before it uses a tool of its own. */
public final class HookCommand implements CliCommand {
  private static final int RUN_MAX = 100;

  /** The longest wait for an approval, in seconds. */
  private static final int WAIT_MAX_S = 3600;

  /** How long a data directory may be open elsewhere, in seconds. */
  private static final int PATIENCE_S = 20;

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "hook",
            "Answer a coding agent that asks before it uses a tool of its own: allow, deny or ask,"
                + " by policy.",
            "Reads the hook's JSON on standard input. The agent's key signs each question, and the"
                + " ledger has its decision. What fails denies, with status 2. `writ setup` writes"
                + " the agent's configuration; spec/hooks.md says what policy needs.")
        .argument("AGENT", "claude-code, codex, cursor or vscode.")
        .option("--as", "KEY", "The key that signs (default: the home's agent).")
        .flag("--defer", "Where policy allows it, leave it to the agent's own rules.")
        .option(
            "--wait", "SECONDS", "Where it needs an approval, wait so long for it (default: 0).")
        .option(
            "--on-error",
            "ANSWER",
            "deny, or ask where the agent can ask its user (default: deny).");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    Optional<HookEvent> event = Optional.empty();
    boolean ask = false;
    try {
      HookAgent agent = HookAgent.of(arguments.argument("AGENT"));
      ask =
          arguments
              .option("--on-error")
              .map(answer -> Arguments.oneOf("--on-error", answer, List.of("deny", "ask")))
              .filter("ask"::equals)
              .isPresent();
      event =
          Optional.of(
              HookEvent.read(
                  agent, session.terminal().in().readNBytes(Limits.DEFAULT.bytesMax() + 1)));
      say(session, event.get(), permission(session, arguments, event.get()));
      return ExitCode.OK;
    } catch (WritException e) {
      return failed(session, event, ask, e.code().code() + " " + e.code().meaning() + found(e));
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError | LinkageError e) {
      return failed(session, event, ask, CliError.INTERNAL.code() + " " + e.getClass().getName());
    }
  }

  private static String found(WritException e) {
    return e.found().isEmpty() ? "" : ": " + e.found();
  }

  private static void say(Session session, HookEvent event, Permission permission) {
    byte[] answer = permission.toBytes(event);
    if (answer.length > 0) {
      session.terminal().out().writeBytes(answer);
      session.terminal().out().println();
    }
  }

  /** Agents take status 2 as a denial, and standard error as its reason. */
  private static ExitCode failed(
      Session session, Optional<HookEvent> event, boolean ask, String why) {
    String reason = Text.printable("Writ could not judge this, so it is denied: " + why);
    if (ask && event.filter(e -> !e.isReport() && e.agent().canAsk(e.name())).isPresent()) {
      say(
          session,
          event.get(),
          new Permission(
              Permission.Answer.ASK, Text.printable("Writ could not judge this: " + why)));
      return ExitCode.OK;
    }
    session.terminal().err().println(reason);
    return ExitCode.USAGE;
  }

  private static Permission permission(Session session, Arguments arguments, HookEvent event) {
    Home home = Homes.home(session);
    Effect effect = AgentCall.effect(event, Path.of("").toAbsolutePath());
    long wait = arguments.integer("--wait", 0, WAIT_MAX_S).orElse(0L);
    HookAsking.Told told =
        new HookAsking(
                home,
                home.key(arguments.option("--as").orElseGet(home::agent)),
                Duration.ofSeconds(PATIENCE_S))
            .ask(run(event), effect, event.isReport() ? Duration.ZERO : Duration.ofSeconds(wait));
    return permission(told, arguments.has("--defer")).forEvent(event);
  }

  private static Permission permission(HookAsking.Told told, boolean defer) {
    if (told.verdict() == Verdict.ALLOW && told.isServed()) {
      return new Permission(
          defer ? Permission.Answer.DEFER : Permission.Answer.ALLOW,
          Text.printable(("Allowed by policy. " + String.join(" ", told.help())).strip()));
    }
    String help = String.join(" ", told.help());
    String code = told.code().orElse("");
    if (told.verdict() == Verdict.ESCALATE) {
      return new Permission(
          Permission.Answer.ASK,
          Text.printable(
              "Policy asks for an approval ("
                  + code
                  + "). "
                  + help
                  + " Request: "
                  + told.request()));
    }
    return new Permission(
        Permission.Answer.DENY,
        Text.printable("Denied by policy (" + code + "). " + help + " Request: " + told.request()));
  }

  /** A session of the agent is a run. */
  private static String run(HookEvent event) {
    String session = event.session().replaceAll("[^A-Za-z0-9._-]", "-");
    String name = event.agent().text() + "-" + session;
    return name.length() > RUN_MAX ? name.substring(0, RUN_MAX) : name;
  }
}
