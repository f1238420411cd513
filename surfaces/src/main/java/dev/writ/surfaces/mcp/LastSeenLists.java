package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The lists of which a client is told changes, as it saw them last: when that was announced, when
 * it asked for one, or when it was told that one changed. Thread safe.
 */
final class LastSeenLists {
  private final EnumMap<ListKind, Digest> seen = new EnumMap<>(ListKind.class);
  private boolean outdated;

  /**
   * Its client is told changes of these from now on, and of no others.
   *
   * @param announced by what they show now
   */
  synchronized void begin(Map<ListKind, Digest> announced) {
    seen.clear();
    seen.putAll(announced);
  }

  /** The client got a list. */
  synchronized void saw(ListKind kind, Digest list) {
    Digest before = seen.replace(kind, list);
    // The list may have been made before a change of which the client was told meanwhile.
    outdated |= before != null && !before.equals(list);
  }

  /** Whether they are to be compared although nothing else happened; true once. */
  synchronized boolean isOutdated() {
    boolean was = outdated;
    outdated = false;
    return was;
  }

  /** Whether its client is told of anything. */
  synchronized boolean isEmpty() {
    return seen.isEmpty();
  }

  /**
   * Which of them are others, each once.
   *
   * @param now what the lists show; one that is not among them is not shown any more
   */
  synchronized List<ListKind> changed(Map<ListKind, Digest> now) {
    List<ListKind> changed = new ArrayList<>();
    for (Map.Entry<ListKind, Digest> entry : seen.entrySet()) {
      Digest shows = now.getOrDefault(entry.getKey(), NOTHING);
      if (!shows.equals(entry.getValue())) {
        entry.setValue(shows);
        changed.add(entry.getKey());
      }
    }
    return changed;
  }

  private static final Digest NOTHING = Digest.sha256(new byte[0]);
}
