package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.UpstreamPackage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** {@code writ mcp add}: puts an MCP server of others behind Writ (spec/tool-mcp.md). */
final class McpAdd implements CliCommand {
  @Override
  public CommandUsage usage() {
    CommandUsage usage =
        CommandUsage.of(
                "add",
                "Put an MCP server behind Writ: start it once, pin what it lists, and let policy"
                    + " judge each call.",
                "A program runs in the sandbox, with a workspace of its own that ends with it,"
                    + " and without a network but for --host. Options stand before `--`. A server"
                    + " elsewhere is named by its address instead, https://host/path (Streamable"
                    + " HTTP).",
                "Of `npx -y PACKAGE`, npm installs the package once, here, without running its"
                    + " scripts; what is started is what was approved then, until `writ mcp"
                    + " refresh`.")
            .argument("NAME", "The tool's name: a-z, 0-9 and hyphen.")
            .moreArguments(
                "COMMAND",
                "After `--`: the program that is the server, and its arguments. Or the address of"
                    + " a server elsewhere.");
    return McpLogin.options(
        ServerOptions.options(usage)
            .options("--only", "TOOL,…", "The tools that may be called; others are denied.")
            .option("--role", "ROLE", "The role that may call it (default: the policy's only one).")
            .flag("--ask", "Each call of it waits for an approval.")
            .flag("--accept-hidden", "Accept descriptions with characters that nobody can see.")
            .flag("--no-login", "Do not log in where the server asks for it.")
            .flag("--no-policy", "Leave policy.yaml as it is."));
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    FreshTokens tokens = new FreshTokens(session, upstreams, arguments.argument("NAME"));
    try {
      return run(session, arguments, upstreams, tokens);
    } catch (WritException e) {
      tokens.forget();
      throw e;
    }
  }

  private static ExitCode run(
      Session session, Arguments arguments, Upstreams upstreams, FreshTokens tokens) {
    String name = arguments.argument("NAME");
    TreeMap<String, byte[]> own = ServerOptions.files(session, arguments);
    ServerSpec spec = ServerOptions.spec(upstreams, arguments);
    Optional<Path> before =
        spec.local()
            .flatMap(l ->
                l.kept().stateBytes().isPresent() ? upstreams.stateOf(name) : Optional.empty());
    if (spec.remote().isPresent() && McpLogin.isAskedFor(arguments)) {
      spec = tokens.login(spec, arguments);
    }
    boolean allow = !arguments.has("--no-policy");
    NewServer added =
        new NewServer(
            name, spec, own, arguments.option("--code"), arguments.has("--accept-hidden"));
    UpstreamPackage made;
    try {
      made = added.add(session, upstreams);
    } catch (WritException e) {
      if (e.code() != ToolsError.UPSTREAM_UNAUTHORIZED
          || arguments.has("--no-login")
          || !added.mayLogIn()) {
        throw e;
      }
      made = added.with(tokens.login(spec, arguments)).add(session, upstreams);
    }
    List<String> only = new ArrayList<>();
    arguments.options("--only").forEach(names -> only.addAll(List.of(names.split(","))));
    if (!made.tools().byName().keySet().containsAll(only)) {
      throw new WritException(
          CliError.USAGE, "--only " + only + ": it lists " + made.tools().byName().keySet());
    }
    if (allow) {
      upstreams.allow(made.manifest(), arguments.option("--role"), only, arguments.has("--ask"));
    }
    List<String> warnings = Upstreams.warnings(made);
    before.ifPresent(
        path -> warnings.add("it goes on with the state of an earlier " + name + ", " + path));
    session.show(
        new RegisteredServer(made, warnings, upstreams.policyFile(), allow),
        RegisteredServer::print);
    return ExitCode.OK;
  }
}
