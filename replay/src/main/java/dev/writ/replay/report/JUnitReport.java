package dev.writ.replay.report;

import dev.writ.replay.engine.Divergence;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.replay.engine.ReplaySession;
import dev.writ.replay.report.JUnitSuite.Case;
import dev.writ.replay.report.JUnitSuite.Finding;
import dev.writ.replay.report.JUnitSuite.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * Replays for CI servers: one test case for each bundle. A divergence is a failure, a bundle that
 * could not be replayed an error.
 */
public final class JUnitReport {
  private JUnitReport() {}

  public static String of(List<ReplaySession> sessions) {
    return new JUnitSuite("writ replay", sessions.stream().map(JUnitReport::testCase).toList())
        .toXml();
  }

  private static Case testCase(ReplaySession session) {
    String run = session.result().map(r -> r.run().toString()).orElse("unknown run");
    List<Finding> findings = new ArrayList<>();
    session
        .invalid()
        .or(() -> session.result().flatMap(ReplayResult::failure))
        .ifPresent(e -> findings.add(new Finding(Kind.ERROR, e.code().code(), e.getMessage(), "")));
    session.result().map(ReplayResult::divergences).stream()
        .flatMap(List::stream)
        .forEach(d ->
            findings.add(new Finding(Kind.FAILURE, d.kind().code().code(), d.headline(), text(d))));
    return new Case(session.name(), run, findings);
  }

  private static String text(Divergence divergence) {
    StringBuilder text = new StringBuilder();
    divergence.fields().forEach(field -> text.append(field).append('\n'));
    divergence.diff().ifPresent(text::append);
    return text.toString();
  }
}
