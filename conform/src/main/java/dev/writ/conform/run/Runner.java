package dev.writ.conform.run;

import dev.writ.canonicalize.WritException;
import dev.writ.conform.ConformError;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.run.ConformanceReport.Result;
import dev.writ.conform.run.ConformanceReport.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Checks an implementation against vectors. */
public final class Runner {
  private Runner() {}

  /**
   * Which vectors to run.
   *
   * @param suites empty for all of the profile's
   */
  public record Selection(ConformanceProfile profile, List<String> suites) {
    public Selection {
      suites = List.copyOf(suites);
    }

    private List<String> names() {
      return ConformanceProfile.ALL.stream()
          .filter(profile::holds)
          .flatMap(p -> p.own().stream())
          .filter(suite -> suites.isEmpty() || suites.contains(suite))
          .toList();
    }

    @Override
    public String toString() {
      return suites.isEmpty() ? "profile " + profile : "suites " + String.join(", ", names());
    }
  }

  /**
   * @param progress gets the name of each suite when it begins
   * @throws WritException {@code CNF-006} if a requested suite has no vector: a suite that was not
   *     run must not pass
   */
  public static ConformanceReport run(
      Vectors vectors,
      Selection selection,
      Implementation implementation,
      Consumer<String> progress) {
    List<Result> results = new ArrayList<>();
    List<String> suites = selection.names();
    for (String named : selection.suites()) {
      if (!suites.contains(named)) {
        throw new WritException(
            ConformError.NOTHING_RUN,
            "profile " + selection.profile() + " has no suite \"" + named + "\"");
      }
    }
    for (String suite : suites) {
      List<Vector> own = vectors.all().stream().filter(v -> v.suite().equals(suite)).toList();
      if (own.isEmpty()) {
        throw new WritException(ConformError.NOTHING_RUN, "suite " + suite + " is empty");
      }
      progress.accept(suite);
      own.forEach(vector -> results.add(run(vector, implementation)));
    }
    if (results.isEmpty()) {
      throw new WritException(ConformError.NOTHING_RUN, selection.toString());
    }
    return new ConformanceReport(
        implementation.name(), vectors.digest(), selection.toString(), results);
  }

  /** One vector against an implementation. */
  public static Result run(Vector vector, Implementation implementation) {
    long begin = System.nanoTime();
    Verdict verdict;
    String detail;
    try {
      AdapterAnswer answer = implementation.ask(vector.op(), vector.input());
      Optional<String> difference = vector.difference(answer);
      boolean unsupported =
          answer instanceof AdapterAnswer.Refused refused
              && refused.code().equals(AdapterAnswer.UNSUPPORTED);
      verdict =
          unsupported
              ? Verdict.UNSUPPORTED
              : difference.isEmpty() ? Verdict.PASSED : Verdict.FAILED;
      detail = unsupported ? "no operation " + vector.op() : difference.orElse("");
    } catch (Implementation.Broken e) {
      verdict = Verdict.FAILED;
      detail = e.getMessage();
    }
    return new Result(vector, verdict, detail, (System.nanoTime() - begin) / 1000);
  }
}
