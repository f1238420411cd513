package dev.writ.sandbox.cgroup;

/**
 * What the kernel counted for one cgroup.
 *
 * @param cpuMs user and system
 * @param memoryPeakBytes the most at once
 * @param oomKills processes killed for memory
 * @param pidsRefused forks that were refused
 * @param pidsPeak the most tasks at once
 */
public record Counters(
    long cpuMs, long memoryPeakBytes, long oomKills, long pidsRefused, long pidsPeak) {
  public static final Counters NONE = new Counters(0, 0, 0, 0, 0);
}
