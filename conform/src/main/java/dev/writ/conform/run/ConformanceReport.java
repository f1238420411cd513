package dev.writ.conform.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * What a run of the suite found.
 *
 * @param implementation its name
 * @param vectors digest of the vectors' index
 * @param selection which vectors were asked for, in words
 */
public record ConformanceReport(
    String implementation, Digest vectors, String selection, List<Result> results) {

  /** How one vector ended. */
  public enum Verdict {
    PASSED,
    FAILED,
    /** The implementation does not have the operation: no pass. */
    UNSUPPORTED
  }

  /**
   * @param detail what is wrong; empty for a pass
   * @param micros how long the answer took
   */
  public record Result(Vector vector, Verdict verdict, String detail, long micros) {}

  /** The sums of one suite. */
  public record Sum(
      String suite,
      ConformanceProfile profile,
      long passed,
      long failed,
      long unsupported,
      long micros) {
    public long vectors() {
      return passed + failed + unsupported;
    }
  }

  public ConformanceReport {
    results = List.copyOf(results);
  }

  public long count(Verdict verdict) {
    return results.stream().filter(r -> r.verdict() == verdict).count();
  }

  /** Whether every vector passed, and there was one. */
  public boolean conforms() {
    return !results.isEmpty() && count(Verdict.PASSED) == results.size();
  }

  /** The suites in the order of the profiles. */
  public List<Sum> sums() {
    TreeMap<String, List<Result>> bySuite = new TreeMap<>();
    results.forEach(
        r -> bySuite.computeIfAbsent(r.vector().suite(), _ -> new ArrayList<>()).add(r));
    List<Sum> sums = new ArrayList<>();
    for (ConformanceProfile profile : ConformanceProfile.ALL) {
      for (String suite : profile.own()) {
        List<Result> own = bySuite.getOrDefault(suite, List.of());
        if (!own.isEmpty()) {
          sums.add(
              new Sum(
                  suite,
                  profile,
                  own.stream().filter(r -> r.verdict() == Verdict.PASSED).count(),
                  own.stream().filter(r -> r.verdict() == Verdict.FAILED).count(),
                  own.stream().filter(r -> r.verdict() == Verdict.UNSUPPORTED).count(),
                  own.stream().mapToLong(Result::micros).sum()));
        }
      }
    }
    return sums;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("conforms", conforms())
        .put("implementation", implementation)
        .put("vectors", vectors)
        .put("selection", selection)
        .put("passed", count(Verdict.PASSED))
        .put("failed", count(Verdict.FAILED))
        .put("unsupported", count(Verdict.UNSUPPORTED))
        .putList(
            "suites",
            sums(),
            sum ->
                JsonValue.object()
                    .put("suite", sum.suite())
                    .put("profile", sum.profile().name())
                    .put("passed", sum.passed())
                    .put("failed", sum.failed())
                    .put("unsupported", sum.unsupported())
                    .put("micros", sum.micros())
                    .build())
        .putList(
            "not_passed",
            results.stream().filter(r -> r.verdict() != Verdict.PASSED).toList(),
            r ->
                JsonValue.object()
                    .put("vector", r.vector().name())
                    .put("op", r.vector().op())
                    .put("verdict", r.verdict().name())
                    .put("detail", r.detail())
                    .build())
        .build();
  }
}
