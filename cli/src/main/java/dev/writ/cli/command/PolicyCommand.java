package dev.writ.cli.command;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.CliCommand;
import dev.writ.cli.ExitCode;
import dev.writ.cli.Homes;
import dev.writ.cli.Report;
import dev.writ.cli.Session;
import dev.writ.cli.term.PrettyJson;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.executor.SystemState;
import dev.writ.guardian.policy.Policy;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code writ policy}: what agents may do. */
@Command(name = "policy", description = "Check, activate, show, explain and test policies.")
public final class PolicyCommand implements CliCommand {
  private final Session session;

  public PolicyCommand(Session session) {
    this.session = session;
  }

  @Override
  public ExitCode run() {
    throw new IllegalStateException("a group of commands");
  }

  @Override
  public List<CliCommand> subcommands() {
    return List.of(
        new Check(session),
        new Activate(session),
        new Show(session),
        new PolicyExplainCommand(session),
        new PolicyTestCommand(session));
  }

  /** A policy, and how it stands to the one in force. */
  record Checked(Policy policy, Optional<Policy> inForce) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("name", policy.name())
          .put("version", policy.version())
          .put("digest", policy.digest())
          .put("in_force", isInForce())
          .putIfPresent(
              "in_force_digest", inForce, p -> JsonValue.of(p.digest().toString()))
          .build();
    }

    boolean isInForce() {
      return inForce.map(p -> p.digest().equals(policy.digest())).orElse(false);
    }
  }

  static Policy parse(Session session, String file) {
    return Policy.parse(session.read(file), file);
  }

  /** {@code writ policy check}. */
  @Command(
      name = "check",
      description = {
        "Check a policy file: every error names file, line, column and field.",
        "Needs no data directory; where there is one, says how the policy stands to it."
      })
  static final class Check implements CliCommand {
    private final Session session;

    @Parameters(paramLabel = "FILE", description = "A policy in YAML or JSON.")
    private String file;

    Check(Session session) {
      this.session = session;
    }

    @Override
    public ExitCode run() {
      Policy policy = parse(session, file);
      Optional<Policy> inForce =
          Files.exists(session.home().resolve("writ.json"))
              ? Homes.read(session, ledger -> SystemState.read(ledger).policy())
              : Optional.empty();
      session.show(new Checked(policy, inForce), Check::print);
      return ExitCode.OK;
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
      if (checked.isInForce()) {
        terminal.out().println("      this policy is in force");
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
  @Command(
      name = "activate",
      description = {
        "Sign a policy with the policy owner's key and put it in force.",
        "Version and `previous` are set to follow the policy in force, unless the file states them",
        "so. What was decided under the old policy and not executed is refused from then on."
      })
  static final class Activate implements CliCommand {
    private final Session session;

    @Parameters(paramLabel = "FILE", description = "A policy in YAML or JSON.")
    private String file;

    @Option(
        names = "--as",
        paramLabel = "KEY",
        defaultValue = "policy-owner",
        description = "The owner's key (default: policy-owner).")
    private String as;

    Activate(Session session) {
      this.session = session;
    }

    @Override
    public ExitCode run() {
      Policy policy = parse(session, file);
      Checked checked =
          Homes.work(
              session,
              home -> {
                Policy inForce = home.kernel().system().policyInForce();
                Policy next = follow(policy, inForce);
                home.kernel()
                    .activate(
                        Envelope.sign(
                            SystemState.POLICY_TYPE, next.toJson(), home.home().key(as)));
                return new Checked(next, Optional.of(next));
              });
      session.show(
          checked,
          (c, terminal) ->
              terminal
                  .out()
                  .println(
                      "in force: "
                          + c.policy().name()
                          + ", version "
                          + c.policy().version()
                          + ", "
                          + c.policy().digest()));
      return ExitCode.OK;
    }

    /** People edit one file again and again: what only counts up is counted for them. */
    private static Policy follow(Policy policy, Policy inForce) {
      if (policy.previous().isPresent()) {
        return policy;
      }
      Digest previous = inForce.digest();
      long version = Math.max(policy.version(), inForce.version() + 1);
      var object = JsonValue.object();
      policy
          .toJson()
          .members()
          .forEach(
              (key, value) ->
                  object.put(key, key.equals("version") ? JsonValue.of(version) : value));
      return Policy.ofCanonical(object.put("previous", previous).build());
    }
  }

  /** {@code writ policy show}. */
  @Command(name = "show", description = "Show the policy in force, in canonical members.")
  static final class Show implements CliCommand {
    private final Session session;

    Show(Session session) {
      this.session = session;
    }

    record InForce(Policy policy) implements Report {
      @Override
      public JsonValue toJson() {
        return policy.toJson();
      }
    }

    @Override
    public ExitCode run() {
      InForce inForce =
          Homes.read(
              session, ledger -> new InForce(SystemState.read(ledger).policyInForce()));
      session.show(
          inForce,
          (p, terminal) -> PrettyJson.lines(p.toJson()).forEach(terminal.out()::println));
      return ExitCode.OK;
    }
  }
}
