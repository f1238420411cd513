package dev.writ.cli.command.storage;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.ledger.WayBack;
import java.util.List;
import java.util.Optional;

/** {@code writ upgrade}: the way back from an upgrade of the ledger's format. */
public final class UpgradeCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
        "upgrade",
        "After a release with another format of the ledger: see, confirm, or go back.",
        "The first command that writes upgrades the ledger, and keeps its state of before.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Status(), new Confirm(), new Back());
  }

  private record Shown(int format, Optional<WayBack.Kept> kept) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("format", format)
          .putIfPresent(
              "kept",
              kept,
              before ->
                  JsonValue.object()
                      .put("format", before.format())
                      .put("size", before.size())
                      .put("bytes", before.bytes())
                      .put("way_back", before.isOpen())
                      .build())
          .build();
    }
  }

  private static ExitCode show(Session session, Home home) {
    session.show(
        new Shown(WayBack.format(home.ledger()), WayBack.kept(home.ledger())),
        UpgradeCommand::print);
    return ExitCode.OK;
  }

  private static void print(Shown shown, Terminal terminal) {
    if (shown.kept().isEmpty()) {
      terminal.out().println("format " + shown.format() + "; nothing is kept of an earlier one");
      return;
    }
    WayBack.Kept kept = shown.kept().get();
    terminal
        .out()
        .println(
            "format "
                + shown.format()
                + ", upgraded from "
                + kept.format()
                + " at "
                + kept.size()
                + " events; "
                + (kept.isOpen() ? "nothing was written since" : "there was written since"));
    terminal
        .out()
        .println(
            (kept.isOpen()
                    ? "way back: "
                        + Homes.name(terminal)
                        + " upgrade back, then the earlier release."
                    : "no way back: what was acknowledged since would be lost.")
                + " It takes "
                + kept.bytes()
                + " bytes until "
                + Homes.name(terminal)
                + " upgrade confirm");
  }

  /** {@code writ upgrade status}. */
  static final class Status implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "status",
          "Show the ledger's format, and whether there is a way back to an earlier one.",
          "Only reads, also while a server runs.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      return show(session, Homes.home(session));
    }
  }

  /** {@code writ upgrade confirm}. */
  static final class Confirm implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "confirm",
          "Remove what is kept of the state before the upgrade: there is no way back then.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      WayBack.confirm(home.ledger());
      return show(session, home);
    }
  }

  /** {@code writ upgrade back}. */
  static final class Back implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
          "back",
          "Put the state before the upgrade back, if nothing was written since.",
          "No server may run. Then start the earlier release: this one would upgrade again.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Home home = Homes.home(session);
      WayBack.back(home.ledger(), home.anchor());
      return show(session, home);
    }
  }
}
