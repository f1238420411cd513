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

  /** Waits for the end of the first process, and says whether it came. */
  boolean awaitEnd(long ms) throws InterruptedException;

  /** What they used until now; also after their end, until {@link #close}. */
  Counters counters();

  /** Numbers on this host of some of them, inside of the sandbox or not; none where all ended. */
  Collection<Long> pids();

  /** Asks every process to end. */
  void terminate();

  /** Ends every process; when this returns, none is left and both streams come to an end. */
  void kill();

  /** What the first process ended with; after {@link #kill}. */
  ExitStatus exit() throws InterruptedException;

  /** Whether the command ran, or what should start it failed before. */
  boolean ran();

  /** Takes away what was made for them, and kills first. */
  @Override
  void close();
}
