package dev.writ.cli.command.tool;

import dev.writ.canonicalize.Digest;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.config.ToolPoolSettings;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.guardian.policy.engine.ResourceClasses;
import dev.writ.surfaces.engine.EnginePlace;
import dev.writ.tools.language.PoolName;
import dev.writ.tools.language.PoolSettings;
import dev.writ.tools.language.WarmPool;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Joins the server to the workers of tool packages: their settings, demand and figures. */
public final class ToolPools {
  private ToolPools() {}

  /** What the configuration says of the pool of warm workers. */
  public static PoolSettings settings(ToolPoolSettings config) {
    TreeMap<PoolName, Integer> most = new TreeMap<>();
    config
        .pools()
        .forEach(pool ->
            most.put(new PoolName(pool.language(), pool.resourceClass()), pool.workersMax()));
    return PoolSettings.ofMiB(config.budgetMib())
        .withPools(config.workersMax(), most, config.shrink().toMillis());
  }

  /** Tells the pool of the calls that wait, each tenant's as far as its quota lets them run. */
  public static EnginePlace place(Pipeline pipeline, WarmPool workers, Optional<String> region) {
    workers.quotas(tenant -> pipeline.policy().engine().quotas().of(tenant).running());
    return new EnginePlace(
        region,
        new EnginePlace.Queue() {
          @Override
          public void waits(String tenant, PoolName pool, Digest packageDigest) {
            workers.waits(tenant, pool, packageDigest);
          }

          @Override
          public void goes(String tenant, PoolName pool, Digest packageDigest) {
            workers.goes(tenant, pool, packageDigest);
          }
        });
  }

  /** Figures of the workers and of the server's place, for {@code /metrics}. */
  public static void measure(Gateway gateway, WarmPool workers, Optional<String> region) {
    gateway.gauge(
        "writ.tool.calls.warm", "Calls that found a worker", () -> workers.figures().warm());
    gateway.gauge("writ.tool.calls.cold", "Calls that could have", () -> workers.figures().cold());
    gateway.gauge(
        "writ.tool.workers.lost", "Workers unfit for a call", () -> workers.figures().lost());
    gateway.gauge("writ.tool.workers.ready", "Workers that wait", () -> workers.figures().ready());
    gateway.gauge(
        "writ.tool.workers.bytes", "Memory limits of workers", () -> workers.figures().bytes());
    region.ifPresent(name ->
        gateway.gauge(
            "writ.server.info",
            "1, with the region of this server",
            new TreeMap<>(Map.of("region", name)),
            () -> 1));
    for (String language : PoolName.languages()) {
      for (String resourceClass : ResourceClasses.NAMES) {
        measure(gateway, workers, new PoolName(language, resourceClass));
      }
    }
  }

  private static void measure(Gateway gateway, WarmPool workers, PoolName pool) {
    TreeMap<String, String> labels =
        new TreeMap<>(Map.of("language", pool.language(), "class", pool.resourceClass()));
    gateway.gauge(
        "writ.tool.pool.size",
        "Workers of a pool, waiting or starting",
        labels,
        () -> workers.figures(pool).ready() + workers.figures(pool).starting());
    gateway.gauge(
        "writ.tool.pool.idle",
        "Workers of a pool that wait",
        labels,
        () -> workers.figures(pool).ready());
    gateway.gauge(
        "writ.tool.pool.queued",
        "Calls that wait for their turn, by the pool that would run them",
        labels,
        () -> workers.figures(pool).queued());
    gateway.counter(
        "writ.tool.pool.grown",
        "Workers that were started",
        labels,
        () -> workers.figures(pool).grown());
    gateway.counter(
        "writ.tool.pool.shrunk",
        "Workers that were ended since fewer were wanted",
        labels,
        () -> workers.figures(pool).shrunk());
  }
}
