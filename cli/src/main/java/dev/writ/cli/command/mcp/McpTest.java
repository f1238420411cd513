package dev.writ.cli.command.mcp;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;

/** {@code writ mcp test}: starts an MCP server, and compares what it lists with what is pinned. */
final class McpTest implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("test", "Start a server, and compare what it lists with what is pinned.")
        .argument("NAME", "Its name.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    ServerComparison compared =
        ServerComparison.of(upstreams, upstreams.one(arguments.argument("NAME")));
    session.show(compared, ServerComparison::print);
    return compared.same() ? ExitCode.OK : ExitCode.REFUSED;
  }
}
