package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.cli.propose.Proposal;
import dev.writ.cli.propose.SeenCalls;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.SystemState;
import dev.writ.guardian.PolicyTest;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.tools.registry.ToolRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * {@code writ policy propose}: a policy from what the ledger saw, and cases that hold it to that.
 */
final class PolicyProposeCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "propose",
            "Write a policy that allows what the ledger saw being allowed, and cases that hold it"
                + " to the record.",
            "Best after some time under a policy with `mode: observe`. The proposal is tested by"
                + " its own cases at once; `writ replay RUN --against POLICY` then shows what it"
                + " would have refused of any run.")
        .option("-o", "FILE", "The policy to write (default: policy-proposed.yaml).")
        .option("--cases", "FILE", "The cases to write (default: policy-proposed.cases.yaml).")
        .option(
            "--since",
            "TIME",
            "Leave out what was decided before, for example" + " 2026-11-01T00:00:00.000Z.");
  }

  record Proposed(String policy, String cases, int calls, int passed, List<String> failed)
      implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("policy", policy)
          .put("cases", cases)
          .put("calls", calls)
          .put("passed", passed)
          .putList("failed", failed, JsonValue::of)
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Instant since = arguments.option("--since").map(PolicyProposeCommand::time).orElse(Instant.MIN);
    Path policyFile = Path.of(arguments.option("-o").orElse("policy-proposed.yaml"));
    Path casesFile = Path.of(arguments.option("--cases").orElse("policy-proposed.cases.yaml"));
    List<SeenCalls.Call> calls = Homes.read(session, ledger -> SeenCalls.in(ledger, since));
    Policy inForce = Homes.read(session, SystemState::read).policyInForce();
    List<SeenCalls.Call> usable =
        calls.stream()
            .filter(c ->
                inForce
                    .tool(c.request().effect().tool(), c.request().effect().version())
                    .isPresent())
            .toList();
    if (usable.isEmpty()) {
      throw new WritException(CliError.NOTHING_SEEN, calls.size() + " calls");
    }
    ToolRegistry registry = ToolRegistry.open(session.home().resolve("tools"));
    Function<ToolRef, Optional<ToolManifest>> manifests =
        ref ->
            Optional.of(
                registry.resolve(ref.name(), ref.version(), ref.packageDigest()).manifest());
    Proposal proposal = Proposal.of(usable, inForce, manifests);
    byte[] policy = proposal.policy().getBytes(StandardCharsets.UTF_8);
    byte[] cases = proposal.cases().getBytes(StandardCharsets.UTF_8);
    List<PolicyTest.CaseResult> results =
        PolicyTest.run(
            Policy.parse(policy, policyFile.toString()), cases, casesFile.toString(), manifests);
    write(policyFile, policy);
    write(casesFile, cases);
    List<String> failed =
        results.stream().filter(r -> !r.passed()).map(PolicyTest.CaseResult::name).toList();
    session.show(
        new Proposed(
            policyFile.toString(),
            casesFile.toString(),
            usable.size(),
            results.size() - failed.size(),
            failed),
        PolicyProposeCommand::print);
    return failed.isEmpty() ? ExitCode.OK : ExitCode.DIVERGED;
  }

  private static Instant time(String text) {
    try {
      return Timestamps.parse(text);
    } catch (WritException e) {
      throw new WritException(CliError.USAGE, "--since " + text + " is no time", e);
    }
  }

  private static void write(Path file, byte[] bytes) {
    try {
      Files.write(file, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new WritException(
          EmbedError.FILE_UNWRITABLE, file + ": " + e.getClass().getSimpleName(), e);
    }
  }

  private static void print(Proposed proposed, Terminal terminal) {
    terminal
        .out()
        .println(
            proposed.policy()
                + " and "
                + proposed.cases()
                + ", from "
                + proposed.calls()
                + " calls: "
                + proposed.passed()
                + " cases good, "
                + proposed.failed().size()
                + " bad");
    proposed.failed().forEach(name -> terminal.out().println("  bad: " + name));
  }
}
