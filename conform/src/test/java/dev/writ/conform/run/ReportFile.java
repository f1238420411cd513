package dev.writ.conform.run;

import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.ConformanceReport.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** What a whole run of the suite found, as {@code ./writ conform} prints it, for check to show. */
final class ReportFile {
  private static final Path FOLDER = Golden.ROOT.resolveSibling("conform/target/conformance");

  private ReportFile() {}

  /** Leaves {@code NAME.txt} for people and {@code NAME.xml}, in JUnit's form, for machines. */
  static void write(String name, ConformanceReport report) throws IOException {
    Files.createDirectories(FOLDER);
    Files.writeString(FOLDER.resolve(name + ".txt"), text(report));
    Files.writeString(FOLDER.resolve(name + ".xml"), JUnitXml.of(report));
  }

  private static String text(ConformanceReport report) {
    String row = "%-12s  %-7s  %7s  %6s  %6s  %11s  %7s%n";
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            row, "suite", "profile", "vectors", "passed", "failed", "unsupported", "seconds"));
    for (ConformanceReport.Sum sum : report.sums()) {
      text.append(
          String.format(
              row,
              sum.suite(),
              sum.profile(),
              sum.vectors(),
              sum.passed(),
              sum.failed(),
              sum.unsupported(),
              String.format(Locale.ROOT, "%.2f", sum.micros() / 1e6)));
    }
    return text.append(report.implementation())
        .append(report.conforms() ? " conforms: " : " does not conform: ")
        .append(report.selection())
        .append(", ")
        .append(report.count(Verdict.PASSED))
        .append(" passed, ")
        .append(report.count(Verdict.FAILED))
        .append(" failed, ")
        .append(report.count(Verdict.UNSUPPORTED))
        .append(" unsupported\nvectors ")
        .append(report.vectors())
        .append('\n')
        .toString();
  }
}
