package dev.writ.tools.language;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How many workers may wait for calls, and for how long.
 *
 * @param budgetBytes the limit for the sum of all waiting workers' memory limits; 0 for no waiting
 *     workers
 * @param perKey how many may wait for calls of one kind because of the calls of late; more may for
 *     calls that stand in the queue
 * @param maxAgeMs from a worker's start until it is ended unused
 * @param maxIdleMs from the last call of a kind until its workers are ended
 * @param poolMax how many may wait in one pool
 * @param poolsMax the same for pools of their own bound
 * @param shrinkMs how long a kind must have had more than it needs before one of them is ended
 */
public record PoolSettings(
    long budgetBytes,
    int perKey,
    long maxAgeMs,
    long maxIdleMs,
    int poolMax,
    SortedMap<PoolName, Integer> poolsMax,
    long shrinkMs) {
  private static final long DAY_MS = 86_400_000;

  /** The default of {@link #poolMax}. */
  public static final int POOL_MAX = 8;

  /** The default of {@link #shrinkMs}. */
  public static final long SHRINK_MS = 10_000;

  /** No worker waits: every call starts cold. */
  public static final PoolSettings NONE = new PoolSettings(0, 1, 1, 1);

  public PoolSettings {
    boolean valid =
        budgetBytes >= 0
            && perKey >= 1
            && maxAgeMs >= 1
            && maxAgeMs <= DAY_MS
            && maxIdleMs >= 1
            && maxIdleMs <= DAY_MS
            && poolMax >= 0
            && shrinkMs >= 1
            && shrinkMs <= DAY_MS;
    if (!valid) {
      throw new IllegalArgumentException("settings of a pool out of range");
    }
    poolsMax = Collections.unmodifiableSortedMap(new TreeMap<>(poolsMax));
  }

  /** With the defaults of pools. */
  public PoolSettings(long budgetBytes, int perKey, long maxAgeMs, long maxIdleMs) {
    this(budgetBytes, perKey, maxAgeMs, maxIdleMs, POOL_MAX, new TreeMap<>(), SHRINK_MS);
  }

  /** Four of a kind, ten minutes old at most, two minutes after the last call. */
  public static PoolSettings ofMiB(long mebibytes) {
    return new PoolSettings(mebibytes << 20, 4, 600_000, 120_000);
  }

  /** With bounds of pools. */
  public PoolSettings withPools(int most, SortedMap<PoolName, Integer> named, long shrinkAfterMs) {
    return new PoolSettings(budgetBytes, perKey, maxAgeMs, maxIdleMs, most, named, shrinkAfterMs);
  }

  /** How many may wait in a pool. */
  int mostIn(PoolName pool) {
    return poolsMax.getOrDefault(pool, poolMax);
  }
}
