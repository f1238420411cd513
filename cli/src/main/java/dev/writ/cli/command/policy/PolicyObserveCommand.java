package dev.writ.cli.command.policy;

import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.guardian.policy.Policy;
import dev.writ.replay.proposal.ObservingPolicy;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;

/** {@code writ policy observe}: the policy in force, observing. */
final class PolicyObserveCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "observe",
            "Write the policy in force with `mode: observe`: its rules and roles are recorded and"
                + " not enforced (spec/propose.md).",
            "Every registered tool is approved. `policy activate` puts it in force; `policy"
                + " propose` then writes a narrow policy from what was recorded.")
        .option("-o", "FILE", "The file to write; an existing one is never overwritten.");
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Policy inForce = Homes.inForce(session).policyInForce();
    String text =
        ObservingPolicy.of(
            inForce,
            ToolRegistry.open(Homes.home(session).tools()).tools().stream()
                .map(RegisteredTool::manifest)
                .toList());
    PolicyFiles.show(
        session, text, Policy.parse(PolicyFiles.bytes(text), "the policy"), arguments.option("-o"));
    return ExitCode.OK;
  }
}
