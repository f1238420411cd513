package dev.writ.cli.command;

import dev.writ.cli.command.Health.Finding;
import dev.writ.cli.command.Health.State;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import java.util.ArrayList;
import java.util.List;

/** What the engines of sandboxes are to a person: one line for each, and one for the kernel. */
final class Confinement {
  private Confinement() {}

  static List<Finding> findings(List<EngineReport> engines) {
    List<Finding> findings = new ArrayList<>();
    boolean any = engines.stream().anyMatch(e -> e.available() && e.shortfalls().isEmpty());
    for (EngineReport engine : engines) {
      findings.add(new Finding(state(engine, any), engine.name(), words(engine)));
    }
    if (!any) {
      findings.add(
          new Finding(
              State.WARNING,
              "sandbox",
              "no engine holds all that is required, so tools that run programs are refused;"
                  + " a policy may accept what is missing by its name"));
    }
    EngineReport.Holding landlock = engines.getFirst().holdings().get(Guarantee.LANDLOCK);
    EngineReport.Holding apparmor = engines.getFirst().holdings().get(Guarantee.APPARMOR);
    findings.add(
        new Finding(
            State.NOTE, "kernel", "Landlock: " + landlock.how() + "; AppArmor: " + apparmor.how()));
    return findings;
  }

  /** One that is missing or falls short matters only where no other does better. */
  private static State state(EngineReport engine, boolean any) {
    if (engine.available() && engine.shortfalls().isEmpty()) {
      return State.GOOD;
    }
    return any ? State.NOTE : State.WARNING;
  }

  private static String words(EngineReport engine) {
    if (!engine.available()) {
      List<String> missing = engine.missing().stream().map(m -> m.command()).toList();
      return "not there: " + String.join(", ", missing) + " (" + engine.install() + ")";
    }
    List<Guarantee> shortfalls = engine.shortfalls();
    if (shortfalls.isEmpty()) {
      return engine.version()
          + ", holds all that is required; limits by "
          + engine.holdings().get(Guarantee.MEMORY_LIMIT).how();
    }
    String why = engine.holdings().get(shortfalls.getFirst()).how();
    return engine.version()
        + ", does not hold "
        + String.join(", ", shortfalls.stream().map(Guarantee::text).toList())
        + " ("
        + why
        + ")";
  }
}
