package dev.writ.gateway.config;

import dev.writ.guardian.policy.engine.ResourceClasses;
import dev.writ.guardian.yaml.Section;
import dev.writ.tools.language.PoolName;
import java.time.Duration;
import java.util.List;

/**
 * Bounds of the workers that wait for calls of tool packages.
 *
 * @param budgetMib memory of all; 0 for no waiting workers
 * @param workersMax of one language and resource class
 * @param pools the same for those of their own bound
 * @param shrink how long there must have been too many before one is ended
 */
public record ToolPoolSettings(long budgetMib, int workersMax, List<Pool> pools, Duration shrink) {
  private static final long BUDGET_MIB_MAX = 1 << 20;
  private static final int WORKERS_MAX = 1_024;
  private static final long SHRINK_S_MAX = 3_600;

  /** 1 GiB, eight workers of each pool, ten seconds. */
  public static final ToolPoolSettings DEFAULT =
      new ToolPoolSettings(1_024, 8, List.of(), Duration.ofSeconds(10));

  public ToolPoolSettings {
    pools = List.copyOf(pools);
  }

  /** One language and resource class. */
  public record Pool(String language, String resourceClass, int workersMax) {
    static Pool read(Section s) {
      Pool pool =
          new Pool(
              s.oneOf("language", PoolName.languages(), name -> name),
              s.oneOf("class", ResourceClasses.NAMES, name -> name),
              (int) s.between("workers_max", 0, WORKERS_MAX));
      s.end();
      return pool;
    }
  }

  static ToolPoolSettings read(Section s) {
    ToolPoolSettings pool =
        new ToolPoolSettings(
            s.optional("budget_mib", k -> s.between(k, 0, BUDGET_MIB_MAX))
                .orElse(DEFAULT.budgetMib),
            s.optional("workers_max", k -> (int) s.between(k, 0, WORKERS_MAX))
                .orElse(DEFAULT.workersMax),
            s.listOrNone("pools", item -> Pool.read(item.itemSection())),
            s.optional("shrink_s", k -> Duration.ofSeconds(s.between(k, 1, SHRINK_S_MAX)))
                .orElse(DEFAULT.shrink));
    long different =
        pool.pools.stream().map(p -> p.language() + " " + p.resourceClass()).distinct().count();
    s.require("pools", different == pool.pools.size(), "names a pool twice");
    s.end();
    return pool;
  }
}
