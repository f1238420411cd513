package dev.writ.cli.command;

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
import dev.writ.cli.home.StarterGateway;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeJoiner;
import dev.writ.embed.home.HomeMaker;
import dev.writ.embed.home.KeySource;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.ledger.Ledger;
import dev.writ.tools.registry.BuiltinTools;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;

/** {@code writ init}: keys, policy and ledger of a new installation. */
public final class InitCommand implements CliCommand {
  /** Who is who unless options say otherwise. */
  static final Home.Names NAMES = new Home.Names("local", "agent", "approver");

  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "init",
            "Make a data directory: keys, a policy to begin with, a ledger.",
            "With WRIT_PASSPHRASE set the keys are encrypted; otherwise only you can read them.")
        .option("--tenant", "NAME", "The tenant (default: local).")
        .option("--agent", "NAME", "The agent that requests (default: agent).")
        .option("--approver", "NAME", "The approver (default: approver).")
        .option("--policy", "FILE", "Begin with this policy instead of the starter policy.")
        .option(
            "--database",
            "ADDRESS",
            "Keep the ledger in this database instead of the directory, such as"
                + " postgresql://writ@db.example/writ?cell=0.")
        .option(
            "--contents",
            "ADDRESS",
            "With --database: keep large contents in this store instead of the directory, such as"
                + " s3://writ/acme?region=eu-central-1. Gateways that share a database need that.")
        .option(
            "--join",
            "HOME",
            "Make a further gateway of an installation in a database, with the keys, policy and"
                + " tools of this home or copy of it; --database and --contents where it reaches"
                + " the database or the store by another address.")
        .example("init")
        .example("--home gw-1 init --database postgresql://writ@db.example/writ");
  }

  record Made(Path dir) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object().put("home", dir.toString()).build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    if (arguments.option("--join").isPresent()) {
      return join(session, arguments);
    }
    Home.Names names =
        new Home.Names(
            arguments.option("--tenant").orElse(NAMES.tenant()),
            arguments.option("--agent").orElse(NAMES.agent()),
            arguments.option("--approver").orElse(NAMES.approver()));
    String text =
        arguments
            .option("--policy")
            .map(file -> new String(session.read(file), StandardCharsets.UTF_8))
            .orElseGet(() -> StarterPolicy.text(names, BuiltinTools.manifests()));
    Home home =
        make(
            session,
            names,
            text,
            address(arguments, "--database"),
            address(arguments, "--contents"));
    StarterGateway.write(home, List.of());
    session.show(new Made(home.dir()), InitCommand::print);
    return ExitCode.OK;
  }

  private static ExitCode join(Session session, Arguments arguments) {
    for (String other : List.of("--tenant", "--agent", "--approver", "--policy")) {
      if (arguments.option(other).isPresent()) {
        throw new WritException(CliError.USAGE, other + " with --join: those of that home hold");
      }
    }
    char[] passphrase = Homes.passphrase(session);
    Home first = new Home(Path.of(arguments.option("--join").orElseThrow()), () -> passphrase);
    Home home = new Home(session.home(), () -> passphrase);
    first.requireExisting();
    URI database =
        address(arguments, "--database").orElseGet(() -> Ledger.database(first.ledger()));
    Optional<URI> contents =
        address(arguments, "--contents").or(() -> Ledger.contents(first.ledger()));
    HomeJoiner.join(first, home, database, contents, Homes.clock());
    session.show(
        new Made(home.dir()),
        (made, terminal) -> {
          terminal.out().println("Made " + made.dir() + ", a further gateway");
          terminal.out().println("Next: write `cells` into its gateway.yaml, then writ serve");
        });
    return ExitCode.OK;
  }

  private static Optional<URI> address(Arguments arguments, String option) {
    return arguments.option(option).map(at -> address(option, at));
  }

  /**
   * The address of a database or a store.
   *
   * @throws WritException {@code CLI-001}
   */
  static URI address(String option, String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new WritException(
          CliError.USAGE, option + ": " + e.getReason() + " at " + e.getIndex(), e);
    }
  }

  static Home make(
      Session session,
      Home.Names names,
      String policyText,
      Optional<URI> database,
      Optional<URI> contents) {
    if (contents.isPresent() && database.isEmpty()) {
      throw new WritException(CliError.USAGE, "--contents without --database");
    }
    char[] passphrase = Homes.passphrase(session);
    Home home = new Home(session.home(), () -> passphrase);
    HomeMaker maker =
        new HomeMaker(
            home,
            names,
            KeySource.made(Optional.ofNullable(passphrase)),
            Homes.clock(),
            new SecureRandom());
    database.map(at -> maker.withDatabase(at, contents)).orElse(maker).make(policyText);
    return home;
  }

  private static void print(Made made, Terminal terminal) {
    terminal.out().println("Made " + made.dir());
    terminal.out().println("  keys/         private keys, one for each role");
    terminal
        .out()
        .println("  policy.yaml   what agents may do: change it, then writ policy activate");
    terminal
        .out()
        .println("  gateway.yaml  the server: change it, then writ config check and writ serve");
    terminal.out().println("  trust.jwks    the public keys, for whoever verifies");
    terminal.out().println("Beside it lies its anchor, which tells a restored backup: keep it.");
    terminal.out().println("Next: " + Homes.name() + " run js --param source='6*7'");
  }
}
