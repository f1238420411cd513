package dev.writ.cli.command.machine;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.term.Text;
import dev.writ.client.AdminClient;
import dev.writ.embed.home.Home;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** {@code writ console}: signs in to the console of a running server, by a key of the home. */
public final class ConsoleCommand implements CliCommand {
  private static final Set<String> EVERY_ADDRESS = Set.of("0.0.0.0", "[::]", "[0:0:0:0:0:0:0:0]");

  @Override
  public CommandUsage usage() {
    return SystemWords.options(
        CommandUsage.of(
                "console",
                "Print an address that opens the console of a running server, signed in by a key"
                    + " of the data directory.",
                "The address works once, within two minutes. What it shows is what policy lets"
                    + " the key's holder see.")
            .option(
                "--as", "KEY", "The key of an approver or an agent (default: the approver's)."));
  }

  record Entrance(String address, String subject, Instant expiresAt) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("address", address)
          .put("subject", subject)
          .put("expires_at", expiresAt)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Home home = Homes.home(session);
    String name = arguments.option("--as").orElseGet(home::approver);
    String access = HomeServer.access(home, home.tenant(), home.key(name), Homes.clock().instant());
    Optional<URI> named = arguments.option("--server").map(SystemWords::uri);
    URI server;
    AdminClient.SignInCode code;
    if (named.isPresent()) {
      server = named.get();
      try (AdminClient client = new AdminClient(server, arguments.option("--ca").map(Path::of))) {
        code = client.signInCode(access);
      }
    } else {
      HomeServer own =
          HomeServer.of(home)
              .orElseThrow(() -> new WritException(CliError.NO_SERVER, home.dir().toString()));
      server = forBrowser(own.url());
      Fields fields = Fields.of("answer", own.order("/console/sign-in-codes", new byte[0], access));
      code = new AdminClient.SignInCode(fields.name("code"), fields.time("expires_at"));
    }
    session.show(
        new Entrance(server.resolve("/") + "#/sign-in/" + code.text(), name, code.expiresAt()),
        (entrance, terminal) -> {
          terminal.out().println(entrance.address());
          terminal
              .err()
              .println(
                  "Signs in "
                      + Text.printable(entrance.subject())
                      + ", once, until "
                      + entrance.expiresAt()
                      + ".");
        });
    return ExitCode.OK;
  }

  /**
   * The address at which a browser of this machine calls a server: one that listens on every
   * address says so with one that no browser takes for this machine's, and that is no secure
   * context, in which alone a page has keys and can verify.
   */
  static URI forBrowser(URI server) {
    return EVERY_ADDRESS.contains(server.getHost())
        ? URI.create(server.getScheme() + "://localhost:" + server.getPort())
        : server;
  }
}
