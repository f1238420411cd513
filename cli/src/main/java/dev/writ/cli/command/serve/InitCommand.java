package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
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
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeJoiner;
import dev.writ.embed.home.HomeMaker;
import dev.writ.embed.home.JoinFile;
import dev.writ.embed.home.KeySource;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.executor.CellPlacement;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
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
            "With WRIT_PASSPHRASE set the keys are encrypted; otherwise only you can read them.",
            "At a terminal it asks in which folder the keys of operator, policy owner, approver and"
                + " agent are to be, apart from the server's.")
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
            "--cells",
            "NUMBER",
            "With --database and --contents: how many logs the installation has for good, so that"
                + " several gateways share the work (default: 1; at most 256).")
        .option(
            "--join",
            "FROM",
            "Make a further gateway of an installation in a database, with the keys, policy and"
                + " tools of this home, or by the file that `writ cells invite` made of it;"
                + " --database and --contents where it reaches the database or the store by"
                + " another address.")
        .option(
            "--keys-to",
            "FOLDER",
            "Make the keys of operator, policy owner, approver and agent in this folder, so that"
                + " the data directory has only those that its server signs with.")
        .example("init")
        .example("init --keys-to /media/ann/keys")
        .example("--home gw-1 init --database postgresql://writ@db.example/writ");
  }

  /**
   * What was made.
   *
   * @param keys the folder of the keys that are not in the home
   */
  record Made(Path dir, Optional<Path> keys) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("home", dir.toString())
          .putIfPresent("keys", keys, folder -> JsonValue.of(folder.toString()))
          .build();
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
            .orElseGet(
                () -> StarterPolicy.of(Homes.place(session), names, BuiltinTools.manifests()));
    Optional<KeySource.Apart> apart = ApartKeys.of(session, arguments.option("--keys-to"));
    Home home =
        make(
            session,
            names,
            text,
            apart,
            address(arguments, "--database"),
            address(arguments, "--contents"),
            arguments.integer("--cells", 1, CellPlacement.CELLS_MAX).orElse(1L).intValue());
    StarterGateway.write(home, StarterGateway.PORT, List.of());
    session.show(
        new Made(home.dir(), apart.map(KeySource.Apart::folder)),
        (made, terminal) -> print(made, names, terminal));
    return ExitCode.OK;
  }

  private static ExitCode join(Session session, Arguments arguments) {
    for (String other :
        List.of("--tenant", "--agent", "--approver", "--policy", "--keys-to", "--cells")) {
      if (arguments.option(other).isPresent()) {
        throw new WritException(CliError.USAGE, other + " with --join: those of that home hold");
      }
    }
    Home home = Homes.place(session);
    Path first = Path.of(arguments.option("--join").orElseThrow());
    if (Files.isRegularFile(first)) {
      joinBy(first, home, arguments);
    } else {
      join(home.at(first), home, arguments);
    }
    session.show(
        new Made(home.dir(), Optional.empty()),
        (made, terminal) -> {
          terminal.out().println("Made " + made.dir() + ", a further gateway");
          terminal.out().println("Next: write `cells` into its gateway.yaml, then writ serve");
        });
    return ExitCode.OK;
  }

  private static void join(Home first, Home home, Arguments arguments) {
    first.requireExisting();
    HomeJoiner.join(
        first,
        home,
        address(arguments, "--database"),
        address(arguments, "--contents"),
        Homes.clock());
  }

  /** By way of a home that is there for as long as this takes, beside the one that is made. */
  private static void joinBy(Path file, Home home, Arguments arguments) {
    try (TemporaryDirectory first =
        TemporaryDirectory.in(home.dir().getParent(), "." + home.dir().getFileName() + ".join")) {
      JoinFile.unpack(file, first.path());
      join(home.at(first.path()), home, arguments);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, home.dir() + ": " + e.getMessage(), e);
    }
  }

  private static Optional<URI> address(Arguments arguments, String option) {
    return arguments.option(option).map(at -> address(option, at));
  }

  /**
   * The address of a database or a store.
   *
   * @throws WritException {@code CLI-001}
   */
  public static URI address(String option, String text) {
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
      Optional<KeySource.Apart> apart,
      Optional<URI> database,
      Optional<URI> contents,
      int cells) {
    if (contents.isPresent() && database.isEmpty()) {
      throw new WritException(CliError.USAGE, "--contents without --database");
    }
    if (cells > 1 && database.isEmpty()) {
      throw new WritException(CliError.USAGE, "--cells without --database");
    }
    Home home = Homes.place(session);
    HomeMaker plain =
        new HomeMaker(
            home,
            names,
            new KeySource(Map.of(), Optional.ofNullable(Homes.passphrase(session)), apart),
            Homes.clock(),
            new SecureRandom());
    HomeMaker maker =
        apart.isPresent() || cells > 1
            ? plain.withSurfaceKey(ServedMcp.KEY, McpSurface.NAME)
            : plain;
    database.map(at -> maker.withDatabase(at, contents, cells)).orElse(maker).make(policyText);
    return home;
  }

  private static void print(Made made, Home.Names names, Terminal terminal) {
    terminal.out().println("Made " + made.dir());
    terminal.out().println("  keys/         " + ApartKeys.inHome(made.keys()));
    terminal
        .out()
        .println("  policy.yaml   what agents may do: change it, then writ policy activate");
    terminal
        .out()
        .println("  gateway.yaml  the server: change it, then writ config check and writ serve");
    terminal.out().println("  trust.jwks    the public keys, for whoever verifies");
    ApartKeys.lines(made.keys(), names, terminal).forEach(terminal.out()::println);
    terminal
        .out()
        .println("Beside it lies its anchor, by which a restored backup is noticed: keep it.");
    terminal.out().println("Next: " + Homes.name(terminal) + " run js --param source='6*7'");
  }
}
