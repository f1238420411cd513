package dev.writ.cli.command.policy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandGroup;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.FailureReport;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.SystemWords;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.client.AdminClient;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.InstalledTools;
import dev.writ.executor.SystemState;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import dev.writ.guardian.policy.governance.ApprovedTool;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@code writ policy}: what agents may do. */
public final class PolicyCommand implements CommandGroup {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of("policy", "Check, activate, show, explain, test and propose policies.");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new Check(),
        new Activate(),
        new Show(),
        new PolicyExplainCommand(),
        new PolicyTestCommand(),
        new PolicyObserveCommand(),
        new PolicyProposeCommand());
  }

  /** A policy that was checked, compared with the one in force. */
  record Checked(Policy policy, Optional<Policy> inForce, List<String> warnings) implements Report {
    Checked(Policy policy, Optional<Policy> inForce) {
      this(policy, inForce, all(List.of(PolicyAdvice.of(policy), UnknownSurfaces.of(policy))));
    }

    private static List<String> all(List<List<String>> of) {
      return of.stream().flatMap(List::stream).toList();
    }

    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("name", policy.name())
          .put("version", policy.version())
          .put("digest", policy.digest())
          .put("in_force", isInForce())
          .putIfPresent("in_force_digest", inForce, p -> JsonValue.of(p.digest().toString()))
          .putList("warnings", warnings, JsonValue::of)
          .build();
    }

    /** Ignores version and predecessor, which are set at activation. */
    boolean isInForce() {
      return inForce.filter(p -> rules(p).equals(rules(policy))).isPresent();
    }

    private static TreeMap<String, JsonValue> rules(Policy policy) {
      TreeMap<String, JsonValue> members = new TreeMap<>(policy.toJson().members());
      members.remove("version");
      members.remove("previous");
      return members;
    }
  }

  /** Reads a policy from a file; errors name the line and the field. */
  public static Policy parse(Session session, String file) {
    return Policy.parse(session.read(file), file);
  }

  /** {@code writ policy check}. */
  static final class Check implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "check",
              "Check a policy file: every error names file, line, column and field.",
              "Needs no data directory; if there is one, the policy is compared with the one"
                  + " in force.")
          .argument("FILE", "A policy in YAML or JSON.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Policy policy = sound(session, arguments.argument("FILE"));
      Optional<SystemState> state =
          Files.exists(session.home().resolve("writ.json"))
              ? Optional.of(Homes.inForce(session))
              : Optional.empty();
      Optional<Trust> trust = state.map(SystemState::trust);
      Instant now = Homes.clock().instant();
      List<String> warnings =
          Checked.all(
              List.of(
                  PolicyAdvice.of(
                      policy,
                      approver ->
                          trust.stream().allMatch(t -> UnknownApprovers.hasKey(approver, t, now))),
                  UnknownSurfaces.of(policy),
                  trust.map(t -> UnknownApprovers.of(policy, t, now)).orElse(List.of()),
                  ofTools(session, policy)));
      session.show(new Checked(policy, state.flatMap(SystemState::policy), warnings), Check::print);
      return ExitCode.OK;
    }

    /** What the tools of a data directory, where there is one, say of the names in a policy. */
    private static List<String> ofTools(Session session, Policy policy) {
      Home home = new Home(session.home(), () -> null);
      if (!home.exists()) {
        return List.of();
      }
      List<ToolManifest> manifests = InstalledTools.of(home);
      return Stream.of(
              unregistered(manifests, policy),
              UnknownOperations.of(policy, manifests),
              UnknownProfiles.of(policy, manifests),
              UnpinnedApprovals.of(policy, manifests))
          .flatMap(List::stream)
          .toList();
    }

    /** Approved packages that are not there, so that no call of them runs. */
    private static List<String> unregistered(List<ToolManifest> manifests, Policy policy) {
      Set<ToolRef> registered =
          manifests.stream().map(ToolManifest::ref).collect(Collectors.toSet());
      return policy.tools().stream()
          .map(ApprovedTool::ref)
          .filter(tool -> !registered.contains(tool))
          .map(tool ->
              "no package of this digest is registered here as "
                  + tool.name()
                  + " "
                  + tool.version()
                  + ", so each of its calls is refused: "
                  + tool.packageDigest()
                  + " (writ tool register)")
          .toList();
    }

    /** Says all faults, a line for each. */
    private static Policy sound(Session session, String file) {
      byte[] text = session.read(file);
      List<WritException> faults = Policy.faults(text, file);
      if (faults.isEmpty()) {
        return Policy.parse(text, file);
      }
      FailureReport report = new FailureReport(session);
      faults.subList(0, faults.size() - 1).forEach(report::refused);
      throw faults.getLast();
    }

    private static void print(Checked checked, Terminal terminal) {
      Policy policy = checked.policy();
      terminal
          .out()
          .println(
              terminal.paint(Style.GOOD, "good")
                  + "  "
                  + policy.name()
                  + ", version "
                  + policy.version()
                  + ", "
                  + policy.digest());
      terminal
          .out()
          .println(
              "      "
                  + policy.rules().size()
                  + " requirements, "
                  + policy.roles().size()
                  + " roles, "
                  + policy.principals().size()
                  + " principals, "
                  + policy.tools().size()
                  + " approved tools");
      checked
          .warnings()
          .forEach(warning ->
              terminal.out().println(terminal.paint(Style.WARN, "warning") + "  " + warning));
      if (checked.isInForce()) {
        terminal
            .out()
            .println(
                "      this policy is in force, as version " + checked.inForce().get().version());
      } else if (checked.inForce().isPresent()) {
        terminal
            .out()
            .println(
                "      in force is version "
                    + checked.inForce().get().version()
                    + "; writ policy activate puts this one in force");
      }
    }
  }

  /** {@code writ policy activate}. */
  static final class Activate implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of(
              "activate",
              "Sign a policy with the policy owner's key and put it in force.",
              "Version and `previous` are set to follow the policy in force, unless the file"
                  + " states them. Intents issued under the previous policy and not executed are"
                  + " refused from then on.")
          .argument("FILE", "A policy in YAML or JSON.")
          .option("--as", "KEY", "The owner's key (default: policy-owner).")
          .option(
              "--server",
              "URL",
              "Send it to that server (default: the one that has the data directory open, if one"
                  + " has); it takes effect at once.")
          .option(
              "--ca",
              "FILE",
              "With --server: the authority that issued the server's" + " certificate, PEM.");
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      Policy policy = parse(session, arguments.argument("FILE"));
      String owner = arguments.option("--as").orElse("policy-owner");
      Policy activated =
          arguments
              .option("--server")
              .map(url -> atServer(session, policy, owner, SystemWords.uri(url), arguments))
              .orElseGet(() -> found(session, policy, owner));
      session.show(
          new Checked(activated, Optional.of(activated)),
          (c, terminal) ->
              terminal
                  .out()
                  .println(
                      "in force: "
                          + c.policy().name()
                          + ", version "
                          + c.policy().version()
                          + ", "
                          + c.policy().digest()
                          + stated(policy, c.policy())));
      return ExitCode.OK;
    }

    /** Versions count activations, so that of a file that is activated again is not its own. */
    private static String stated(Policy file, Policy activated) {
      return file.version() == activated.version()
          ? ""
          : "; the file says version "
              + file.version()
              + ", and versions count what was put in force";
    }

    /** Where the home is open: in this process, or at its server. */
    private static Policy found(Session session, Policy policy, String owner) {
      session.meansSystem();
      return Homes.write(
          session,
          open -> {
            Policy next = policy.following(open.kernel().system().policyInForce());
            open.kernel().activate(signed(next, open.home(), owner));
            return next;
          },
          server -> {
            Policy next = policy.following(Homes.inForce(session).policyInForce());
            server.post("/v1/policies", signed(next, server.home(), owner));
            return next;
          });
    }

    /**
     * Activates through a server that was named: the ledger is read here, and the signed policy is
     * sent to the server.
     */
    private static Policy atServer(
        Session session, Policy policy, String owner, URI server, Arguments arguments) {
      session.meansSystem();
      Policy inForce = Homes.inForce(session).policyInForce();
      Policy next = policy.following(inForce);
      Optional<Path> authority = arguments.option("--ca").map(Path::of);
      try (AdminClient client = new AdminClient(server, authority)) {
        client.activate(signed(next, Homes.home(session), owner));
      }
      return next;
    }

    private static Envelope signed(Policy policy, Home home, String owner) {
      return Envelope.sign(SystemState.POLICY_TYPE, policy.toJson(), home.key(owner));
    }
  }

  /** {@code writ policy show}. */
  static final class Show implements CliCommand {
    @Override
    public CommandUsage usage() {
      return CommandUsage.of("show", "Show the policy in force, in its canonical members.");
    }

    record InForce(Policy policy) implements Report {
      @Override
      public JsonValue toJson() {
        return policy.toJson();
      }
    }

    @Override
    public ExitCode run(Session session, Arguments arguments) {
      InForce inForce = new InForce(Homes.inForce(session).policyInForce());
      session.show(
          inForce, (p, terminal) -> PrettyJson.lines(p.toJson()).forEach(terminal.out()::println));
      return ExitCode.OK;
    }
  }
}
