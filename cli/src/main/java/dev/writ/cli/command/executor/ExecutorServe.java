package dev.writ.cli.command.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SignatureEngines;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.UntilStopped;
import dev.writ.cli.command.evidence.SeenByBoth;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.ServiceManager;
import dev.writ.embed.home.ApartHomes;
import dev.writ.embed.home.GatewaysSecret;
import dev.writ.embed.home.GuardianCard;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenExecutor;
import dev.writ.embed.home.Opening;
import dev.writ.executor.Kernel;
import dev.writ.gateway.apart.ApartSecret;
import dev.writ.gateway.apart.CrossWitness;
import dev.writ.gateway.apart.ExecutorServer;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.pipeline.Running;
import dev.writ.ledger.CommitObserver;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;

/** {@code writ executor serve}: serves the intents of a guardian. */
final class ExecutorServe implements CliCommand {
  private static final int PORT = 8183;
  private static final Duration DRAIN = Duration.ofSeconds(30);

  /** After an hour of looks for renewed files of TLS. */
  private static final long TIDIES_EACH = Duration.ofHours(1).dividedBy(TlsRenewal.EVERY);

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "serve",
            "Serve the intents of the guardian that this executor has joined, until Ctrl-C or"
                + " SIGTERM; then it finishes the effects at work.",
            "Whoever calls needs the shared secret; off loopback both sides also show a"
                + " certificate.")
        .option("--host", "ADDRESS", "Listen on this address (default: 127.0.0.1).")
        .option("--port", "PORT", "Listen on this port (default: 8183); 0 for any.")
        .option("--certificate", "FILE", "This server's certificate, PEM.")
        .option("--key", "FILE", "Its key, PEM.")
        .option("--ca", "FILE", "The authority that issues the guardian's certificate, PEM.")
        .example("--home executor-home executor serve");
  }

  record Serves(String url, String guardian) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("guardian", guardian).put("url", url).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    SignatureEngines.use(SignatureEngines.fastest());
    Home home = Homes.home(session);
    Listen listen =
        new Listen(
            arguments.option("--host").orElse("127.0.0.1"),
            arguments.integer("--port", 0, 65535).orElse((long) PORT).intValue(),
            protection(arguments));
    ApartSecret secret = new ApartSecret(GatewaysSecret.read(ApartHomes.secret(home)));
    String guardian = GuardianCard.read(GuardianCard.of(home)).log().name();
    Running running = new Running();
    Opening opening =
        Opening.of(Homes.clock(), Homes.processes(session, home)).wrapping(running::cancellable);
    try (UntilStopped stopped = new UntilStopped();
        OpenExecutor open = OpenExecutor.open(home, opening);
        CrossWitness witness = SeenByBoth.ofExecutor(home, open.executor().kernel());
        GatewayServer server =
            ExecutorServer.start(
                listen,
                open.executor(),
                running,
                witness,
                secret,
                failure -> session.terminal().err().println(failure),
                Homes.clock(),
                new SecureRandom())) {
      Kernel kernel = open.executor().kernel();
      kernel.observe(new NotStored(session.terminal().err()), CommitObserver.NONE);
      kernel.whenChanged(
          () -> running.prohibit((tool, version) -> kernel.system().isProhibited(tool, version)));
      session.show(
          new Serves(server.url(), guardian),
          (serves, terminal) -> {
            terminal.out().println("guardian  " + serves.guardian());
            terminal.out().println("serving   " + serves.url());
          });
      session.terminal().out().flush();
      ServiceManager.of(session.environment()).ready();
      Optional<TlsRenewal> tls = server.renewal(told(session));
      for (long looks = 1; stopped.pause(TlsRenewal.EVERY); looks++) {
        tls.ifPresent(files -> look(session, files));
        if (looks % TIDIES_EACH == 0) {
          tidy(session, kernel);
        }
      }
      server.drain(DRAIN);
    }
    return ExitCode.OK;
  }

  private static void look(Session session, TlsRenewal files) {
    try {
      files.look();
    } catch (IllegalStateException e) { // Vert.x did not answer; it looks again
      session.terminal().err().println(e.getMessage());
    }
  }

  private static TlsRenewal.Told told(Session session) {
    return new TlsRenewal.Told() {
      @Override
      public void renewed(String detail) {
        session.terminal().err().println("renewed   " + detail);
      }

      @Override
      public void refused(WritException why) {
        session.terminal().err().println(why.getMessage());
      }
    };
  }

  /** Deletes contents as policy's rules say, and uploads that no order named. */
  private static void tidy(Session session, Kernel kernel) {
    try {
      kernel.contents().retain(kernel.now());
      kernel.contents().collect(kernel.now());
    } catch (WritException e) {
      session.terminal().err().println(e.getMessage());
    }
  }

  private static Listen.Protection protection(Arguments arguments) {
    Optional<String> certificate = arguments.option("--certificate");
    Optional<String> key = arguments.option("--key");
    Optional<String> authority = arguments.option("--ca");
    if (certificate.isEmpty() && key.isEmpty() && authority.isEmpty()) {
      return new Listen.Protection.None();
    }
    if (certificate.isEmpty() || key.isEmpty() || authority.isEmpty()) {
      throw new WritException(CliError.USAGE, "give all of --certificate, --key and --ca, or none");
    }
    return new Listen.Protection.Tls(
        Path.of(certificate.get()),
        Path.of(key.get()),
        Optional.of(new Listen.Clients(Path.of(authority.get()), true)));
  }
}
