package dev.writ.cli;

import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** {@code writ} itself: the options that every command has. */
@Command(
    name = "writ",
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "A guardian and executor for agents: every effect needs a signed decision, ends in a signed"
          + " receipt, and can be replayed."
    },
    commandListHeading = "%nCommands:%n",
    optionListHeading = "%nOptions:%n",
    parameterListHeading = "%nArguments:%n")
final class Root {
  private final Session session;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      order = 90,
      description = "Show this help.")
  private boolean help;

  @Option(names = "--version", versionHelp = true, description = "Show the version.")
  private boolean version;

  Root(Session session) {
    this.session = session;
  }

  @Option(
      names = "--home",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      order = 80,
      description = "The data directory (default: WRIT_HOME, else ./writ-data).")
  void home(Path home) {
    session.home(home);
  }

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      order = 81,
      description = "Print data as one line of JSON.")
  void json(boolean json) {
    session.json(json);
  }
}
