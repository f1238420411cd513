package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Scope;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The servers that run: one for each package and place, started for its first call, kept for the
 * next ones, and ended with its run, or when nobody has called it for a while.
 */
final class RunningServers implements AutoCloseable {
  /** How many may run at once. */
  static final int SERVERS_MAX = 32;

  /** How long one runs that nobody calls. */
  static final long IDLE_MS = 600_000;

  private static final long LOOK_MS = 15_000;

  /**
   * @param most how many may run at once
   * @param idleMs how long one runs that nobody calls
   * @param lookMs how long a server's lists are believed to be as they were, where it says nothing
   * @param nanos a clock that nobody sets, as {@link System#nanoTime}
   */
  record Terms(int most, long idleMs, long lookMs, LongSupplier nanos) {
    static final Terms STANDARD = looking(300_000, System::nanoTime);

    static Terms looking(long lookMs, LongSupplier nanos) {
      return new Terms(SERVERS_MAX, IDLE_MS, lookMs, nanos);
    }
  }

  private final Supplier<ProcessHost> host;
  private final Terms terms;
  private final TreeMap<String, Kept> byKey = new TreeMap<>();
  private Optional<Thread> sweeper = Optional.empty();
  private boolean closed;

  /**
   * @param host where they run; asked for each start
   */
  RunningServers(Supplier<ProcessHost> host, Terms terms) {
    this.host = host;
    this.terms = terms;
  }

  /** One server; whoever starts it holds its lock meanwhile. */
  private static final class Kept {
    private final Scope scope;
    private final Optional<String> state;
    private Optional<ReadyServer> server = Optional.empty();
    private int users;
    private long lastUsed;
    private boolean unwanted;

    Kept(Scope scope, Optional<String> state) {
      this.scope = scope;
      this.state = state;
    }
  }

  /** Work with a server that is ready. */
  interface Work<T> {
    T with(ReadyServer server) throws InterruptedException;
  }

  /**
   * Works with the server of a place; it is started where none runs, and its list is compared with
   * the package's whenever it may differ.
   *
   * @throws WritException {@code TOL-232} and what else {@link ReadyServer#start} refuses, {@code
   *     TOL-241}
   */
  <T> T work(UpstreamPackage upstream, ServerPlace place, Work<T> work)
      throws InterruptedException {
    Kept kept = take(upstream, place);
    try {
      return work.with(ready(kept, upstream, place));
    } finally {
      boolean isOver;
      synchronized (this) {
        kept.users--;
        kept.lastUsed = terms.nanos().getAsLong();
        isOver = kept.unwanted && kept.users == 0 && byKey.values().remove(kept);
        notifyAll(); // who waits for its state
      }
      if (isOver) {
        end(kept);
      }
    }
  }

  private ReadyServer ready(Kept kept, UpstreamPackage upstream, ServerPlace place)
      throws InterruptedException {
    synchronized (kept) {
      if (kept.server.filter(ReadyServer::isSound).isPresent()) {
        ReadyServer running = kept.server.get();
        try {
          running.server().requireRoom();
          running.look(terms.lookMs());
          return running;
        } catch (WritException e) {
          if (e.code() != ToolsError.UPSTREAM_SESSION) {
            throw e;
          }
        }
      }
      kept.server.ifPresent(ReadyServer::leave); // what is at work there has its end
      kept.server = Optional.empty();
      ReadyServer started = ReadyServer.start(host.get(), upstream, place, terms.nanos());
      kept.server = Optional.of(started);
      started.requirePinned();
      return started;
    }
  }

  /**
   * Takes the server of a place for one user more. Another server of the same state is ended first:
   * at once where nobody uses it, else when it is not used any more.
   *
   * @throws WritException {@code TOL-307} where that does not come about in the time of a start
   */
  private Kept take(UpstreamPackage upstream, ServerPlace place) throws InterruptedException {
    String key = place.key(upstream);
    Optional<String> state = place.state(upstream);
    List<Kept> over = new ArrayList<>();
    try {
      synchronized (this) {
        if (state.isPresent()) {
          free(key, state.get(), upstream, over);
        }
        if (closed) {
          throw new WritException(ToolsError.DRIVERS_CLOSED, "MCP servers");
        }
        Kept kept = byKey.get(key);
        if (kept == null) {
          while (byKey.size() >= terms.most()) {
            String oldest = idle().orElseThrow(this::busy);
            over.add(byKey.remove(oldest));
          }
          kept = new Kept(place.scope(), state);
          byKey.put(key, kept);
        }
        kept.users++;
        if (sweeper.isEmpty()) {
          sweeper = Optional.of(Thread.ofVirtual().name("writ-mcp-idle").start(this::sweep));
        }
        return kept;
      }
    } finally {
      over.forEach(RunningServers::end);
    }
  }

  /** Waits until no other server has a state, and takes those out that nobody uses. */
  private void free(String key, String state, UpstreamPackage upstream, List<Kept> over)
      throws InterruptedException {
    long until = System.nanoTime() + upstream.spec().startMs() * 1_000_000;
    while (true) {
      Optional<Map.Entry<String, Kept>> other =
          byKey.entrySet().stream()
              .filter(e -> !e.getKey().equals(key) && e.getValue().state.equals(Optional.of(state)))
              .findFirst();
      if (other.isEmpty()) {
        return;
      }
      Kept has = other.get().getValue();
      long leftMs = (until - System.nanoTime()) / 1_000_000;
      if (has.users == 0) {
        over.add(byKey.remove(other.get().getKey()));
      } else if (leftMs <= 0) {
        throw new WritException(
            ToolsError.STATE_TAKEN,
            upstream.manifest().name()
                + " has a call of run "
                + has.scope.run()
                + " of "
                + has.scope.subject());
      } else {
        wait(leftMs);
      }
    }
  }

  private WritException busy() {
    return new WritException(ToolsError.UPSTREAM_BUSY, "at most " + terms.most());
  }

  /** The key of the one that nobody has used for the longest time. */
  private Optional<String> idle() {
    return byKey.entrySet().stream()
        .filter(entry -> entry.getValue().users == 0)
        .min(Comparator.comparingLong(entry -> entry.getValue().lastUsed))
        .map(entry -> entry.getKey());
  }

  private void sweep() {
    try {
      while (true) {
        TimeUnit.MILLISECONDS.sleep(LOOK_MS);
        endIdle();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Ends those that nobody has called for so long. */
  void endIdle() {
    List<Kept> over = new ArrayList<>();
    synchronized (this) {
      long now = terms.nanos().getAsLong();
      byKey
          .values()
          .removeIf(kept -> {
            boolean idle = kept.users == 0 && now - kept.lastUsed > terms.idleMs() * 1_000_000;
            if (idle) {
              over.add(kept);
            }
            return idle;
          });
    }
    over.forEach(RunningServers::end);
  }

  /** Ends those of a run; one that is used, when it is not used any more. */
  void end(String tenant, String run) {
    List<Kept> over = new ArrayList<>();
    synchronized (this) {
      byKey
          .values()
          .removeIf(kept -> {
            boolean ofRun = kept.scope.tenant().equals(tenant) && kept.scope.run().equals(run);
            kept.unwanted |= ofRun;
            boolean isOver = ofRun && kept.users == 0;
            if (isOver) {
              over.add(kept);
            }
            return isOver;
          });
    }
    over.forEach(RunningServers::end);
  }

  private static void end(Kept kept) {
    synchronized (kept) {
      kept.server.ifPresent(ReadyServer::close);
      kept.server = Optional.empty();
    }
  }

  /** Ends all of them. */
  @Override
  public void close() {
    List<Kept> all;
    synchronized (this) {
      closed = true;
      all = List.copyOf(byKey.values());
      byKey.clear();
      sweeper.ifPresent(Thread::interrupt);
    }
    all.forEach(RunningServers::end);
  }
}
