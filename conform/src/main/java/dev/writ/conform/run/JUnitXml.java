package dev.writ.conform.run;

import dev.writ.conform.run.ConformanceReport.Result;
import dev.writ.conform.run.ConformanceReport.Sum;
import java.util.Locale;

/** A report as JUnit XML: a suite for each folder, a case for each vector. */
public final class JUnitXml {
  private JUnitXml() {}

  public static String of(ConformanceReport report) {
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.append("<testsuites name=\"")
        .append(escape("writ conform: " + report.implementation()))
        .append("\">\n");
    for (Sum sum : report.sums()) {
      xml.append("  <testsuite name=\"")
          .append(escape(sum.suite()))
          .append("\" tests=\"")
          .append(sum.vectors())
          .append("\" failures=\"")
          .append(sum.failed())
          .append("\" errors=\"0\" skipped=\"")
          .append(sum.unsupported())
          .append("\" time=\"")
          .append(seconds(sum.micros()))
          .append("\">\n");
      report.results().stream()
          .filter(r -> r.vector().suite().equals(sum.suite()))
          .forEach(r -> testCase(r, xml));
      xml.append("  </testsuite>\n");
    }
    return xml.append("</testsuites>\n").toString();
  }

  private static void testCase(Result result, StringBuilder xml) {
    xml.append("    <testcase classname=\"")
        .append(escape(result.vector().suite()))
        .append("\" name=\"")
        .append(escape(result.vector().name()))
        .append("\" time=\"")
        .append(seconds(result.micros()))
        .append('"');
    switch (result.verdict()) {
      case PASSED -> xml.append("/>\n");
      case FAILED -> element("failure", result, xml);
      case UNSUPPORTED -> element("skipped", result, xml);
    }
  }

  private static void element(String name, Result result, StringBuilder xml) {
    xml.append(">\n      <")
        .append(name)
        .append(" message=\"")
        .append(escape(result.detail()))
        .append("\">")
        .append(escape(result.vector().about()))
        .append("</")
        .append(name)
        .append(">\n    </testcase>\n");
  }

  private static String seconds(long micros) {
    return String.format(Locale.ROOT, "%.3f", micros / 1e6);
  }

  /** XML 1.0 has no control characters, not even as references: they become U+FFFD. */
  private static String escape(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(c -> {
          switch (c) {
            case '&' -> out.append("&amp;");
            case '<' -> out.append("&lt;");
            case '>' -> out.append("&gt;");
            case '"' -> out.append("&quot;");
            default -> {
              if (c == '\n' || c == '\t') {
                out.append("&#").append(c).append(';');
              } else if (c < 0x20
                  || c >= 0x7f && c < 0xa0
                  || c >= 0xD800 && c <= 0xDFFF
                  || c == 0xFFFE
                  || c == 0xFFFF) {
                out.append('\uFFFD');
              } else {
                out.appendCodePoint(c);
              }
            }
          }
        });
    return out.toString();
  }
}
