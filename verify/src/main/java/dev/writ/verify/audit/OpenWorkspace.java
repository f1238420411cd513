package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.RunWorkspaces;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A run's workspace on the way through the log: who has it, and how it was left. */
final class OpenWorkspace {
  /** A receipt that does not say how the tree was left. */
  private record Unsettled(Digest request, Digest before) {}

  private final TreeMap<Digest, Unsettled> quarantine = new TreeMap<>();
  private Optional<Digest> tree = Optional.of(RunWorkspaces.EMPTY);
  private long freeSince = -1;
  private boolean used;

  boolean used() {
    return used;
  }

  /** The tree as the last effect left it; empty where that is not known. */
  Optional<Digest> tree() {
    return tree;
  }

  /** Why an effect could not be dispatched in it there; empty where it could. */
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

  /** An operator said what became of an effect in doubt. */
  void resolved(Digest receipt, long seq) {
    if (quarantine.remove(receipt) != null) {
      freeSince = seq;
    }
  }

  /** Requests whose effect keeps it in quarantine, each with its tree before. */
  SortedMap<Digest, Digest> unsettled() {
    TreeMap<Digest, Digest> requests = new TreeMap<>();
    quarantine.values().forEach(u -> requests.put(u.request(), u.before()));
    return requests;
  }
}
