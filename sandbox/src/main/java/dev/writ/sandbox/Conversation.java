package dev.writ.sandbox;

/**
 * A command that lives long and is written to while it runs. Its output goes to its listener alone
 * and is neither kept nor limited: the listener bounds what it takes. It may not block for long,
 * since the command's end waits for it. {@link Ended} has no output, and its limits are on the
 * whole life.
 */
public interface Conversation extends Execution {

  /**
   * Writes to its standard input; waits while it does not read. One thread at a time.
   *
   * @return whether it was written; if not, the command has ended or reads no more
   */
  boolean write(byte[] bytes);

  /** Closes its standard input, by which many programs are told to end. */
  void endInput();

  /**
   * What it has used so far.
   *
   * @param cpuMs processor time of its whole tree
   * @param memoryPeakBytes as {@link Usage}
   * @param ended whether it has ended; then {@link #await} returns at once
   */
  record State(long cpuMs, long memoryPeakBytes, boolean ended) {}

  State state();
}
