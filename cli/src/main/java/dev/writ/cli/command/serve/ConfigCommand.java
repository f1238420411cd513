package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.key.PeoplesKeys;
import dev.writ.cli.error.CliError;
import dev.writ.cli.home.HomeServer;
import dev.writ.cli.home.ServedConfiguration;
import dev.writ.cli.home.StarterGateway;
import dev.writ.cli.home.TlsWarnings;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.embed.home.Home;
import dev.writ.executor.SystemState;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.auth.Tokens;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** {@code writ config}: the configuration of {@code writ serve}. */
public final class ConfigCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("config", "Check the server's configuration; make tokens for it.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(new Check(), new Token());
  }

  /**
   * Reads a configuration with the overrides of the environment.
   *
   * @throws WritException {@code GWY-001} where there is no such file, {@code GWY-002}, {@code
   *     GWY-003}
   */
  public static GatewayConfig read(Session session, String file) {
    if (!file.equals("-") && !Files.isRegularFile(Path.of(file))) {
      throw new WritException(GatewayError.CONFIG_UNREADABLE, file);
    }
    return GatewayConfig.parse(session.read(file), file, session.environment());
  }

  /** The configuration of a home; an empty one where it has none, as after {@code writ demo}. */
  static GatewayConfig ofHome(Session session, Home home) {
    Path file = StarterGateway.file(home);
    return Files.exists(file)
        ? read(session, file.toString())
        : GatewayConfig.parse(
            "writ_gateway: 1\n".getBytes(StandardCharsets.UTF_8),
            "(no configuration)",
            session.environment());
  }

  /** {@code writ config check}. */
  static final class Check implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "check",
              "Read a configuration as the server would, and summarize it.",
              "What it refuses the server refuses, and nothing else: surfaces and their settings,"
                  + " files of TLS and of secrets (whose content is not shown), tokens, sinks,"
                  + " ports; with a data directory also keys, and what its policy does not know.")
          .optionalArgument(
              "FILE", "A configuration in YAML (default: gateway.yaml in the data directory).")
          .option("--config", "FILE", "The same, as `writ serve` takes it.");
    }

    /**
     * @param keys whether there was a data directory to check the keys of surfaces in
     */
    record Checked(GatewayConfig config, boolean keys) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .put("host", config.listen().host())
            .put("port", config.listen().port())
            .put("tls", tls())
            .put("tokens", config.tokens().size())
            .put("certificates", config.extras().certificates().size())
            .putList("surfaces", List.copyOf(config.surfaces().keySet()), JsonValue::of)
            .putList("sinks", List.copyOf(config.extras().sinks().keySet()), JsonValue::of)
            .put("keys_checked", keys)
            .build();
      }

      String tls() {
        return switch (config.listen().protection()) {
          case Listen.Protection.None _ -> "none";
          case Listen.Protection.Proxy _ -> "proxy";
          case Listen.Protection.Tls _ -> "own";
        };
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Optional<Home> home = Optional.of(Homes.place(session)).filter(Home::exists);
      Optional<String> file = named(arguments);
      ServedConfiguration served =
          ServedConfiguration.of(
              file.map(named -> read(session, named))
                  .orElseGet(() -> ofHome(session, Homes.home(session))),
              file.map(named -> Path.of(named).toAbsolutePath().getParent())
                  .orElseGet(() -> session.home().toAbsolutePath()),
              session.environment(),
              Homes.clock());
      GatewayConfig config = served.config();
      boolean keys = home.isPresent();
      if (keys) {
        SystemState system = Homes.inForce(session);
        served.require(home.get(), system.trust());
        GatewayConfig written = config;
        config = ServedMcp.served(written, home.get(), system.trust());
        ServedMcp.notServed(written, config).ifPresent(line -> warn(session, line));
        PeoplesKeys.finding(home.get(), system.trust(), session.terminal())
            .ifPresent(line -> warn(session, line));
        if (config.extras().cells().isPresent()) {
          ServedCells.requireSharedContents(home.get()); // as a takeover
        }
        system
            .policy()
            .ifPresent(policy ->
                served
                    .warnings(policy, Homes.clock().instant())
                    .forEach(line -> warn(session, line)));
      }
      TlsWarnings.of(config, Homes.clock().instant()).forEach(line -> warn(session, line));
      // The server that runs by it has its ports, and is no obstacle to itself.
      if (home.flatMap(HomeServer::of).isEmpty()) {
        served
            .takenPorts()
            .forEach(port -> warn(session, "another process has " + port + " now (GWY-004)"));
      }
      session.show(new Checked(config, keys), Check::print);
      return ExitCode.OK;
    }

    /** The file, as an argument or as the option of the other commands. */
    private static Optional<String> named(Arguments arguments) {
      Optional<String> argument = arguments.optionalArgument("FILE");
      Optional<String> option = arguments.option("--config");
      if (argument.isPresent() && option.isPresent()) {
        throw new WritException(CliError.USAGE, "FILE and --config are the same: give one");
      }
      return argument.or(() -> option);
    }

    private static void print(Checked checked, Terminal terminal) {
      GatewayConfig config = checked.config();
      terminal
          .out()
          .println(
              "listens on "
                  + config.listen().host()
                  + ":"
                  + config.listen().port()
                  + ", tls "
                  + checked.tls()
                  + "; tokens: "
                  + config.tokens().size()
                  + "; surfaces: native"
                  + config.surfaces().keySet().stream()
                      .map(name -> " " + name)
                      .collect(Collectors.joining())
                  + (config.extras().sinks().isEmpty()
                      ? ""
                      : "; sinks: " + String.join(" ", config.extras().sinks().keySet()))
                  + (checked.keys() ? "" : "; keys not checked: no data directory here"));
    }

    private static void warn(Session session, String line) {
      session.terminal().err().println("warning: " + Text.printable(line));
    }
  }

  /** {@code writ config token}. */
  static final class Token implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "token",
              "Make a bearer token: print it once, and the entry for the configuration.",
              "The configuration holds only its digest.")
          .argument("NAME", "Its name in logs.")
          .option("--tenant", "TENANT", "The tenant (default: the data directory's, else local).")
          .option(
              "--subject",
              "SUBJECT",
              "The subject that it acts for (default: the data directory's agent, else agent).")
          .example("config token ci --subject builder");
    }

    record Made(String token, Tokens.Entry entry) implements Report {
      @Override
      public JsonValue toJson() {
        return JsonValue.object()
            .put("token", token)
            .put("name", entry.name())
            .put("digest", entry.digest())
            .put("tenant", entry.tenant())
            .put("subject", entry.subject())
            .build();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      String token = Tokens.generate(new SecureRandom());
      Optional<Home> home = Optional.of(Homes.place(session)).filter(Home::exists);
      Tokens.Entry entry =
          new Tokens.Entry(
              arguments.argument("NAME"),
              Tokens.digest(token),
              arguments
                  .option("--tenant")
                  .or(() -> home.map(Home::tenant))
                  .orElse(InitCommand.NAMES.tenant()),
              arguments
                  .option("--subject")
                  .or(() -> home.map(Home::agent))
                  .orElse(InitCommand.NAMES.agent()),
              List.of(),
              Optional.empty());
      requireReadable(entry);
      session.show(
          new Made(token, entry),
          (made, terminal) -> {
            terminal.out().println(made.token());
            terminal.out().println("under tokens: in the configuration:");
            terminal.out().println(StarterGateway.entry(made.entry()));
          });
      if (home.isPresent()) {
        unknown(session, entry)
            .ifPresent(
                line -> session.terminal().err().println("warning: " + Text.printable(line)));
      }
      return ExitCode.OK;
    }

    /** That policy knows nobody of that name; a ledger that cannot be read holds no token up. */
    private static Optional<String> unknown(Session session, Tokens.Entry entry) {
      try {
        return Homes.inForce(session)
            .policy()
            .flatMap(policy ->
                ServedConfiguration.warn(
                    policy,
                    "token " + entry.name(),
                    entry.tenant(),
                    entry.subject(),
                    entry.roles()));
      } catch (WritException _) {
        return Optional.empty();
      }
    }

    /**
     * Reads the entry as the server will, so that nobody has a token whose entry stops the next
     * start.
     *
     * @throws WritException {@code CLI-001}
     */
    private static void requireReadable(Tokens.Entry entry) {
      String text = "writ_gateway: 1\ntokens:\n" + StarterGateway.entry(entry) + "\n";
      try {
        GatewayConfig.parse(text.getBytes(StandardCharsets.UTF_8), "the entry", Map.of());
      } catch (WritException e) {
        throw new WritException(CliError.USAGE, e.found(), e);
      }
    }
  }
}
