package dev.writ.guardian.document;

import java.util.List;
import java.util.Locale;

/** What bounds a tool's speed (seed 004): service levels are stated for each apart. */
public enum Workload {
  /** The processor. */
  CPU,
  /** What it waits for: the network, mostly. */
  IO;

  /** All of them, in the order of their declaration. */
  public static final List<Workload> ALL = List.of(values());

  /** The word in manifests and labels. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** As its manifest states it; otherwise IO for a tool that may reach a network. */
  public static Workload of(ToolManifest tool) {
    boolean network =
        !tool.capabilities().network().isEmpty() || !tool.capabilities().hosts().isEmpty();
    return tool.workload().orElse(network ? IO : CPU);
  }
}
