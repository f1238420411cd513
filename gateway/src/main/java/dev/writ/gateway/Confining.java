package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.ops.ServerHealth;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.SortedMap;

/**
 * The confinement of tools that are processes, as a server monitors it: whether it is available,
 * and what it has done.
 */
public interface Confining {

  /** Whether that policy approves a tool that needs confinement. Called every few seconds. */
  boolean isNeeded(Policy policy);

  /**
   * Requires that confinement is available with all guarantees that policy requires. Called only in
   * the background: it may start programs and take seconds.
   *
   * @param policy the policy in force, which may waive guarantees
   * @return what was found, for the log
   * @throws WritException if nothing can be confined, with the reason
   */
  String require(Policy policy);

  /** What the latest {@link #require} found of each guarantee; empty where it found no engine. */
  List<ServerHealth.Guarantee> guarantees();

  /** Sandboxes that live now. */
  long running();

  /** Sandboxes that were created since the server started. */
  long started();

  /** Counts of commands that ended, by reason; the reasons are a fixed list. */
  SortedMap<String, Long> ended();
}
