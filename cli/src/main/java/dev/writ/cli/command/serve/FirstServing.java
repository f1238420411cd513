package dev.writ.cli.command.serve;

import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.home.StarterGateway;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.KeySource;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.sandbox.host.ShellScript;
import dev.writ.tools.registry.BuiltinTools;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/**
 * {@code writ serve --init}: a data directory for a team, with a token for its agent, and what to
 * do next.
 *
 * @param keys the folder of the keys that are not in the home
 * @param token shown once; the configuration has its digest
 */
record FirstServing(Home home, Optional<Path> keys, String token) {
  private static final String NAME = "team";

  /**
   * @param port on which clients are told to find the server, so that its next start has it, too
   * @return empty where there is a data directory already: then nothing is made, and that is said
   */
  static Optional<FirstServing> make(Session session, Optional<Long> port) {
    if (new Home(session.home(), () -> null).exists()) {
      session
          .terminal()
          .err()
          .println(
              session.home()
                  + " is there already: it is served as it is. A further token: "
                  + Homes.name(session.terminal())
                  + " config token NAME");
      return Optional.empty();
    }
    Home.Names names = InitCommand.NAMES;
    Optional<KeySource.Apart> apart = ApartKeys.of(session, Optional.empty());
    String token = Tokens.generate(new SecureRandom());
    Home home =
        InitCommand.make(
            session,
            names,
            StarterPolicy.of(Homes.place(session), names, BuiltinTools.manifests()),
            apart,
            Optional.empty(),
            Optional.empty(),
            1);
    StarterGateway.write(
        home,
        port.filter(named -> named > 0).orElse(StarterGateway.PORT),
        List.of(
            new Tokens.Entry(
                NAME,
                Tokens.digest(token),
                names.tenant(),
                names.agent(),
                List.of(),
                Optional.empty())));
    return Optional.of(new FirstServing(home, apart.map(KeySource.Apart::folder), token));
  }

  /** What was made, and how the first call is made. */
  void print(Terminal terminal, String url) {
    String writ = Homes.name() + inHome();
    terminal.out().println();
    terminal.out().println("Made " + home.dir());
    terminal.out().println("  keys/         " + ApartKeys.inHome(keys));
    List.of(
            "  policy.yaml   what agents may do: principals has " + home.agent(),
            "  gateway.yaml  this server: tokens has \""
                + NAME
                + "\", for the subject "
                + home.agent())
        .forEach(terminal.out()::println);
    ApartKeys.lines(keys, new Home.Names(home.tenant(), home.agent(), home.approver()), terminal)
        .forEach(terminal.out()::println);
    List.of(
            "",
            "The token, shown this once:",
            "  " + token,
            "",
            "An MCP client gets it by this entry of its configuration:",
            "  " + entry(url),
            "Claude Code:",
            "  claude mcp add --transport http writ " + url + "/mcp --header \"" + bearer() + "\"",
            "A client on this machine needs no token:",
            "  " + writ + " setup claude-code   (or claude-desktop, cursor, vscode, codex)",
            "",
            "A first call, from another shell:",
            "  " + call(url),
            "",
            "What came of it:  " + writ + " log",
            "The console:      " + writ + " console")
        .forEach(terminal.out()::println);
  }

  /** {@code --home} for whoever is in another folder, or did not set WRIT_HOME. */
  private String inHome() {
    return home.dir().equals(Path.of("writ-data").toAbsolutePath())
        ? ""
        : " --home " + ShellScript.quoted(home.dir().toString());
  }

  private String bearer() {
    return "Authorization: Bearer " + token;
  }

  private String entry(String url) {
    return "{\"mcpServers\":{\"writ\":{\"type\":\"http\",\"url\":\""
        + url
        + "/mcp\",\"headers\":{\"Authorization\":\"Bearer "
        + token
        + "\"}}}}";
  }

  /** One call without a session, MCP 2026-07-28. */
  private String call(String url) {
    return "curl -s "
        + url
        + "/mcp -H '"
        + bearer()
        + "' -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'"
        + " -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: js' -d"
        + " '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"js\","
        + "\"arguments\":{\"source\":\"6*7\"},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
        + "\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}'";
  }
}
