package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.Confining;
import dev.writ.gateway.ops.ServerHealth;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.sandbox.EngineReport;
import dev.writ.sandbox.Guarantee;
import dev.writ.tools.Drivers;
import dev.writ.tools.process.ProcessDriver;
import dev.writ.tools.registry.ToolRegistry;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The sandbox of an open home, as its server monitors it. */
public final class ServedSandbox implements Confining {
  private final Drivers drivers;
  private final ToolRegistry registry;

  /**
   * Whether a package runs as a process; kept, since a package never changes. Packages that are not
   * registered yet are not kept.
   */
  private final TreeMap<String, Boolean> processes = new TreeMap<>();

  private volatile Optional<EngineReport> latest = Optional.empty();

  public ServedSandbox(Drivers drivers, ToolRegistry registry) {
    this.drivers = drivers;
    this.registry = registry;
  }

  @Override
  public synchronized boolean isNeeded(Policy policy) {
    return policy.tools().stream().anyMatch(tool -> isProcess(tool.ref()));
  }

  private boolean isProcess(ToolRef tool) {
    Boolean known = processes.get(tool.packageDigest().hex());
    if (known != null) {
      return known;
    }
    try {
      String driver =
          registry.resolve(tool.name(), tool.version(), tool.packageDigest()).manifest().driver();
      boolean process = drivers.byName().get(driver) instanceof ProcessDriver;
      processes.put(tool.packageDigest().hex(), process);
      return process;
    } catch (WritException e) {
      return false; // its calls are refused before a sandbox is needed
    }
  }

  @Override
  public String require(Policy policy) {
    List<Guarantee> waived = policy.waived().stream().map(Guarantee::waivable).toList();
    latest = Optional.empty();
    EngineReport found = drivers.processes().lookAtEngine(waived);
    latest = Optional.of(found);
    found.requireAvailable();
    found.requireHeld(waived);
    return found.name() + " " + found.version() + " holds what is required";
  }

  @Override
  public List<ServerHealth.Guarantee> guarantees() {
    return latest.stream()
        .flatMap(report -> report.holdings().entrySet().stream())
        .map(each ->
            new ServerHealth.Guarantee(
                each.getKey().text(),
                each.getValue().held(),
                each.getKey().required(),
                each.getValue().how()))
        .toList();
  }

  @Override
  public long running() {
    return drivers.processes().tally().running();
  }

  @Override
  public long started() {
    return drivers.processes().tally().started();
  }

  @Override
  public SortedMap<String, Long> ended() {
    return drivers.processes().tally().ended();
  }
}
