package dev.writ.cli.command.policy;

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
import dev.writ.cli.term.Terminal;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.CellPlacement;
import dev.writ.guardian.PolicyTest;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.proposal.PolicyProposal;
import dev.writ.replay.proposal.Proposal;
import dev.writ.replay.proposal.SeenCall;
import dev.writ.tools.registry.ToolRegistry;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** {@code writ policy propose}: the narrowest policy that allows what was recorded. */
final class PolicyProposeCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "propose",
            "Write a policy that allows what was allowed so far and little else, and cases that"
                + " hold it to the record (spec/propose.md). Only reads, also while a server runs.",
            "The cases, and conditions on few words, hosts and directories, have arguments of"
                + " recorded calls in them.")
        .option("-o", "FILE", "The policy's file; an existing one is never overwritten.")
        .option("--cases", "FILE", "The file for `policy test`; likewise.")
        .options("--run", "RUN", "Only calls in this run; may be given several times.")
        .option(
            "--since", "TIME", "Only calls from this time on, such as 2026-11-23T08:00:00.000Z.");
  }

  private record Proposed(Proposal proposal, long held, List<String> failed) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("calls", proposal.calls())
          .put("operations", proposal.operations())
          .put("cases", held + failed.size())
          .putList("failed", failed, JsonValue::of)
          .put("policy", proposal.policy().toJson())
          .build();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<Instant> since = arguments.option("--since").map(Timestamps::parse);
    List<String> runs = arguments.options("--run");
    Predicate<RunId> wanted = run -> runs.isEmpty() || runs.contains(run.run());
    ToolRegistry registry = ToolRegistry.open(Homes.home(session).tools());
    Function<ToolRef, Optional<ToolManifest>> manifests = ref -> manifest(registry, ref);
    List<SeenCall> seen =
        homes(session).stream()
            .flatMap(home -> seen(home, wanted).stream())
            .filter(call -> since.filter(call.at()::isBefore).isEmpty())
            .sorted(Comparator.comparing(SeenCall::at))
            .toList();
    if (seen.isEmpty()) {
      throw new WritException(CliError.NOTHING_SEEN, "0 calls");
    }
    Proposal proposal = PolicyProposal.of(Homes.inForce(session).policyInForce(), seen, manifests);
    List<PolicyTest.CaseResult> results =
        proposal.cases().isEmpty()
            ? List.of()
            : PolicyTest.run(
                proposal.policy(), PolicyFiles.bytes(proposal.cases()), "the cases", manifests);
    arguments.option("--cases").ifPresent(file -> PolicyFiles.write(file, proposal.cases()));
    arguments.option("-o").ifPresent(file -> PolicyFiles.write(file, proposal.text()));
    Proposed proposed =
        new Proposed(
            proposal,
            results.stream().filter(PolicyTest.CaseResult::passed).count(),
            results.stream().filter(r -> !r.passed()).map(PolicyTest.CaseResult::name).toList());
    boolean written = arguments.option("-o").isPresent();
    session.show(proposed, (p, terminal) -> print(p, written, terminal));
    return proposed.failed().isEmpty() ? ExitCode.OK : ExitCode.DIVERGED;
  }

  /** One policy holds in all cells of an installation: what any of them recorded is to be in it. */
  private static List<Home> homes(Session session) {
    Home home = Homes.home(session);
    return home.cells() == 1 || session.cell().isPresent()
        ? List.of(home)
        : IntStream.range(CellPlacement.SYSTEM + 1, home.cells()).mapToObj(home::inCell).toList();
  }

  private static List<SeenCall> seen(Home home, Predicate<RunId> wanted) {
    try (LedgerView ledger = OpenHome.read(home)) {
      return SeenCall.read(ledger, wanted);
    }
  }

  /** Empty where the package is not registered any more: then less is known of the call. */
  private static Optional<ToolManifest> manifest(ToolRegistry registry, ToolRef ref) {
    try {
      return Optional.of(
          registry.resolve(ref.name(), ref.version(), ref.packageDigest()).manifest());
    } catch (WritException gone) {
      return Optional.empty();
    }
  }

  private static void print(Proposed proposed, boolean written, Terminal terminal) {
    if (!written) {
      terminal.out().print(proposed.proposal().text());
      return;
    }
    terminal
        .out()
        .println(
            Proposal.counted(proposed.proposal().calls(), "call")
                + " of "
                + Proposal.counted(proposed.proposal().operations(), "operation")
                + "; "
                + proposed.held()
                + " cases hold");
    proposed.failed().forEach(name -> terminal.out().println("does NOT hold: " + name));
  }
}
