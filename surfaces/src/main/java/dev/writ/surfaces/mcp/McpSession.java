package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.gateway.http.Caller;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One client's connection, from its initialize on: one run of one caller. Thread safe. */
public final class McpSession {
  private static final int WAITING_MAX = 256;
  private static final int WAITING_PER_EFFECT_MAX = 16;

  private final String id;
  private final Caller caller;

  /** Waiting requests by the digest of their effect, so that the same call finds its request. */
  private final Map<Digest, List<Digest>> waiting =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Digest, List<Digest>> eldest) {
          return size() > WAITING_MAX;
        }
      };

  /**
   * @param id random; it is no credential: only the same caller can use the session
   */
  public McpSession(String id, Caller caller) {
    this.id = id;
    this.caller = caller;
  }

  public String id() {
    return id;
  }

  public Caller caller() {
    return caller;
  }

  /** The run of its effects (protocol rule 33). */
  public String run() {
    return "mcp-" + id;
  }

  /** Whether it was opened with that credential: by tenant, subject, kind, name and fingerprint. */
  boolean isOf(Caller other) {
    return caller.tenant().equals(other.tenant())
        && caller.subject().equals(other.subject())
        && caller.credential().equals(other.credential());
  }

  /** Requests for this effect that were escalated, the first one first. */
  List<Digest> waiting(Digest effect) {
    synchronized (waiting) {
      return List.copyOf(waiting.getOrDefault(effect, List.of()));
    }
  }

  void waits(Digest effect, Digest request) {
    synchronized (waiting) {
      List<Digest> requests = waiting.computeIfAbsent(effect, _ -> new ArrayList<>());
      if (!requests.contains(request)) {
        requests.add(request);
      }
      if (requests.size() > WAITING_PER_EFFECT_MAX) {
        requests.removeFirst();
      }
    }
  }

  void settled(Digest effect, Digest request) {
    synchronized (waiting) {
      List<Digest> requests = waiting.get(effect);
      if (requests != null && requests.remove(request) && requests.isEmpty()) {
        waiting.remove(effect);
      }
    }
  }
}
