package dev.writ.cli.command.witness;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.UntilStopped;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.ServiceManager;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.witness.WitnessServer;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.note.NoteKey;
import dev.writ.ledger.note.WitnessKey;
import dev.writ.ledger.witness.Witness;
import dev.writ.ledger.witness.WitnessStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** {@code writ witness serve}: is a witness of logs of others. */
final class WitnessServe implements CliCommand {
  private static final int PORT = 8464;
  private static final Duration DRAIN = Duration.ofSeconds(2);
  private static final Duration LOOK_EVERY = Duration.ofHours(1);

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "serve",
            "Be a witness: cosign the checkpoints of logs of others, each only where it continues"
                + " the one before (C2SP tlog-witness). Until Ctrl-C or SIGTERM.",
            "Needs no data directory of Writ. The first start makes the witness's key and prints"
                + " what auditors need of it.")
        .option("--dir", "DIR", "Where it keeps its key and what it has seen; made if need be.")
        .option("--name", "NAME", "Its name in cosignatures; at the first start, and fixed then.")
        .options(
            "--log",
            "VKEY",
            "The key of a log that it knows: what `writ checkpoint --vkey` prints there. Several"
                + " may be given.")
        .option("--host", "ADDRESS", "Listen on this address (default: 127.0.0.1).")
        .option("--port", "PORT", "Listen on this port (default: 8464); 0 for any.")
        .flag("--behind-proxy", "A proxy in front speaks TLS; needed where others reach it.")
        .example(
            "witness serve --dir witness --name witness.example/w1 --log"
                + " writ.example/log+7b415bdf+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c");
  }

  record Serves(WitnessKey key, String url) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("key", key.toString()).put("url", url).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Path dir = Path.of(required(arguments, "--dir"));
    List<NoteKey> logs = arguments.options("--log").stream().map(NoteKey::parse).toList();
    if (logs.isEmpty()) {
      throw new WritException(CliError.USAGE, "--log is missing: a witness knows its logs");
    }
    Listen listen =
        new Listen(
            arguments.option("--host").orElse("127.0.0.1"),
            arguments.integer("--port", 0, 65535).orElse((long) PORT).intValue(),
            arguments.has("--behind-proxy")
                ? new Listen.Protection.Proxy()
                : new Listen.Protection.None());
    WitnessStore store = WitnessStore.open(dir, Disk.REAL);
    Named named = named(session, store, dir, arguments.option("--name"));
    try (UntilStopped stopped = new UntilStopped();
        Witness witness = Witness.of(store, named.name(), named.key(), logs);
        GatewayServer server =
            WitnessServer.start(
                listen,
                witness,
                failure -> session.terminal().err().println(failure),
                Homes.clock(),
                new SecureRandom())) {
      session.show(
          new Serves(witness.key(), server.url()),
          (serves, terminal) -> {
            terminal.out().println("key      " + serves.key());
            terminal.out().println("serving  " + serves.url());
          });
      session.terminal().out().flush();
      ServiceManager.of(session.environment()).ready();
      while (stopped.pause(LOOK_EVERY)) {
        // until a signal comes
      }
      server.drain(DRAIN);
    }
    return ExitCode.OK;
  }

  private static String required(Arguments arguments, String option) {
    return arguments
        .option(option)
        .orElseThrow(() -> new WritException(CliError.USAGE, option + " is missing"));
  }

  private record Named(String name, SigningKey key) {}

  /** The witness's key under its name; both are made at the first start. */
  private static Named named(Session session, WitnessStore store, Path dir, Optional<String> name) {
    try {
      return named(session, dir, name);
    } catch (WritException e) {
      store.close();
      throw e;
    } catch (IOException e) {
      store.close();
      throw new WritException(LedgerError.WITNESS_STATE, e.toString(), e);
    }
  }

  private static Named named(Session session, Path dir, Optional<String> name) throws IOException {
    Path secret = dir.resolve("witness.pem");
    Path open = dir.resolve("witness.vkey");
    if (!Files.exists(open)) {
      String given =
          name.orElseThrow(() ->
              new WritException(CliError.USAGE, "--name is missing: this is the first start"));
      if (!Files.exists(secret)) {
        SecureRandom random = new SecureRandom();
        SigningKey fresh = SigningKey.generateEd25519(random);
        WitnessKey named = new WitnessKey(given, fresh.verifyingKey()); // a name that may be one
        KeyFiles.write(secret, fresh, Homes.passphrase(session), random);
        writeOpen(open, named);
      } else {
        writeOpen(open, new WitnessKey(given, read(session, secret).verifyingKey()));
      }
    }
    SigningKey key = read(session, secret);
    WitnessKey stated =
        WitnessKey.parse(Files.readString(open, StandardCharsets.UTF_8).stripTrailing());
    if (!stated.key().equals(key.verifyingKey())) {
      throw new WritException(LedgerError.WITNESS_STATE, open + " is not of " + secret);
    }
    name.filter(n -> !n.equals(stated.name()))
        .ifPresent(n -> {
          throw new WritException(
              CliError.USAGE, "--name " + n + ": the witness in " + dir + " is " + stated.name());
        });
    return new Named(stated.name(), key);
  }

  private static void writeOpen(Path file, WitnessKey key) throws IOException {
    DurableFiles.REAL.write(file, (key + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private static SigningKey read(Session session, Path file) {
    return KeyFiles.read(file, () -> Homes.passphrase(session));
  }
}
