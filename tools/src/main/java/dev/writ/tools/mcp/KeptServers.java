package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * MCP servers that outlive the drivers which call them, for a process that opens its home for each
 * burst of calls. They need a host of processes of their own, since another process may use the
 * home's meanwhile.
 */
public final class KeptServers implements AutoCloseable {
  private final Supplier<ProcessHost> opening;
  private final RunningServers servers =
      new RunningServers(this::host, RunningServers.Terms.STANDARD);
  private Optional<ProcessHost> host = Optional.empty();
  private boolean closed;

  /**
   * @param opening opens the host of the servers, for the first of them
   */
  public KeptServers(Supplier<ProcessHost> opening) {
    this.opening = opening;
  }

  RunningServers servers() {
    return servers;
  }

  private synchronized ProcessHost host() {
    if (closed) {
      throw new WritException(ToolsError.DRIVERS_CLOSED, "MCP servers");
    }
    if (host.isEmpty()) {
      host = Optional.of(opening.get());
    }
    return host.get();
  }

  /** Ends all of them. */
  @Override
  public void close() {
    servers.close();
    synchronized (this) {
      closed = true;
      host.ifPresent(ProcessHost::close);
    }
  }
}
