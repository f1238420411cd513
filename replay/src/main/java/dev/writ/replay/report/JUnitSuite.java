package dev.writ.replay.report;

import java.util.List;
import java.util.Locale;

/**
 * What a command found, as the XML that CI servers read: one suite of test cases. It states no
 * times, so equal findings give equal bytes.
 *
 * @param name of the command
 */
public record JUnitSuite(String name, List<Case> cases) {

  /**
   * One thing that was examined.
   *
   * @param group where it is from, such as a file
   * @param findings none where it is as it should be
   */
  public record Case(String group, String name, List<Finding> findings) {
    public Case {
      findings = List.copyOf(findings);
    }

    boolean has(Kind kind) {
      return findings.stream().anyMatch(finding -> finding.kind == kind);
    }
  }

  /** What became of a case. */
  public enum Kind {
    /** It is not as it should be. */
    FAILURE,
    /** It could not be examined, because something is broken. */
    ERROR,
    /** It could not be examined, because something is not known. */
    SKIPPED
  }

  /**
   * @param type a code
   * @param message one line
   * @param text any number of lines
   */
  public record Finding(Kind kind, String type, String message, String text) {}

  public JUnitSuite {
    cases = List.copyOf(cases);
  }

  public String toXml() {
    String counts =
        count("tests", cases.size())
            + count("failures", number(Kind.FAILURE))
            + count("errors", number(Kind.ERROR))
            + count("skipped", number(Kind.SKIPPED));
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.append("<testsuites").append(counts).append(">\n");
    xml.append("  <testsuite name=\"").append(escape(name)).append('"').append(counts);
    xml.append(">\n");
    cases.forEach(each -> append(xml, each));
    return xml.append("  </testsuite>\n</testsuites>\n").toString();
  }

  private static String count(String name, long number) {
    return " " + name + "=\"" + number + "\"";
  }

  private long number(Kind kind) {
    return cases.stream().filter(each -> each.has(kind)).count();
  }

  private static void append(StringBuilder xml, Case of) {
    xml.append("    <testcase classname=\"")
        .append(escape(of.group))
        .append("\" name=\"")
        .append(escape(of.name))
        .append('"');
    if (of.findings.isEmpty()) {
      xml.append("/>\n");
      return;
    }
    xml.append(">\n");
    of.findings.forEach(finding -> append(xml, finding));
    xml.append("    </testcase>\n");
  }

  private static void append(StringBuilder xml, Finding of) {
    String name = of.kind.name().toLowerCase(Locale.ROOT);
    xml.append("      <")
        .append(name)
        .append(" type=\"")
        .append(escape(of.type))
        .append("\" message=\"")
        .append(escape(of.message))
        .append("\">")
        .append(escape(of.text))
        .append("</")
        .append(name)
        .append(">\n");
  }

  /** Characters that XML 1.0 cannot represent become U+FFFD. */
  private static String escape(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(c -> {
          switch (c) {
            case '&' -> out.append("&amp;");
            case '<' -> out.append("&lt;");
            case '>' -> out.append("&gt;");
            case '"' -> out.append("&quot;");
            case '\t', '\n', '\r' -> out.append("&#").append(c).append(';');
            default -> {
              boolean allowed =
                  c >= 0x20 && c <= 0xD7FF || c >= 0xE000 && c <= 0xFFFD || c >= 0x10000;
              out.appendCodePoint(allowed ? c : 0xFFFD);
            }
          }
        });
    return out.toString();
  }
}
