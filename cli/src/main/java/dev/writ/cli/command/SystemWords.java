package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.client.AdminClient;
import dev.writ.embed.home.Home;
import dev.writ.executor.document.SystemChange;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Applies signed documents of the system run: by the kernel of the home, or by the server that has
 * the home open. Either way they take effect at once.
 */
public final class SystemWords {
  /** Where a server takes them. */
  public static final String CHANGES = "/v1/system-changes";

  private SystemWords() {}

  /** The options that every such command has. */
  public static CommandUsage options(CommandUsage usage) {
    return usage
        .option(
            "--server",
            "URL",
            "Send it to that server (default: the one that has the data directory open, if one"
                + " has).")
        .option(
            "--ca",
            "FILE",
            "With --server: the authority that issued the server's" + " certificate, PEM.");
  }

  /** The option that names the operator's key. */
  public static CommandUsage signer(CommandUsage usage) {
    return usage.option("--operator", "KEY", "The operator's key (default: operator).");
  }

  /** The operator's key. */
  public static SigningKey operator(Home home, Arguments arguments) {
    return home.key(arguments.option("--operator").orElse("operator"));
  }

  /** An operator's change, signed now. */
  public static Envelope change(Home home, Arguments arguments, String kind, JsonValue.Obj detail) {
    return Envelope.sign(
        SystemChange.TYPE,
        new SystemChange(kind, detail, Homes.clock().instant()).toJson(),
        operator(home, arguments));
  }

  /**
   * @throws WritException with the code of the failed check, or {@code GWY-060} with the server's
   */
  public static void send(Session session, Arguments arguments, List<Envelope> documents) {
    Optional<URI> named = arguments.option("--server").map(SystemWords::uri);
    if (named.isPresent()) {
      toServer(named.get(), arguments, documents);
      return;
    }
    session.meansSystem();
    Homes.write(
        session,
        home -> {
          documents.forEach(home.kernel()::change);
          return null;
        },
        server -> {
          documents.forEach(document -> server.post(CHANGES, document));
          return null;
        });
  }

  private static void toServer(URI server, Arguments arguments, List<Envelope> documents) {
    try (AdminClient client = new AdminClient(server, arguments.option("--ca").map(Path::of))) {
      documents.forEach(document -> client.post(CHANGES, document));
    }
  }

  /**
   * @throws WritException {@code CLI-001}
   */
  public static URI uri(String url) {
    return Optional.of(url)
        .filter(text -> text.matches("https?://[A-Za-z0-9.:\\[\\]-]+/?"))
        .flatMap(SystemWords::withHost)
        .orElseThrow(() ->
            new WritException(CliError.USAGE, "\"" + url + "\" is no http address of a server"));
  }

  /** An address, if it has a host: brackets and colons make many that have none. */
  public static Optional<URI> withHost(String url) {
    try {
      return Optional.of(new URI(url)).filter(uri -> uri.getHost() != null);
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }
}
