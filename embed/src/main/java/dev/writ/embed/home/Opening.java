package dev.writ.embed.home;

import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.language.PoolSettings;
import dev.writ.tools.mcp.KeptServers;
import dev.writ.tools.process.ProcessHost;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * How a home is opened for work.
 *
 * @param clock and {@code random} are the kernel's only sources of time and of run seeds
 * @param elapsed monotonic time in nanoseconds, which setting the clock does not change
 * @param processes runs tools that are processes; closed with the home
 * @param wrap wraps each driver before the kernel gets it
 * @param waiting how many workers of tool packages wait for their calls
 * @param servers MCP servers that go on when the home is closed
 * @param region where it stands, which its receipts say
 * @param ownDrivers beside those of the release
 * @param ownTools tools of the caller's own drivers, which are in no registry
 * @param elsewhere the executor, where it is another process
 */
public record Opening(
    InstantSource clock,
    LongSupplier elapsed,
    SecureRandom random,
    ProcessHost processes,
    UnaryOperator<Driver> wrap,
    PoolSettings waiting,
    Optional<KeptServers> servers,
    Optional<String> region,
    List<Driver> ownDrivers,
    List<ToolManifest> ownTools,
    Optional<RemoteExecutor> elsewhere) {

  public Opening {
    ownDrivers = List.copyOf(ownDrivers);
    ownTools = List.copyOf(ownTools);
  }

  /** Built-in drivers only, and no waiting workers. */
  public static Opening of(InstantSource clock, ProcessHost processes) {
    return new Opening(
        clock,
        new PassedTime(),
        new SecureRandom(),
        processes,
        UnaryOperator.identity(),
        PoolSettings.NONE,
        Optional.empty(),
        Optional.empty(),
        List.of(),
        List.of(),
        Optional.empty());
  }

  public Opening wrapping(UnaryOperator<Driver> each) {
    return new Opening(
        clock,
        elapsed,
        random,
        processes,
        each,
        waiting,
        servers,
        region,
        ownDrivers,
        ownTools,
        elsewhere);
  }

  public Opening keepingWorkers(PoolSettings settings) {
    return new Opening(
        clock,
        elapsed,
        random,
        processes,
        wrap,
        settings,
        servers,
        region,
        ownDrivers,
        ownTools,
        elsewhere);
  }

  /** Whose receipts name this region. */
  public Opening inRegion(Optional<String> name) {
    return new Opening(
        clock,
        elapsed,
        random,
        processes,
        wrap,
        waiting,
        servers,
        name,
        ownDrivers,
        ownTools,
        elsewhere);
  }

  /** With MCP servers that go on when the home is closed. */
  public Opening keepingServers(KeptServers kept) {
    return new Opening(
        clock,
        elapsed,
        random,
        processes,
        wrap,
        waiting,
        Optional.of(kept),
        region,
        ownDrivers,
        ownTools,
        elsewhere);
  }

  public Opening withTools(List<Driver> drivers, List<ToolManifest> tools) {
    return new Opening(
        clock, elapsed, random, processes, wrap, waiting, servers, region, drivers, tools,
        elsewhere);
  }

  public Opening measuring(LongSupplier passed, SecureRandom seeds) {
    return new Opening(
        clock,
        passed,
        seeds,
        processes,
        wrap,
        waiting,
        servers,
        region,
        ownDrivers,
        ownTools,
        elsewhere);
  }

  /** Whose tools another process runs. */
  public Opening executedBy(RemoteExecutor executor) {
    return new Opening(
        clock,
        elapsed,
        random,
        processes,
        wrap,
        waiting,
        servers,
        region,
        ownDrivers,
        ownTools,
        Optional.of(executor));
  }
}
