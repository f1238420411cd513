package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.mcp.LoopbackRedirect;
import dev.writ.cli.term.Terminal;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.mcp.oauth.Login;
import dev.writ.tools.mcp.oauth.OauthClient;
import dev.writ.tools.mcp.oauth.OauthSpec;
import dev.writ.tools.mcp.oauth.OauthWeb;
import dev.writ.tools.mcp.oauth.TokenSet;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.mcp.web.Scopes;
import dev.writ.tools.mcp.web.WebAddress;
import dev.writ.tools.process.ProcessHost;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code writ mcp login}: gets tokens for a server elsewhere (spec/tool-mcp-remote.md). */
final class McpLogin implements CliCommand {
  private static final Duration WAIT = Duration.ofMinutes(5);

  @Override
  public CommandUsage usage() {
    return options(
        CommandUsage.of(
                "login",
                "Log in to an MCP server elsewhere with OAuth: in a browser, or as a client of its"
                    + " own. The tokens are kept as a secret of this installation, and renewed.",
                "More scopes, or another client, make a new version of the package, which counts"
                    + " once the changed policy is activated.")
            .argument("NAME", "Its name.")
            .option(
                "--role", "ROLE", "The role that may call it (default: the policy's only one)."));
  }

  /** The options of a login, which {@code add} has, too. */
  static CommandUsage options(CommandUsage usage) {
    return usage
        .options("--scope", "SCOPES", "Scopes to ask for beside those that the server asks for.")
        .option("--client-id", "ID", "The client that is registered there (default: a new one).")
        .option("--client-secret-ref", "SECRET", "The secret of `writ secret` that proves it.")
        .flag("--client-credentials", "Tokens of the client's own, without a person.")
        .options("--oauth-origin", "ORIGIN", "Another https://host that its endpoints may have.")
        .flag("--no-browser", "Print the address, and read the one of the last page.");
  }

  /** Whether a login is asked for before the server asks for one. */
  static boolean isAskedFor(Arguments arguments) {
    return arguments.has("--client-credentials")
        || arguments.option("--client-id").isPresent()
        || !arguments.options("--scope").isEmpty();
  }

  private record LoggedIn(String name, OauthSpec oauth, boolean changed, Path policy)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("name", name)
          .put("issuer", oauth.issuer())
          .putList("scopes", oauth.scopes(), JsonValue::of)
          .put("changed", changed)
          .build();
    }

    static void print(LoggedIn done, Terminal terminal) {
      terminal.out().println(done.name() + " has tokens of " + done.oauth().issuer());
      if (done.changed()) {
        terminal.out().println("They differ from what was approved; in force once:");
        terminal.out().println("  " + Homes.activation(terminal, done.policy()));
      }
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Upstreams upstreams = new Upstreams(session);
    String name = arguments.argument("NAME");
    UpstreamPackage before = upstreams.one(name);
    RemoteSpec remote =
        before
            .spec()
            .remote()
            .orElseThrow(() ->
                new WritException(CliError.USAGE, name + " is a program here, without a login"));
    RemoteSpec after = login(session, name, remote, arguments);
    boolean changed = !after.equals(remote);
    if (changed) {
      UpstreamPackage made =
          upstreams.register(name, before.spec().at(after), before.tools(), before.own());
      upstreams.allow(made.manifest(), arguments.option("--role"), false);
    }
    session.show(
        new LoggedIn(name, after.oauth().orElseThrow(), changed, upstreams.policyFile()),
        LoggedIn::print);
    return ExitCode.OK;
  }

  /**
   * Logs in, and keeps the tokens.
   *
   * @return the server with what its package says of them
   */
  static RemoteSpec login(Session session, String name, RemoteSpec remote, Arguments arguments) {
    Optional<OauthSpec> before = remote.oauth();
    boolean alone =
        arguments.has("--client-credentials")
            || before.filter(o -> o.grant() == OauthSpec.Grant.CLIENT_CREDENTIALS).isPresent();
    Optional<String> id =
        arguments.option("--client-id").or(() -> before.flatMap(OauthSpec::clientId));
    Optional<String> secretName =
        arguments.option("--client-secret-ref").or(() -> before.flatMap(OauthSpec::clientSecret));
    Optional<String> secret =
        secretName.map(
            n -> new String(Homes.home(session).secrets().read(n), StandardCharsets.UTF_8).strip());
    List<String> scopes = new ArrayList<>(before.map(OauthSpec::scopes).orElse(List.of()));
    arguments.options("--scope").forEach(text -> scopes.addAll(Scopes.read(text)));
    List<String> origins = new ArrayList<>(origins(arguments.options("--oauth-origin")));
    before
        .flatMap(o -> WebAddress.parse(o.tokenEndpoint()))
        .ifPresent(endpoint -> origins.add(endpoint.origin()));
    Login.Wish wish =
        new Login.Wish(
            before.map(OauthSpec::issuer),
            id.map(i -> new OauthClient(i, secret)),
            scopes,
            origins);
    String tokens = tokens(name);
    try (ProcessHost host = Homes.processes(session, Homes.home(session));
        OauthWeb web = new OauthWeb(host.requireSettings(), remote.url())) {
      Login login = Login.at(web, wish);
      TokenSet got = alone ? login.alone() : agreed(session, login, arguments.has("--no-browser"));
      RemoteSpec with =
          remote.with(
              login.spec(
                  alone ? OauthSpec.Grant.CLIENT_CREDENTIALS : OauthSpec.Grant.AUTHORIZATION_CODE,
                  secretName,
                  tokens));
      Homes.home(session).secrets().put(tokens, got.toBytes());
      return with;
    }
  }

  /** The secret that holds the tokens for a server. */
  static String tokens(String name) {
    return "mcp-" + name + "-oauth";
  }

  private static List<String> origins(List<String> given) {
    return given.stream()
        .map(text ->
            WebAddress.parse(text)
                .orElseThrow(
                    () -> new WritException(CliError.USAGE, "--oauth-origin takes https://host"))
                .origin())
        .toList();
  }

  private static TokenSet agreed(Session session, Login login, boolean here) {
    try (LoopbackRedirect redirect = LoopbackRedirect.open()) {
      String address = login.begin(redirect.url());
      // Beside the result: what the command prints may be read by a program.
      Terminal terminal = session.terminal();
      terminal.err().println("Agree at this address, in a browser:");
      terminal.err().println("  " + address);
      if (here) {
        terminal.err().println("Then paste the address of the page that it ends at:");
        terminal.err().flush();
        return login.finish(line(terminal.in()));
      }
      terminal.err().flush();
      browse(session, address);
      return login.finish(redirect.await(WAIT));
    }
  }

  private static String line(InputStream in) {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    try {
      for (int b = in.read(); b >= 0 && b != '\n' && line.size() < 32_000; b = in.read()) {
        line.write(b);
      }
    } catch (IOException e) {
      throw new WritException(CliError.LOGIN_UNANSWERED, "nothing was pasted", e);
    }
    if (line.size() == 0) {
      throw new WritException(CliError.LOGIN_UNANSWERED, "nothing was pasted");
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  /** Opens a browser where there is one; the address was printed, too. */
  private static void browse(Session session, String address) {
    String named = session.environment().getOrDefault("BROWSER", "");
    List<String> programs =
        named.isEmpty() ? List.of("xdg-open", "open") : List.of(named.split(":", 2)[0]);
    for (String program : programs) {
      try {
        new ProcessBuilder(program, address)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
        return;
      } catch (IOException e) {
        continue; // another one, or by hand
      }
    }
  }
}
