package dev.writ.gateway.ops;

import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How a server is now, for who operates it.
 *
 * @param waiting calls that wait for their turn
 * @param running calls that have their turn
 * @param commitsWaiting batches that wait for the disk
 * @param diskFree bytes where the ledger lies; absent where the host does not say
 * @param sandboxes absent where no tool can be a process
 */
public record ServerHealth(
    Instant startedAt,
    List<Readiness.Check> checks,
    int waiting,
    int running,
    int commitsWaiting,
    OptionalLong diskFree,
    Optional<Sandboxes> sandboxes) {
  public ServerHealth {
    checks = List.copyOf(checks);
  }

  /**
   * A guarantee of sandboxes on this host (spec/sandbox.md).
   *
   * @param required unless policy waives it
   * @param how the mechanism that gives it, or why it is not given
   */
  public record Guarantee(String name, boolean held, boolean required, String how) {}

  /**
   * Sandboxes since the server started.
   *
   * @param found what confines, as the last successful look said; absent without one
   * @param running now
   * @param ended by reason
   * @param guarantees as the last look found them
   */
  public record Sandboxes(
      Optional<String> found,
      long running,
      long started,
      SortedMap<String, Long> ended,
      List<Guarantee> guarantees) {
    public Sandboxes {
      guarantees = List.copyOf(guarantees);
      ended = Collections.unmodifiableSortedMap(new TreeMap<>(ended));
    }
  }
}
