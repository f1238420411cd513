package dev.writ.sandbox.cgroup;

/**
 * What the kernel counted for one cgroup.
 *
 * @param cpuMs user and system
 * @param memoryPeakBytes the most at once
 * @param oomKills processes killed for memory
 * @param pidsRefused forks that were refused
 * @param pidsPeak the most tasks at once
 * @param socketBytes what sockets hold now, where that is counted apart from memory
 */
public record Counters(
    long cpuMs,
    long memoryPeakBytes,
    long oomKills,
    long pidsRefused,
    long pidsPeak,
    long socketBytes) {
  public static final Counters NONE = new Counters(0, 0, 0, 0, 0, 0);

  /** The same where somebody else says that a process was killed for memory. */
  public Counters withOomKill() {
    return new Counters(cpuMs, memoryPeakBytes, 1, pidsRefused, pidsPeak, socketBytes);
  }
}
