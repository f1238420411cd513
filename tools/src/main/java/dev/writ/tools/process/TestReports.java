package dev.writ.tools.process;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The content of reports among a call's artifacts: tests in JUnit XML, coverage in Cobertura's or
 * JaCoCo's format. They are statements of the program, and not verified.
 */
public final class TestReports {
  private static final int REPORTS_MAX = 64;

  private TestReports() {}

  /** Numbers in documents end at 2^53 - 1, so larger claims are capped. */
  private static long bounded(long count) {
    return Math.min(count, JsonValue.Num.MAX_INTEGER);
  }

  /** A report that was understood. */
  sealed interface Report {
    JsonValue.Obj toJson();
  }

  /**
   * Tests that ran.
   *
   * @param timeMs as the report states it, in milliseconds
   */
  record Tests(long tests, long failures, long errors, long skipped, long timeMs)
      implements Report {
    static final Tests NONE = new Tests(0, 0, 0, 0, 0);

    Tests plus(Tests other) {
      return new Tests(
          tests + other.tests,
          failures + other.failures,
          errors + other.errors,
          skipped + other.skipped,
          timeMs + other.timeMs);
    }

    @Override
    public JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("tests", bounded(tests))
          .put("failures", bounded(failures))
          .put("errors", bounded(errors))
          .put("skipped", bounded(skipped))
          .put("time_ms", bounded(timeMs))
          .build();
    }
  }

  /**
   * Line coverage.
   *
   * @param rate from 0 to 1
   * @param valid counts of lines that could run and that did run, if the report has them
   */
  record Coverage(double rate, Optional<Lines> valid) implements Report {
    @Override
    public JsonValue.Obj toJson() {
      var json = JsonValue.object().put("line_rate", new JsonValue.Num(rate));
      valid.ifPresent(lines ->
          json.put("lines_covered", bounded(lines.covered()))
              .put("lines_valid", bounded(lines.all())));
      return json.build();
    }
  }

  /** Lines of code. */
  record Lines(long covered, long all) {
    double rate() {
      return all == 0 ? 0 : (double) covered / all;
    }
  }

  /** A report and the artifact that it was found in. */
  private record Found(String artifact, Report report) {}

  /**
   * Members for the tool's output: {@code reports}, one for each report that was understood, and
   * their sums in {@code tests} and {@code coverage}. Empty if there are no reports.
   */
  public static JsonValue.Obj summary(List<DriverOutcome.Artifact> artifacts) {
    List<Found> found = new ArrayList<>();
    for (DriverOutcome.Artifact artifact : artifacts) {
      if (artifact.name().endsWith(".xml") && found.size() < REPORTS_MAX) {
        ReportReader.read(artifact.bytes())
            .ifPresent(report -> found.add(new Found(artifact.name(), report)));
      }
    }
    var json = JsonValue.object();
    if (!found.isEmpty()) {
      json.putList("reports", found, TestReports::toJson);
    }
    tests(found).ifPresent(tests -> json.put("tests", tests.toJson()));
    coverage(found).ifPresent(coverage -> json.put("coverage", coverage.toJson()));
    return json.build();
  }

  private static JsonValue toJson(Found found) {
    return JsonValue.object()
        .put("artifact", found.artifact)
        .put("kind", found.report instanceof Tests ? "junit_xml" : "coverage_xml")
        .put("says", found.report.toJson())
        .build();
  }

  private static Optional<Tests> tests(List<Found> found) {
    return found.stream()
        .map(Found::report)
        .filter(Tests.class::isInstance)
        .map(Tests.class::cast)
        .reduce(Tests::plus);
  }

  /**
   * The total coverage. Rates without counts cannot be added, so then there is a total only for a
   * single report.
   */
  private static Optional<Coverage> coverage(List<Found> found) {
    List<Coverage> all =
        found.stream()
            .map(Found::report)
            .filter(Coverage.class::isInstance)
            .map(Coverage.class::cast)
            .toList();
    if (all.size() <= 1) {
      return all.stream().findFirst();
    }
    if (all.stream().anyMatch(one -> one.valid().isEmpty())) {
      return Optional.empty();
    }
    Lines sum =
        all.stream()
            .map(one -> one.valid().get())
            .reduce(new Lines(0, 0), (a, b) -> new Lines(a.covered + b.covered, a.all + b.all));
    return Optional.of(new Coverage(sum.rate(), Optional.of(sum)));
  }
}
