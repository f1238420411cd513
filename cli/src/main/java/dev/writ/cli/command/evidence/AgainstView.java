package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.OutputFile;
import dev.writ.cli.command.policy.PolicyCommand;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.guardian.policy.Policy;
import dev.writ.replay.engine.PolicyCounterfactual;
import dev.writ.replay.report.JUnitSuite;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** {@code writ replay --against}: which past decisions another policy would change, and why. */
final class AgainstView {
  private AgainstView() {}

  record Run(String file, String run, List<PolicyCounterfactual.Judged> decisions) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("file", file)
          .put("run", run)
          .putList("decisions", decisions, PolicyCounterfactual.Judged::toJson)
          .build();
    }
  }

  record Answers(Policy policy, List<Run> runs) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("policy", policy.digest())
          .put("decisions", count(_ -> true))
          .put("changes", count(PolicyCounterfactual.Judged::changes))
          .put("unknown", count(j -> j.answer() == PolicyCounterfactual.Answer.UNKNOWN))
          .putList("runs", runs, Run::toJson)
          .build();
    }

    long count(Predicate<PolicyCounterfactual.Judged> what) {
      return runs.stream().flatMap(run -> run.decisions().stream()).filter(what).count();
    }
  }

  /**
   * @param junit the file of a report for CI
   */
  static ExitCode run(
      Session session,
      List<String> files,
      Optional<Trust> trust,
      String file,
      Optional<String> junit) {
    Policy policy = PolicyCommand.parse(session, file);
    List<Run> runs = new ArrayList<>();
    try (NamedBundles bundles = new NamedBundles(session)) {
      for (String name : files) {
        try (BundleFile bundle = BundleFile.verified(bundles.file(name), trust)) {
          runs.add(
              new Run(
                  name,
                  bundle.recording().manifest().run().toString(),
                  PolicyCounterfactual.judge(bundle.recording(), policy)));
        }
      }
    }
    Answers answers = new Answers(policy, runs);
    junit.ifPresent(xml -> OutputFile.write(xml, junit(answers).toXml()));
    session.show(answers, AgainstView::print);
    if (answers.count(PolicyCounterfactual.Judged::changes) > 0) {
      return ExitCode.DIVERGED;
    }
    return answers.count(j -> j.answer() == PolicyCounterfactual.Answer.UNKNOWN) > 0
        ? ExitCode.UNAVAILABLE
        : ExitCode.OK;
  }

  private static JUnitSuite junit(Answers answers) {
    List<JUnitSuite.Case> cases = new ArrayList<>();
    for (Run run : answers.runs()) {
      run.decisions()
          .forEach(j ->
              cases.add(
                  new JUnitSuite.Case(
                      run.file() + ": " + run.run(),
                      heading(j),
                      isShown(j) ? List.of(finding(j)) : List.of())));
    }
    return new JUnitSuite("writ replay --against", cases);
  }

  private static JUnitSuite.Finding finding(PolicyCounterfactual.Judged judged) {
    return new JUnitSuite.Finding(
        judged.changes() ? JUnitSuite.Kind.FAILURE : JUnitSuite.Kind.SKIPPED,
        judged.code().orElse(judged.answer().name()),
        recorded(judged) + ", now " + now(judged),
        why(judged));
  }

  private static String heading(PolicyCounterfactual.Judged judged) {
    return "event " + judged.seq() + "  " + judged.subject() + "  " + judged.effect();
  }

  private static String recorded(PolicyCounterfactual.Judged judged) {
    return judged.recorded() + judged.recordedCode().map(c -> " " + c).orElse("");
  }

  private static String now(PolicyCounterfactual.Judged judged) {
    return judged.answer() + judged.code().map(c -> " " + c).orElse("");
  }

  private static String why(PolicyCounterfactual.Judged judged) {
    return judged.check().map(c -> c + ": ").orElse("") + judged.why();
  }

  private static boolean isShown(PolicyCounterfactual.Judged judged) {
    return judged.changes() || judged.answer() == PolicyCounterfactual.Answer.UNKNOWN;
  }

  private static void print(Answers answers, Terminal terminal) {
    for (Run run : answers.runs()) {
      terminal.out().println(Text.printable(run.file() + ": " + run.run()));
      if (run.decisions().stream().noneMatch(AgainstView::isShown)) {
        continue;
      }
      run.decisions().stream().filter(AgainstView::isShown).forEach(j -> print(j, terminal));
    }
    terminal
        .out()
        .println(
            answers.count(_ -> true)
                + " decisions, "
                + answers.count(PolicyCounterfactual.Judged::changes)
                + " would change, "
                + answers.count(j -> j.answer() == PolicyCounterfactual.Answer.UNKNOWN)
                + " unknown");
  }

  /** One line for the verdicts, one for the reason, which can be long. */
  private static void print(PolicyCounterfactual.Judged judged, Terminal terminal) {
    terminal
        .out()
        .println(
            Text.printable(heading(judged))
                + ": "
                + recorded(judged)
                + ", now "
                + terminal.paint(judged.changes() ? Style.BAD : Style.PLAIN, now(judged)));
    terminal.out().println(Text.printable("    " + why(judged)));
  }
}
