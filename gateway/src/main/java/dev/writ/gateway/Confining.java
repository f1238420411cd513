package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.Policy;
import java.util.SortedMap;

/**
 * What confines the tools that are processes, as a server watches it: whether it is here, and what
 * it did.
 */
public interface Confining {

  /** Whether that policy approves a tool that runs in it. Asked every few seconds. */
  boolean isNeeded(Policy policy);

  /**
   * Looks whether it is here and holds what is required. Called in the background alone: it may
   * start programs and take seconds.
   *
   * @param policy in force, which may do without something
   * @return what was found, for the log
   * @throws WritException why nothing can be confined
   */
  String require(Policy policy);

  /** Sandboxes that live now. */
  long running();

  /** Sandboxes that were made since the server started. */
  long started();

  /** Commands that ended, by why; the reasons are a fixed list. */
  SortedMap<String, Long> ended();
}
