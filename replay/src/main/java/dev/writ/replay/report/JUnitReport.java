package dev.writ.replay.report;

import dev.writ.replay.engine.Divergence;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.replay.engine.ReplaySession;
import java.util.List;

/**
 * Sessions as the XML that CI servers read: one test case for each bundle. A divergence is a
 * failure, a bundle that could not be replayed an error. It states no times, so equal sessions give
 * equal bytes.
 */
public final class JUnitReport {
  private JUnitReport() {}

  public static String of(List<ReplaySession> sessions) {
    long failures = sessions.stream().filter(s -> s.state().equals("DIVERGED")).count();
    long errors = sessions.stream().filter(JUnitReport::isError).count();
    String counts =
        " tests=\""
            + sessions.size()
            + "\" failures=\""
            + failures
            + "\" errors=\""
            + errors
            + "\"";
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.append("<testsuites").append(counts).append(">\n");
    xml.append("  <testsuite name=\"writ replay\"").append(counts).append(">\n");
    sessions.forEach(session -> testCase(xml, session));
    return xml.append("  </testsuite>\n</testsuites>\n").toString();
  }

  private static boolean isError(ReplaySession session) {
    return session.state().equals("INVALID") || session.state().equals("FAILED");
  }

  private static void testCase(StringBuilder xml, ReplaySession session) {
    String run = session.result().map(r -> r.run().toString()).orElse("unknown run");
    xml.append("    <testcase classname=\"")
        .append(escape(session.name()))
        .append("\" name=\"")
        .append(escape(run))
        .append('"');
    if (session.state().equals("COMPLETE")) {
      xml.append("/>\n");
      return;
    }
    xml.append(">\n");
    session
        .invalid()
        .or(() -> session.result().flatMap(ReplayResult::failure))
        .ifPresent(e -> element(xml, "error", e.code().code(), e.getMessage(), ""));
    session.result().map(ReplayResult::divergences).stream()
        .flatMap(List::stream)
        .forEach(d -> element(xml, "failure", d.kind().code().code(), d.headline(), text(d)));
    xml.append("    </testcase>\n");
  }

  private static String text(Divergence divergence) {
    StringBuilder text = new StringBuilder();
    divergence.fields().forEach(field -> text.append(field).append('\n'));
    divergence.diff().ifPresent(text::append);
    return text.toString();
  }

  private static void element(
      StringBuilder xml, String name, String type, String message, String text) {
    xml.append("      <")
        .append(name)
        .append(" type=\"")
        .append(escape(type))
        .append("\" message=\"")
        .append(escape(message))
        .append("\">")
        .append(escape(text))
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
