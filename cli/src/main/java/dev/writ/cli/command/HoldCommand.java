package dev.writ.cli.command;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.journal.EventKind;
import java.util.List;

/** {@code writ hold}: runs whose contents no rule of policy deletes. */
public final class HoldCommand implements CliCommand {
  private static final String OPERATOR = "The operator's key (default: operator).";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of("hold", "Place and release holds, which keep contents from deletion.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    throw new IllegalStateException("a group of commands");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Place(), new Release());
  }

  private static ExitCode send(
      Session session, Arguments arguments, String kind, JsonValue.Obj detail) {
    SystemWords.send(
        session,
        arguments,
        List.of(SystemWords.change(Homes.home(session), arguments, kind, detail)));
    return ExitCode.OK;
  }

  /** {@code writ hold place}. */
  static final class Place implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of("place", "Keep the contents of a tenant's runs, or of one of them.")
              .argument("NAME", "Of the hold, by which it is released.")
              .argument("TENANT", "Whose runs.")
              .option("--run", "RUN", "This run alone.")
              .option("--operator", "KEY", OPERATOR));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      LegalHold hold =
          new LegalHold(
              arguments.argument("NAME"), arguments.argument("TENANT"), arguments.option("--run"));
      return send(session, arguments, EventKind.HOLD_PLACED, hold.toJson());
    }
  }

  /** {@code writ hold release}. */
  static final class Release implements CliCommand {
    @Override
    public CommandUsage usage() {
      return SystemWords.options(
          CommandUsage.of("release", "End a hold; rules of policy count again.")
              .argument("NAME", "Of the hold.")
              .option("--operator", "KEY", OPERATOR));
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      return send(
          session,
          arguments,
          EventKind.HOLD_RELEASED,
          JsonValue.object().put("name", arguments.argument("NAME")).build());
    }
  }
}
