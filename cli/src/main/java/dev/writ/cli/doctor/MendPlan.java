package dev.writ.cli.doctor;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.base.Report;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What {@code writ doctor --fix} would do, or has done.
 *
 * @param isDone whether it was done, or tried; otherwise nothing was changed
 * @param rest findings that it does nothing about, and that are not good
 */
public record MendPlan(boolean isDone, List<Step> steps, List<HostFinding> rest) implements Report {
  public MendPlan {
    steps = List.copyOf(steps);
    rest = List.copyOf(rest);
  }

  /**
   * One mend.
   *
   * @param failure why it could not be done
   */
  public record Step(HostFinding finding, Optional<String> failure) {
    /** As a command of the shell. */
    public String text() {
      return finding.mend().orElseThrow().text();
    }

    private JsonValue toJson() {
      return JsonValue.object()
          .put("does", text())
          .putIfPresent("failure", failure, JsonValue::of)
          .put("found", finding.found())
          .put("what", finding.what())
          .build();
    }
  }

  /** The plan for what was found; nothing is changed yet. */
  public static MendPlan of(List<HostFinding> findings) {
    return new MendPlan(
        false,
        findings.stream()
            .filter(finding -> finding.mend().isPresent())
            .map(finding -> new Step(finding, Optional.empty()))
            .toList(),
        findings.stream()
            .filter(finding -> finding.mend().isEmpty())
            .filter(finding ->
                finding.state() == HostFinding.State.BAD
                    || finding.state() == HostFinding.State.WARNING)
            .toList());
  }

  /** Does all of it; one that cannot be done keeps no other from being done. */
  public MendPlan done() {
    List<Step> tried = new ArrayList<>();
    for (Step step : steps) {
      Optional<String> failure = Optional.empty();
      try {
        step.finding().mend().orElseThrow().work().run();
      } catch (IOException e) {
        failure = Optional.of(e.getClass().getSimpleName() + ": " + e.getMessage());
      }
      tried.add(new Step(step.finding(), failure));
    }
    return new MendPlan(true, tried, rest);
  }

  /** Whether something was tried and could not be done. */
  public boolean hasFailed() {
    return steps.stream().anyMatch(step -> step.failure().isPresent());
  }

  @Override
  public JsonValue toJson() {
    return JsonValue.object()
        .put("done", isDone)
        .putList("rest", rest, HostFinding::toJson)
        .putList("steps", steps, Step::toJson)
        .build();
  }
}
