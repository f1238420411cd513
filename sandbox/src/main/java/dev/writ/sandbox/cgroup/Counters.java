package dev.writ.sandbox.cgroup;

/**
 * The kernel's counters of one cgroup.
 *
 * @param cpuMs user and system
 * @param memoryPeakBytes the most at once
 * @param oomKills processes killed for memory
 * @param pidsRefused forks that were refused
 * @param pidsPeak the most tasks at once
 * @param socketBytes memory of sockets now, if the kernel counts it separately
 */
public record Counters(
    long cpuMs,
    long memoryPeakBytes,
    long oomKills,
    long pidsRefused,
    long pidsPeak,
    long socketBytes) {
  public static final Counters NONE = new Counters(0, 0, 0, 0, 0, 0);

  /** The same, after another source reported that a process was killed for memory. */
  public Counters withOomKill() {
    return new Counters(cpuMs, memoryPeakBytes, 1, pidsRefused, pidsPeak, socketBytes);
  }
}
