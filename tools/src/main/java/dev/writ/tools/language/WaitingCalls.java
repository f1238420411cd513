package dev.writ.tools.language;

import dev.writ.canonicalize.Digest;
import java.util.TreeMap;
import java.util.function.ToIntFunction;

/** How many calls wait for their turn, by package and tenant, and by pool. Not thread safe. */
final class WaitingCalls {
  private final TreeMap<Digest, TreeMap<String, Integer>> byPackage = new TreeMap<>();
  private final TreeMap<PoolName, Integer> byPool = new TreeMap<>();
  private ToIntFunction<String> quotas = tenant -> Integer.MAX_VALUE;

  /**
   * @param running how many calls of a tenant run at once at most
   */
  void quotas(ToIntFunction<String> running) {
    quotas = running;
  }

  /**
   * @param change 1 or -1
   */
  void add(String tenant, PoolName pool, Digest packageDigest, int change) {
    byPackage
        .computeIfAbsent(packageDigest, p -> new TreeMap<>())
        .merge(tenant, change, WaitingCalls::sum);
    if (byPackage.get(packageDigest).isEmpty()) {
      byPackage.remove(packageDigest);
    }
    byPool.merge(pool, change, WaitingCalls::sum);
  }

  /** Null, which removes the entry, for none. */
  private static Integer sum(int before, int change) {
    return before + change == 0 ? null : before + change;
  }

  /** The calls of a package that could run at once: of each tenant as many as its quota. */
  int of(Digest packageDigest) {
    return byPackage.getOrDefault(packageDigest, new TreeMap<>()).entrySet().stream()
        .mapToInt(e -> Math.min(e.getValue(), quotas.applyAsInt(e.getKey())))
        .sum();
  }

  int of(PoolName pool) {
    return byPool.getOrDefault(pool, 0);
  }
}
