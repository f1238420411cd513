package dev.writ.cli.command.key;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.MovedKeys;
import java.nio.file.Path;

/** {@code writ key move}: the keys of people and agents leave the server's home. */
final class KeyMove implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "move",
            "Move the keys of people and agents out of the data directory, so that it has only"
                + " what its server signs with. Also while a server runs.",
            "Each file is copied and read back before the one in the data directory is removed;"
                + " called again it completes what was interrupted. Commands look into that folder"
                + " from then on.")
        .argument("FOLDER", "Where to; it is made if it is not there.")
        .moreArguments(
            "NAME", "Move only these (default: all keys of people and agents that are enrolled).")
        .example("key move /media/ann/keys");
  }

  record Moved(MovedKeys keys) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("folder", keys.folder().toString())
          .putList("moved", keys.moved(), JsonValue::of)
          .putList("stayed", keys.stayed(), JsonValue::of)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.home(session);
    MovedKeys moved =
        MovedKeys.move(
            home,
            Path.of(arguments.argument("FOLDER")),
            KeyCommand.trust(session),
            arguments.moreArguments("NAME"),
            DurableFiles.REAL);
    session.show(new Moved(moved), (shown, terminal) -> print(shown.keys(), terminal));
    return ExitCode.OK;
  }

  private static void print(MovedKeys keys, Terminal terminal) {
    keys.moved()
        .forEach(name -> terminal.out().println("moved   " + Text.printable(name) + ".pem"));
    keys.stayed().forEach(name -> terminal.out().println("stays   " + Text.printable(name)));
    terminal.out().println("Commands here look into " + keys.folder() + " from now on.");
    terminal.out().println("Where the folder is carried away, they need: export WRIT_KEYS=FOLDER");
  }
}
