package dev.writ.sandbox;

/**
 * A command that was started and waits for its standard input. After {@link #handOver} it is like
 * any other command: the same limits in the same cgroup, and one {@link Ended}.
 *
 * <p>Processor time, memory, processes and output count from the start, as they do for a command
 * that is started with its input, less the processor time that the caller says was spent waiting;
 * elapsed time counts from the hand-over.
 */
public interface Held extends Execution {

  /**
   * Its state and measurements so far.
   *
   * @param waits whether it still waits for its input
   * @param stdoutBytes bytes written to stdout
   * @param stderrBytes bytes written to stderr
   * @param cpuMs processor time of its whole tree
   * @param limitMet whether the kernel killed for memory, refused a fork, or its workspace is full
   */
  record Look(boolean waits, long stdoutBytes, long stderrBytes, long cpuMs, boolean limitMet) {}

  Look look();

  /**
   * Gives it its whole standard input, once.
   *
   * @param wallMs the limit of elapsed time from now on
   * @param idleCpuMs processor time that is not counted, since it was used while it waited
   * @return whether it got the input; if not, it has ended or is about to
   */
  boolean handOver(byte[] stdin, long wallMs, long idleCpuMs);
}
