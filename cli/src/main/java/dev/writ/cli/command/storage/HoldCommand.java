package dev.writ.cli.command.storage;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.StatedChange;
import dev.writ.cli.command.SystemWords;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.journal.EventKind;
import dev.writ.sandbox.host.ShellScript;
import java.util.List;
import java.util.Optional;

/** {@code writ hold}: runs whose contents no rule of policy deletes. */
public final class HoldCommand implements CommandGroup {
  private static final String OPERATOR = "The operator's key (default: operator).";

  @Override
  public CommandUsage usage() {
    return CommandUsage.of("hold", "Place and release holds, which keep contents from deletion.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Place(), new Release());
  }

  private static void send(
      Session session, Arguments arguments, String kind, JsonValue.Obj detail) {
    SystemWords.send(
        session,
        arguments,
        List.of(SystemWords.change(Homes.home(session), arguments, kind, detail)));
  }

  /** A hold may come before what it is to keep; one of another name would keep nothing. */
  private static Optional<String> doubt(Session session, Arguments arguments, LegalHold hold) {
    if (arguments.option("--server").isPresent() || Homes.place(session).cells() > 1) {
      return Optional.empty(); // the runs of a tenant may be in another log than this one
    }
    boolean[] known = {false};
    Homes.read(
        session,
        ledger -> {
          ledger.runs(run ->
              known[0] |=
                  run.tenant().equals(hold.tenant())
                      && hold.run().filter(r -> !r.equals(run.run())).isEmpty());
          return null;
        });
    return known[0]
        ? Optional.empty()
        : Optional.of(
            "it keeps nothing so far, since this ledger has no "
                + hold.run().map("run "::concat).orElse("run")
                + " of "
                + hold.tenant()
                + "; is the name right? If not: "
                + Homes.name(session.terminal())
                + " hold release "
                + ShellScript.quoted(hold.name()));
  }

  /** What a hold keeps. */
  static String inWords(LegalHold hold) {
    return hold.run().map(run -> "run " + run).orElse("each run") + " of " + hold.tenant();
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
      send(session, arguments, EventKind.HOLD_PLACED, hold.toJson());
      new StatedChange(
              EventKind.HOLD_PLACED,
              hold.toJson(),
              "hold " + hold.name() + ": " + inWords(hold),
              Optional.empty(),
              doubt(session, arguments, hold))
          .show(session);
      return ExitCode.OK;
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
      JsonValue.Obj detail = JsonValue.object().put("name", arguments.argument("NAME")).build();
      send(session, arguments, EventKind.HOLD_RELEASED, detail);
      new StatedChange(
              EventKind.HOLD_RELEASED,
              detail,
              "released: " + arguments.argument("NAME"),
              Optional.empty(),
              Optional.empty())
          .show(session);
      return ExitCode.OK;
    }
  }
}
