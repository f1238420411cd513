package dev.writ.console.tool;

import dev.writ.executor.SystemState;
import dev.writ.executor.governance.Submitted;
import dev.writ.guardian.policy.VersionRule;
import dev.writ.guardian.policy.governance.ApprovedTool;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Every version of a tool that policy or the system run knows. */
final class KnownTools {
  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::name).thenComparing(Key::version, VersionRule.ORDER.reversed());

  private final ToolHistory history;

  private record Key(String name, String version) {}

  KnownTools(ToolHistory history) {
    this.history = history;
  }

  /** By name, the greatest version of each first. */
  List<KnownTool> all(SystemState system) {
    List<ToolStep> steps = history.steps(system.trust());
    TreeSet<Key> keys = new TreeSet<>(ORDER);
    for (ApprovedTool tool : system.policyInForce().tools()) {
      keys.add(new Key(tool.ref().name(), tool.ref().version()));
    }
    for (Submitted version : system.governance().versions().values()) {
      keys.add(new Key(version.tool().name(), version.tool().version()));
    }
    steps.forEach(step -> keys.add(new Key(step.tool(), step.version())));
    return keys.stream().map(key -> known(system, key, steps)).toList();
  }

  Optional<KnownTool> version(SystemState system, String name, String version) {
    return all(system).stream()
        .filter(tool -> tool.name().equals(name) && tool.version().equals(version))
        .findFirst();
  }

  private static KnownTool known(SystemState system, Key key, List<ToolStep> steps) {
    return new KnownTool(
        key.name(),
        key.version(),
        system.isProhibited(key.name(), key.version()),
        system.policyInForce().tool(key.name(), key.version()),
        system.governance().version(key.name(), key.version()),
        steps.stream()
            .filter(s -> s.tool().equals(key.name()) && s.version().equals(key.version()))
            .toList());
  }
}
