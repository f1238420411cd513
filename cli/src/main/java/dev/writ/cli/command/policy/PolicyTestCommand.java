package dev.writ.cli.command.policy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Table;
import dev.writ.cli.term.Terminal;
import dev.writ.guardian.PolicyTest;
import dev.writ.guardian.policy.Policy;
import dev.writ.replay.report.JUnitSuite;
import dev.writ.tools.registry.ToolRegistry;
import java.util.List;
import java.util.Optional;

/** {@code writ policy test}: runs the test cases of a policy, for its author's CI. */
final class PolicyTestCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "test",
            "Run a policy's own cases: request, state, expected verdict and code (spec/policy.md).",
            "Needs no data directory; the exit status is 3 if a case gives another result.")
        .argument("POLICY", "")
        .argument("CASES", "")
        .option("--junit", "XML", "Also write a report for CI to this file.");
  }

  record Results(List<PolicyTest.CaseResult> cases) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("failed", failed())
          .put("passed", cases.size() - failed())
          .putList("cases", cases, Results::toJson)
          .build();
    }

    private static JsonValue toJson(PolicyTest.CaseResult c) {
      return JsonValue.object()
          .put("name", c.name())
          .put("passed", c.passed())
          .put("expected_verdict", c.expectedVerdict().name())
          .putIfPresent("expected_code", c.expectedCode(), JsonValue::of)
          .put("verdict", c.verdict().name())
          .putIfPresent("code", c.code(), JsonValue::of)
          .build();
    }

    long failed() {
      return cases.stream().filter(c -> !c.passed()).count();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    arguments.option("--junit").ifPresent(OutputFile::requireNew);
    Policy policy = PolicyCommand.parse(session, arguments.argument("POLICY"));
    String casesFile = arguments.argument("CASES");
    ToolRegistry registry = ToolRegistry.open(session.home().resolve("tools"));
    Results results =
        new Results(
            PolicyTest.run(
                policy,
                session.read(casesFile),
                casesFile,
                ref ->
                    Optional.of(
                        registry
                            .resolve(ref.name(), ref.version(), ref.packageDigest())
                            .manifest())));
    arguments
        .option("--junit")
        .ifPresent(xml -> OutputFile.write(xml, junit(casesFile, results).toXml()));
    session.show(results, PolicyTestCommand::print);
    return results.failed() == 0 ? ExitCode.OK : ExitCode.DIVERGED;
  }

  private static JUnitSuite junit(String file, Results results) {
    return new JUnitSuite(
        "writ policy test",
        results.cases().stream()
            .map(c -> new JUnitSuite.Case(file, c.name(), c.passed() ? List.of() : List.of(bad(c))))
            .toList());
  }

  private static JUnitSuite.Finding bad(PolicyTest.CaseResult c) {
    return new JUnitSuite.Finding(
        JUnitSuite.Kind.FAILURE,
        c.code().orElse(c.verdict().name()),
        "expected "
            + text(c.expectedVerdict().name(), c.expectedCode())
            + ", judged "
            + text(c.verdict().name(), c.code()),
        c.explain().render());
  }

  private static void print(Results results, Terminal terminal) {
    Table table =
        new Table()
            .column("", Table.Fit.KEEP)
            .column("case", Table.Fit.WRAP)
            .column("expected", Table.Fit.KEEP)
            .column("judged", Table.Fit.KEEP);
    for (PolicyTest.CaseResult c : results.cases()) {
      table.row(
          c.passed() ? Table.cell("good", Style.GOOD) : Table.cell("BAD", Style.BAD),
          Table.cell(c.name()),
          Table.cell(text(c.expectedVerdict().name(), c.expectedCode())),
          Table.cell(text(c.verdict().name(), c.code())));
    }
    terminal.print(table);
    results.cases().stream()
        .filter(c -> !c.passed())
        .forEach(c -> terminal.out().print("\n" + c.name() + ":\n" + c.explain().render()));
    terminal
        .out()
        .println(
            "\n"
                + (results.cases().size() - results.failed())
                + " good, "
                + results.failed()
                + " bad");
  }

  private static String text(String verdict, Optional<String> code) {
    return verdict + code.map(c -> " " + c).orElse("");
  }
}
