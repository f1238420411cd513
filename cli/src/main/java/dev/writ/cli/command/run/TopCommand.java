package dev.writ.cli.command.run;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.UntilStopped;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.HomeServer;
import dev.writ.embed.home.Home;
import dev.writ.gateway.view.WaitingView;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code writ top}: what the server that has the home open is doing, again and again. */
public final class TopCommand implements CliCommand {
  private static final Duration LOOK_EVERY = Duration.ofSeconds(2);

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "top",
            "Show what a running server does: calls, verdicts, latency, busiest tools, and what"
                + " waits for an approval.",
            "Refreshed every two seconds until Ctrl-C at a terminal; one frame elsewhere. Policy's"
                + " section `people` says who sees the counts.")
        .flag("--once", "Show one frame and end.")
        .option("--as", "KEY", "The key that asks (default: the approver's).")
        .option("--token", "FILE", "Ask with the bearer token in this file instead.");
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.home(session);
    HomeServer at =
        HomeServer.of(home)
            .orElseThrow(() -> new WritException(CliError.NO_SERVER, home.dir().toString()));
    Supplier<String> authorization = authorization(session, arguments, home);
    if (arguments.has("--once") || session.json() || !session.terminal().outIsTerminal()) {
      session.show(
          frame(session, home, at, authorization.get()),
          (frame, terminal) -> frame.lines(terminal).forEach(line -> terminal.out().println(line)));
      return ExitCode.OK;
    }
    try (UntilStopped until = new UntilStopped()) {
      boolean isRead;
      do {
        isRead =
            session
                .terminal()
                .redraw(frame(session, home, at, authorization.get()).lines(session.terminal()));
      } while (isRead && until.pause(LOOK_EVERY));
      return ExitCode.OK;
    }
  }

  private static Supplier<String> authorization(Session session, Arguments arguments, Home home) {
    Optional<String> token =
        arguments
            .option("--token")
            .map(file -> new String(session.read(file), StandardCharsets.UTF_8).strip())
            .map(TopCommand::bearer);
    String key = arguments.option("--as").orElseGet(home::approver);
    return () ->
        token.orElseGet(
            () -> HomeServer.access(home, home.tenant(), home.key(key), Homes.clock().instant()));
  }

  /** The Authorization header of a bearer token that a file holds. */
  private static String bearer(String token) {
    if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw new WritException(CliError.USAGE, "the file of --token has no token");
    }
    return "Bearer " + token;
  }

  private static TopFrame frame(Session session, Home home, HomeServer at, String authorization) {
    JsonValue.Obj statistics = at.get("/v1/statistics?step_s=60&steps=60", authorization);
    List<WaitingView> waiting = Homes.read(session, ledger -> WaitingHere.all(home, ledger));
    return new TopFrame(
        at.url(),
        Homes.clock().instant(),
        statistics,
        waiting.size(),
        waiting.isEmpty() ? Optional.empty() : Optional.of(waiting.getFirst().since()));
  }
}
