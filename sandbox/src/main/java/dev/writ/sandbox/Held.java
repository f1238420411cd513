package dev.writ.sandbox;

/**
 * A command that was started and waits for its standard input. It is like any other from {@link
 * #handOver} on: the same limits in the same cgroup, and one {@link Ended}.
 *
 * <p>Processor time, memory, processes and output count from the start, as they do for a command
 * that is started with its input, less the processor time that the caller says was spent waiting;
 * elapsed time counts from the hand-over.
 */
public interface Held extends Execution {

  /**
   * What it did until now.
   *
   * @param waits whether it may still be handed something
   * @param stdoutBytes that it wrote
   * @param stderrBytes that it wrote
   * @param cpuMs processor time of its whole tree
   * @param limitMet whether the kernel killed for memory, refused a fork, or its workspace is full
   */
  record Look(boolean waits, long stdoutBytes, long stderrBytes, long cpuMs, boolean limitMet) {}

  Look look();

  /**
   * Gives it its whole standard input, once.
   *
   * @param wallMs elapsed time that it may take from now on
   * @param idleCpuMs processor time that is not counted, since it was used while it waited
   * @return whether it waited; if not, it has ended or is about to, and got nothing
   */
  boolean handOver(byte[] stdin, long wallMs, long idleCpuMs);
}
