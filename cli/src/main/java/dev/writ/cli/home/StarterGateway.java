package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.gateway.http.auth.Tokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** The server's configuration that a new home begins with. */
public final class StarterGateway {
  /** Where a server listens that nobody told another port. */
  public static final long PORT = 8181;

  /** Its name in the home. */
  public static final String FILE = "gateway.yaml";

  private StarterGateway() {}

  public static Path file(Home home) {
    return home.dir().resolve(FILE);
  }

  /** Writes it, with the port on which the server is to be found. */
  public static void write(Home home, long port, List<Tokens.Entry> tokens) {
    try {
      DurableFiles.REAL.write(file(home), text(port, tokens).getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file(home).toString(), e);
    }
  }

  private static String text(long port, List<Tokens.Entry> tokens) {
    StringBuilder entries = new StringBuilder();
    tokens.forEach(token -> entries.append('\n').append(entry(token)));
    return """
    # The server of this data directory, as writ serve reads it. After a change:  writ config check
    # Then start the server again; tokens, certificates and origins it reads anew at a SIGHUP.
    # All settings: spec/gateway.md, Configuration.
    writ_gateway: 1

    # Loopback: no other machine reaches it. Where others are to, it needs tls: own, certificate and
    # key (PEM files), or tls: proxy behind a proxy that speaks TLS.
    listen: { host: 127.0.0.1, port: {{port}} }

    # Who may call without a key of their own, by the digest of a token. One more:
    #   writ config token NAME --subject SUBJECT
    # What SUBJECT may do, policy.yaml says under principals.
    tokens:{{tokens}}

    # What is served beside /v1 and the console: MCP at /mcp. `mcp: { settings: { served: "no" } }` ends that.
    surfaces:
      mcp: {}
    """
        .replace("{{port}}", Long.toString(port))
        .replace("{{tokens}}", tokens.isEmpty() ? " []" : entries);
  }

  /** An entry of the list {@code tokens}. */
  public static String entry(Tokens.Entry token) {
    return "  - { name: "
        + quoted(token.name())
        + ", digest: \""
        + token.digest()
        + "\", tenant: "
        + quoted(token.tenant())
        + ", subject: "
        + quoted(token.subject())
        + " }";
  }

  private static String quoted(String name) {
    return new String(Jcs.write(JsonValue.of(name)), StandardCharsets.UTF_8);
  }
}
