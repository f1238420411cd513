package dev.writ.cli.command;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Report;
import dev.writ.cli.Session;
import dev.writ.cli.Version;
import picocli.CommandLine.Command;

/** {@code writ version}: the version of Writ and of what it runs on. */
@Command(name = "version", description = "Print the version of Writ, Java and the system.")
public final class VersionCommand implements CliCommand {
  private final Session session;

  public VersionCommand(Session session) {
    this.session = session;
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
      return JsonValue.object()
          .put("java", java)
          .put("system", system)
          .put("writ", writ)
          .build();
    }
  }

  @Override
  public ExitCode run() {
    session.show(
        Versions.found(),
        (versions, terminal) ->
            terminal
                .out()
                .println(
                    "writ " + versions.writ() + ", Java " + versions.java() + ", " + versions.system()));
    return ExitCode.OK;
  }
}
