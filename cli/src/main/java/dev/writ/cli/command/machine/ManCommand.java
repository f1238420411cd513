package dev.writ.cli.command.machine;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.base.Version;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import picocli.CommandLine;

/** {@code writ man DIR}, hidden: writes the manual, for a release to install. */
public final class ManCommand implements CliCommand {
  private final Function<Session, CommandLine> commands;

  /**
   * @param commands the whole command line
   */
  public ManCommand(Function<Session, CommandLine> commands) {
    this.commands = commands;
  }

  @Override
  public CommandUsage usage() {
    return CommandUsage.of("man", "Write the manual as pages of man(7).")
        .argument("DIR", "A folder to write them to; it is made where it is not there.")
        .hidden();
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    Path folder = Files.createDirectories(Path.of(arguments.argument("DIR")));
    Map<String, String> pages = new ManualPages(commands.apply(session), Version.text()).all();
    for (Map.Entry<String, String> page : pages.entrySet()) {
      Files.writeString(folder.resolve(page.getKey()), page.getValue());
    }
    return ExitCode.OK;
  }
}
