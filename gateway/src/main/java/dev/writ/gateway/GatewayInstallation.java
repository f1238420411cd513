package dev.writ.gateway;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.executor.Kernel;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.v1.RunBundle;
import java.io.PrintStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The installation that a server works over; the server does not close it.
 *
 * @param running the one that made the kernel's drivers cancellable
 * @param disk where the ledger lies
 * @param surfaceKeys by {@link KernelPipeline#keyName}
 * @param log gets one line of JSON for each call
 * @param probes further conditions of readiness, beside ledger, disk, clock and policy
 * @param confining confines tools that are processes; absent if there can be none
 * @param sessions of people who sign in by a browser; absent where there is no console
 * @param cell who may call, where the kernel's log is one of several cells
 */
public record GatewayInstallation(
    Kernel kernel,
    Running running,
    Path disk,
    SortedMap<String, SigningKey> surfaceKeys,
    RunBundle bundles,
    InstantSource clock,
    SecureRandom random,
    PrintStream log,
    List<Probe> probes,
    Optional<Confining> confining,
    Optional<Sessions> sessions,
    Optional<CellDoor> cell) {
  public GatewayInstallation {
    probes = List.copyOf(probes);
  }

  /** An installation whose readiness depends on ledger, disk and policy alone. */
  public GatewayInstallation(
      Kernel kernel,
      Running running,
      Path disk,
      SortedMap<String, SigningKey> surfaceKeys,
      RunBundle bundles,
      InstantSource clock,
      SecureRandom random,
      PrintStream log) {
    this(
        kernel,
        running,
        disk,
        surfaceKeys,
        bundles,
        clock,
        random,
        log,
        List.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /** With further conditions of readiness. */
  public GatewayInstallation withProbes(List<Probe> more) {
    return with(more, confining, sessions, cell);
  }

  /** With the confinement of tools that are processes, for readiness and metrics. */
  public GatewayInstallation with(Confining processes) {
    return with(probes, Optional.of(processes), sessions, cell);
  }

  /** With people who sign in by a browser. */
  public GatewayInstallation with(Sessions people) {
    return with(probes, confining, Optional.of(people), cell);
  }

  /** As one cell of several. */
  public GatewayInstallation with(CellDoor door) {
    return with(probes, confining, sessions, Optional.of(door));
  }

  private GatewayInstallation with(
      List<Probe> conditions,
      Optional<Confining> processes,
      Optional<Sessions> people,
      Optional<CellDoor> door) {
    return new GatewayInstallation(
        kernel,
        running,
        disk,
        surfaceKeys,
        bundles,
        clock,
        random,
        log,
        conditions,
        processes,
        people,
        door);
  }
}
