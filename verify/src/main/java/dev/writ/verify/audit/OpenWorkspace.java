package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.RunWorkspaces;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A run's workspace during the walk through the log: its present use, and its last tree. */
final class OpenWorkspace {
  /** A receipt that does not state the tree after the effect. */
  private record Unsettled(Digest request, Digest before) {}

  private final TreeMap<Digest, Unsettled> quarantine = new TreeMap<>();
  private Optional<Digest> tree = Optional.of(RunWorkspaces.EMPTY);
  private long freeSince = -1;
  private boolean used;

  boolean used() {
    return used;
  }

  /** The tree after the last effect; empty if unknown. */
  Optional<Digest> tree() {
    return tree;
  }

  /** Why an effect could not be dispatched in it at that event; empty if it could. */
  Optional<String> taken(long dispatchedAt) {
    if (!quarantine.isEmpty()) {
      return Optional.of("its workspace was in quarantine by receipt " + quarantine.firstKey());
    }
    return dispatchedAt > freeSince
        ? Optional.empty()
        : Optional.of("its workspace was not free before event " + freeSince);
  }

  /** An effect has its receipt. */
  void left(Digest receipt, Digest request, Digest before, Optional<Digest> after, long seq) {
    used = true;
    tree = after;
    freeSince = seq;
    if (after.isEmpty()) {
      quarantine.put(receipt, new Unsettled(request, before));
    }
  }

  /** An operator resolved an effect in doubt. */
  void resolved(Digest receipt, long seq) {
    if (quarantine.remove(receipt) != null) {
      freeSince = seq;
    }
  }

  /** Requests whose effects quarantine it, each with its tree before. */
  SortedMap<Digest, Digest> unsettled() {
    TreeMap<Digest, Digest> requests = new TreeMap<>();
    quarantine.values().forEach(u -> requests.put(u.request(), u.before()));
    return requests;
  }
}
