package dev.writ.cli.command.mcp;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.tools.mcp.UpstreamPackage;

/** {@code writ mcp refresh}: what differs from what is pinned, and the approval of it. */
final class McpRefresh implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "refresh",
            "Show what a server lists otherwise than was approved, and which packages npm has in"
                + " other versions; with --approve pin it as a new version.",
            "Until the changed policy is activated, every call of the server is refused.")
        .argument("NAME", "Its name.")
        .option("--role", "ROLE", "The role that may call it (default: the policy's only one).")
        .flag("--approve", "Pin the new list, and have policy.yaml name it.")
        .flag("--accept-hidden", "Accept descriptions with characters that nobody can see.")
        .flag("--no-policy", "Leave policy.yaml as it is.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    UpstreamPackage before = upstreams.one(arguments.argument("NAME"));
    ServerComparison compared =
        ServerComparison.of(
            upstreams,
            before,
            new ServerCode(session).again(before.spec(), before.own(), upstreams::host));
    if (compared.same() || !arguments.has("--approve")) {
      session.show(compared, ServerComparison::print);
      return compared.same() ? ExitCode.OK : ExitCode.REFUSED;
    }
    if (!arguments.has("--accept-hidden")) {
      Upstreams.requireVisible(compared.seen().tools());
    }
    UpstreamPackage made =
        upstreams.register(
            before.manifest().name(),
            compared.known(),
            compared.seen().tools(),
            compared.now().own());
    boolean allow = !arguments.has("--no-policy");
    if (allow) {
      upstreams.allow(made.manifest(), arguments.option("--role"), false);
    }
    session.show(
        new RegisteredServer(made, Upstreams.warnings(made), upstreams.policyFile(), allow),
        (added, terminal) -> {
          compared.print(terminal);
          added.print(terminal);
        });
    return ExitCode.OK;
  }
}
