package dev.writ.cli.command.machine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.base.Version;

/** {@code writ version}: the version of Writ and of what it runs on. */
public final class VersionCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("version", "Print the version of Writ, Java and the system.");
  }

  record Versions(String writ, String java, String system) implements Report {
    static Versions found() {
      return new Versions(
          Version.text(),
          Runtime.version().toString(),
          System.getProperty("os.name") + " " + System.getProperty("os.arch"));
    }

    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("java", java).put("system", system).put("writ", writ).build();
    }
  }

  @Override
  public boolean endsAtOnce() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    session.show(
        Versions.found(),
        (versions, terminal) ->
            terminal
                .out()
                .println(
                    "writ "
                        + versions.writ()
                        + ", Java "
                        + versions.java()
                        + ", "
                        + versions.system()));
    return ExitCode.OK;
  }
}
