package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.mcp.HomeAnswering;
import dev.writ.cli.mcp.LocalAnswering;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.gateway.config.Secrets;
import dev.writ.guardian.document.AccessDocument;
import dev.writ.surfaces.mcp.McpChannel;
import dev.writ.surfaces.mcp.McpLines;
import dev.writ.surfaces.mcp.McpMessage;
import dev.writ.surfaces.mcp.McpRefusal;
import dev.writ.surfaces.mcp.McpRelay;
import dev.writ.surfaces.mcp.McpView;
import dev.writ.tools.registry.BrokenPackage;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code writ mcp}: an agent's MCP server on standard input and output. */
public final class McpCommand implements CliCommand {
  private static final Duration ACCESS_LIFE = Duration.ofMinutes(1);

  /** JSON-RPC's. */
  private static final int INTERNAL_ERROR = -32603;

  private static final List<String> LOOPBACK = List.of("localhost", "127.0.0.1", "[::1]");

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "mcp",
            "Speak the Model Context Protocol on standard input and output: one line in an agent's"
                + " configuration, {\"command\":\"writ\",\"args\":[\"mcp\"]}.",
            "The agent's key signs every call. The data directory is open only while calls"
                + " are at work, so that other commands (above all `writ approve`) can use it"
                + " between calls. If a server has it open, calls go to that server's /mcp. The"
                + " commands below put MCP servers of others behind Writ.")
        .option("--as", "KEY", "The agent's key (default: the home's).")
        .option(
            "--server",
            "NAME",
            "Only the MCP server of that name which `writ mcp add` put behind Writ, with its own"
                + " names of tools (default: every tool).")
        .option("--url", "URL", "Send all calls to this server's /mcp instead.")
        .option(
            "--token",
            "FILE",
            "With --url: a file with the bearer token, which nobody else can read (default:"
                + " the token that the server of this data directory made for the agent; for other"
                + " servers the agent's key signs access documents, which allow no effect).");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new McpAdd(),
        new McpList(),
        new McpShow(),
        new McpTest(),
        new McpRefresh(),
        new McpLogin(),
        new McpRemove(),
        new ImportServers());
  }

  @Override
  public boolean runsByItself() {
    return true;
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) throws IOException {
    Answers answers = new Answers(session, arguments);
    McpLines lines = new McpLines(answers::answer, session.terminal().out());
    Thread stop =
        Thread.ofPlatform()
            .name("writ-stop")
            .unstarted(() -> {
              lines.finish();
              answers.end();
            });
    Runtime.getRuntime().addShutdownHook(stop);
    try {
      lines.run(session.terminal().in());
    } finally {
      answers.end();
    }
    return ExitCode.OK;
  }

  /**
   * Answers requests: in this process, by a server that was named, or by the server that has the
   * home open.
   */
  private static final class Answers {
    private final Session session;
    private final Optional<String> as;
    private final McpView view;
    private final Optional<McpRelay> named;
    private final HomeAnswering here;
    private boolean ended;

    Answers(Session session, Arguments arguments) {
      this.session = session;
      this.as = arguments.option("--as");
      this.view = arguments.option("--server").map(McpView::of).orElse(McpView.ALL);
      Optional<String> token = arguments.option("--token");
      this.named =
          arguments
              .option("--url")
              .map(Answers::url)
              .map(url ->
                  new McpRelay(
                      url,
                      view,
                      token.map(this::bearer).orElseGet(() -> credential(url)),
                      ownServer(url).flatMap(HomeServer::tls)));
      this.here =
          new HomeAnswering(
              this::local,
              () -> HomeServer.of(home()),
              own -> new McpRelay(own.url(), view, credential(own.url()), own.tls()));
      if (token.isPresent() && named.isEmpty()) {
        throw new WritException(CliError.USAGE, "--token needs --url");
      }
      if (named.isEmpty()) {
        key(); // a missing home or key is reported at once, to the person
      }
    }

    /** Without TLS only a loopback address is accepted, since credentials are sent there. */
    private static URI url(String text) {
      try {
        URI url = URI.create(text);
        boolean safe =
            "https".equals(url.getScheme())
                || "http".equals(url.getScheme()) && LOOPBACK.contains(url.getHost());
        if (safe && url.getHost() != null) {
          return url;
        }
      } catch (IllegalArgumentException e) {
        // refused below
      }
      throw new WritException(
          CliError.USAGE, "--url " + text + " is neither https:// nor http:// on this machine");
    }

    private Supplier<String> bearer(String file) {
      String token = new String(Secrets.read(Path.of(file)), StandardCharsets.UTF_8);
      return () -> "Bearer " + token;
    }

    private Home home() {
      return Homes.home(session);
    }

    private SigningKey key() {
      Home home = home();
      return home.key(as.orElseGet(home::agent));
    }

    /**
     * The credential for a server: the token that the server of this home made for the home's
     * agent, or else an access document, which the agent signs and which allows no effect. A server
     * that started again made another token.
     */
    private Supplier<String> credential(URI url) {
      return () ->
          (as.isPresent() ? Optional.<HomeServer>empty() : ownServer(url))
              .map(HomeServer::token)
              .orElseGet(this::access);
    }

    private Optional<HomeServer> ownServer(URI url) {
      return Files.isDirectory(session.home())
          ? HomeServer.of(home()).filter(at -> at.url().equals(url))
          : Optional.empty();
    }

    private String access() {
      Home home = home();
      Instant now = Homes.clock().instant();
      return AccessDocument.header(
          Envelope.sign(
              AccessDocument.TYPE,
              new AccessDocument(home.tenant(), home.installation(), now, now.plus(ACCESS_LIFE))
                  .toJson(),
              key()));
    }

    /** Never throws: an error is the answer, and a line on stderr for the person. */
    Optional<byte[]> answer(byte[] line, McpChannel beside) {
      try {
        return named.isPresent() ? named.get().answer(line, beside) : here.answer(line, beside);
      } catch (WritException e) {
        session.terminal().err().println("writ mcp: " + e.getMessage());
        return e.code() instanceof McpRefusal
            ? McpLines.refusal(e, line)
            : error(line, e.getMessage());
      } catch (RuntimeException e) {
        session.terminal().err().println("writ mcp: " + e);
        return error(line, CliError.INTERNAL.meaning());
      }
    }

    private LocalAnswering local() {
      return new LocalAnswering(
          home(),
          () -> Homes.processes(session, home()),
          () -> SandboxPlace.hostOfKept(home(), session.environment()),
          key(),
          view,
          this::isServed,
          this::tell);
    }

    private void tell(BrokenPackage broken) {
      session
          .terminal()
          .err()
          .println(
              "writ mcp: "
                  + broken.name()
                  + " "
                  + broken.version()
                  + " is left out: "
                  + broken.why().getMessage());
    }

    private boolean isServed() {
      return HomeServer.of(home()).isPresent(); // if a server has it, waiting is useless
    }

    private static Optional<byte[]> error(byte[] line, String message) {
      JsonValue id = JsonValue.NULL;
      try {
        if (!(McpMessage.parse(line) instanceof McpMessage.Request request)) {
          return Optional.empty();
        }
        id = request.id();
      } catch (WritException e) {
        return McpLines.refusal(e, line);
      }
      return Optional.of(
          Jcs.write(
              JsonValue.object()
                  .put("jsonrpc", "2.0")
                  .put("id", id)
                  .put(
                      "error",
                      JsonValue.object()
                          .put("code", INTERNAL_ERROR)
                          .put("message", message)
                          .build())
                  .build()));
    }

    /** Ends the sessions, once. */
    synchronized void end() {
      if (!ended) {
        ended = true;
        here.close();
        named.ifPresent(McpRelay::close);
      }
    }
  }
}
