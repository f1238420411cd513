package dev.writ.cli.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Homes;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.gateway.pipeline.Running;
import dev.writ.ledger.error.LedgerError;
import dev.writ.tools.mcp.KeptServers;
import dev.writ.tools.process.ProcessHost;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A home that is open only while calls are at work, so that other processes can use it between
 * them: commands, above all approvals, and another agent's {@code writ mcp}.
 */
final class SharedHome implements AutoCloseable {
  private static final Duration LOOK_EVERY = Duration.ofMillis(100);
  private static final int LOOKS_MAX = 150;

  private final Home home;
  private final Supplier<ProcessHost> processes;
  private final KeptServers servers;
  private final Running running = new Running();
  private OpenHome open;
  private int users;

  /**
   * @param processes makes the host of processes, each time that the home is opened
   * @param kept makes that of MCP servers, which go on while the home is closed
   */
  SharedHome(Home home, Supplier<ProcessHost> processes, Supplier<ProcessHost> kept) {
    this.home = home;
    this.processes = processes;
    this.servers = new KeptServers(kept);
  }

  Home home() {
    return home;
  }

  /** What its tools are at, so that it can be cancelled. */
  Running running() {
    return running;
  }

  /**
   * Works in the home.
   *
   * @param giveUp asked while another process has the home open; true to stop waiting for it
   * @throws WritException {@code LED-003} where another process has it all the time
   */
  <T> T work(BooleanSupplier giveUp, Function<OpenHome, T> work) {
    OpenHome used = acquire(giveUp);
    try {
      return work.apply(used);
    } finally {
      release();
    }
  }

  private synchronized OpenHome acquire(BooleanSupplier giveUp) {
    if (open == null) {
      open = patiently(giveUp);
    }
    users++;
    return open;
  }

  private synchronized void release() {
    users--;
    if (users == 0) {
      OpenHome last = open;
      open = null;
      last.close();
    }
  }

  private OpenHome patiently(BooleanSupplier giveUp) {
    for (int looks = 1; ; looks++) {
      try {
        return OpenHome.open(
            home,
            Opening.of(Homes.clock(), processes.get())
                .keepingServers(servers)
                .wrapping(running::cancellable));
      } catch (WritException e) {
        if (e.code() != LedgerError.LOCKED || looks == LOOKS_MAX || giveUp.getAsBoolean()) {
          throw e;
        }
      }
      try {
        Thread.sleep(LOOK_EVERY);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  /** Ends the servers that were kept. */
  @Override
  public void close() {
    servers.close();
  }
}
