package dev.writ.cli.command.machine;

import dev.writ.cli.doctor.HostFinding;
import dev.writ.cli.doctor.HostFinding.State;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The state of each sandbox engine for people: one line for each, and one for the kernel. */
final class ConfinementFindings {
  private ConfinementFindings() {}

  /**
   * @param waived guarantees that the policy in force waives
   */
  static List<HostFinding> findings(List<EngineReport> engines, List<Guarantee> waived) {
    List<HostFinding> findings = new ArrayList<>();
    boolean any = engines.stream().anyMatch(e -> e.available() && e.shortfalls(waived).isEmpty());
    for (EngineReport engine : engines) {
      HostFinding finding = new HostFinding(state(engine, any), engine.name(), words(engine));
      findings.add(engine.available() ? finding : finding.helpedBy(engine.install()));
      engine
          .advice()
          .forEach(text -> findings.add(new HostFinding(State.WARNING, engine.name(), text)));
    }
    if (!any) {
      findings.add(
          new HostFinding(
              State.WARNING,
              "sandbox",
              "no engine holds all that is required, so tools that run programs are refused"
                  + engines.stream()
                      .filter(EngineReport::available)
                      .map(engine -> "; " + engine.lacks(waived))
                      .collect(Collectors.joining())));
    }
    if (!waived.isEmpty()) {
      findings.add(new HostFinding(State.NOTE, "waived", waived(engines, waived)));
    }
    EngineReport.Holding landlock = engines.getFirst().holdings().get(Guarantee.LANDLOCK);
    EngineReport.Holding apparmor = engines.getFirst().holdings().get(Guarantee.APPARMOR);
    findings.add(
        new HostFinding(
            State.NOTE, "kernel", "Landlock: " + landlock.how() + "; AppArmor: " + apparmor.how()));
    return findings;
  }

  /**
   * The guarantees that policy waives and that no engine of this host gives. A guarantee that an
   * engine gives is enforced, waived or not.
   */
  private static String waived(List<EngineReport> engines, List<Guarantee> waived) {
    String lacking =
        engines.stream()
            .filter(engine -> engine.available() && engine.shortfalls(waived).isEmpty())
            .filter(engine -> !engine.shortfalls().isEmpty())
            .map(
                engine -> "; " + engine.name() + " here runs without " + names(engine.shortfalls()))
            .collect(Collectors.joining());
    return "the policy in force accepts a host without "
        + names(waived)
        + (lacking.isEmpty() ? "; what holds here is enforced" : lacking);
  }

  private static String names(List<Guarantee> guarantees) {
    return String.join(", ", guarantees.stream().map(Guarantee::text).toList());
  }

  /** An engine that is missing or falls short is a warning only if no engine does better. */
  private static State state(EngineReport engine, boolean any) {
    if (engine.available() && engine.shortfalls().isEmpty()) {
      return State.GOOD;
    }
    return any ? State.NOTE : State.WARNING;
  }

  private static String words(EngineReport engine) {
    if (!engine.available()) {
      List<String> missing = engine.missing().stream().map(m -> m.command()).toList();
      return "not there: " + String.join(", ", missing);
    }
    List<Guarantee> shortfalls = engine.shortfalls();
    if (shortfalls.isEmpty()) {
      return engine.version()
          + ", holds all that is required; limits by "
          + engine.holdings().get(Guarantee.MEMORY_LIMIT).how();
    }
    String why = engine.holdings().get(shortfalls.getFirst()).how();
    return engine.version() + ", does not hold " + names(shortfalls) + " (" + why + ")";
  }
}
