package dev.writ.bench;

import dev.writ.canonicalize.disk.TemporaryDirectory;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Each step of Writ against its floor, measured side by side in one run. */
public final class Bench {
  private Bench() {}

  /**
   * Measures in a new directory, which is removed afterwards.
   *
   * @param only part of the names of the steps to measure; empty for all
   * @param database of PostgreSQL, with an installation in it as well; without one those steps are
   *     left out
   * @param parent where the directory is made: its disk is measured
   * @param progress gets a line for each stage of the work
   */
  public static BenchReport measure(
      Plan plan, String only, Optional<URI> database, Path parent, Consumer<String> progress)
      throws IOException {
    double load = BenchReport.load();
    TemporaryDirectory place = TemporaryDirectory.in(parent, "writ-bench");
    Path home = place.path();
    Stopwatch watch = new Stopwatch(plan);
    try (SandboxSteps sandboxes = SandboxSteps.where(only.startsWith("start"));
        ToolCalls calls = ToolCalls.where(only.startsWith("tool"));
        JsSteps scripts = JsSteps.where(only.startsWith("js"), watch, home);
        McpSteps servers = McpSteps.where(only.startsWith("mcp"), watch, home);
        DatabaseSteps databases = DatabaseSteps.where(database, watch, home);
        Lab lab = new Lab(home);
        LedgerSteps ledger = new LedgerSteps(watch, lab);
        EffectSteps effects = new EffectSteps(watch, lab);
        BundleSteps bundles = new BundleSteps(watch, lab);
        HttpSteps http = new HttpSteps(watch, lab)) {
      List<Step> steps = new ArrayList<>();
      steps.addAll(CurveSteps.of(watch, BenchDocuments.small()));
      steps.addAll(BatchSteps.of(watch, BenchDocuments.small()));
      steps.addAll(HashSteps.of(watch));
      steps.addAll(JsonSteps.of(watch));
      steps.addAll(AdapterSteps.of(watch));
      steps.addAll(LaneSteps.of(watch));
      steps.addAll(ledger.steps());
      steps.addAll(effects.steps());
      steps.addAll(new AccountSteps(lab).steps());
      steps.addAll(new DiskSteps(home.resolve("killed"), plan.effectsBefore() / 4).steps());
      steps.addAll(StartSteps.of(home));
      steps.addAll(bundles.steps());
      steps.addAll(http.steps());
      steps.addAll(sandboxes.steps(watch));
      steps.addAll(calls.steps());
      steps.addAll(servers.steps());
      steps.addAll(scripts.steps());
      steps.addAll(databases.steps());
      steps.removeIf(step -> !step.name().contains(only));
      List<Row> rows =
          new Harness(plan).measure(steps, round -> progress.accept(told(round, plan)));
      return new BenchReport(rows, plan, BenchReport.diskOf(home), load);
    } finally {
      place.close();
    }
  }

  private static String told(int round, Plan plan) {
    return round == 0 ? "warming up" : "round " + round + " of " + plan.rounds();
  }
}
