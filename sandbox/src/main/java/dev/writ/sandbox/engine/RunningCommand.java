package dev.writ.sandbox.engine;

import dev.writ.sandbox.cgroup.Counters;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Collection;

/** The processes of one command, however they were started. */
interface RunningCommand extends AutoCloseable {
  OutputStream stdin();

  InputStream stdout();

  InputStream stderr();

  /** Waits for the end of the first process; returns whether it has ended. */
  boolean awaitEnd(long ms) throws InterruptedException;

  /** The resources they used so far; available until {@link #close}, even after their end. */
  Counters counters();

  /** Host process numbers of some of them, inside the sandbox or not; empty if all have ended. */
  Collection<Long> pids();

  /** Asks every process to end. */
  void terminate();

  /** Ends every process; when this returns, none is left and both streams come to an end. */
  void kill();

  /** The exit status of the first process; only after {@link #kill}. */
  ExitStatus exit() throws InterruptedException;

  /** Whether the command ran; otherwise the engine failed before. */
  boolean ran();

  /** Kills remaining processes and removes what was made for them. */
  @Override
  void close();
}
