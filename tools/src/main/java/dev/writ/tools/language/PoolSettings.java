package dev.writ.tools.language;

/**
 * How many workers may wait for calls, and for how long.
 *
 * @param budgetBytes the limit for the sum of all waiting workers' memory limits; 0 for no waiting
 *     workers
 * @param perKey how many may wait for calls of one kind
 * @param maxAgeMs from a worker's start until it is ended unused
 * @param maxIdleMs from the last call of a kind until its workers are ended
 */
public record PoolSettings(long budgetBytes, int perKey, long maxAgeMs, long maxIdleMs) {
  private static final long DAY_MS = 86_400_000;

  /** No worker waits: every call starts cold. */
  public static final PoolSettings NONE = new PoolSettings(0, 1, 1, 1);

  public PoolSettings {
    boolean valid =
        budgetBytes >= 0
            && perKey >= 1
            && maxAgeMs >= 1
            && maxAgeMs <= DAY_MS
            && maxIdleMs >= 1
            && maxIdleMs <= DAY_MS;
    if (!valid) {
      throw new IllegalArgumentException("settings of a pool out of range");
    }
  }

  /** Four of a kind, ten minutes old at most, two minutes after the last call. */
  public static PoolSettings ofMiB(long mebibytes) {
    return new PoolSettings(mebibytes << 20, 4, 600_000, 120_000);
  }
}
