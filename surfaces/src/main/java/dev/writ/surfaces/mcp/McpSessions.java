package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.auth.Caller;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.TreeMap;

/**
 * The sessions of a server, in memory: after a restart clients must begin new ones, as the protocol
 * allows. An unused session ends. A subject that opens too many loses its own oldest ones. Thread
 * safe.
 */
final class McpSessions {
  /** Of one subject of one tenant. */
  static final int PER_SUBJECT_MAX = 256;

  /** Of all subjects. */
  static final int ALL_MAX = 16_384;

  private final SecureRandom random;
  private final Duration idleMax;

  /** By id, the most recently used one last. */
  private final LinkedHashMap<String, Used> byUse = new LinkedHashMap<>();

  private final TreeMap<String, LinkedHashMap<String, McpSession>> bySubject = new TreeMap<>();

  private record Used(McpSession session, Instant at) {}

  /**
   * @param idleMax how long an unused session stays
   */
  McpSessions(SecureRandom random, Duration idleMax) {
    this.random = random;
    this.idleMax = idleMax;
  }

  /**
   * @param now monotonic time, so that sessions do not end when the host's clock leaps
   */
  McpSession open(Caller caller, McpView view, Instant now) {
    byte[] id = new byte[16];
    random.nextBytes(id);
    McpSession session = new McpSession(HexFormat.of().formatHex(id), caller, view);
    synchronized (bySubject) {
      endIdle(now);
      LinkedHashMap<String, McpSession> own =
          bySubject.computeIfAbsent(subject(caller), _ -> new LinkedHashMap<>());
      if (own.size() >= PER_SUBJECT_MAX) {
        McpSession oldest = own.pollFirstEntry().getValue();
        byUse.remove(oldest.id());
        oldest.end();
      }
      if (byUse.size() >= ALL_MAX) {
        remove(byUse.pollFirstEntry().getValue().session());
        own = bySubject.computeIfAbsent(subject(caller), _ -> new LinkedHashMap<>());
      }
      own.put(session.id(), session);
      byUse.put(session.id(), new Used(session, now));
    }
    return session;
  }

  /**
   * @param now of the same clock
   * @throws WritException {@code GWY-154}, for unknown, expired and foreign sessions alike, and for
   *     those of another view
   */
  McpSession find(Caller caller, McpView view, String id, Instant now) {
    synchronized (bySubject) {
      endIdle(now);
      LinkedHashMap<String, McpSession> own = bySubject.get(subject(caller));
      McpSession session = own == null ? null : own.get(id);
      if (session == null || !session.isOf(caller) || !session.view().equals(view)) {
        throw new WritException(McpRefusal.SESSION_UNKNOWN, "");
      }
      own.putLast(id, session); // the most recently used are dropped last
      byUse.putLast(id, new Used(session, now));
      return session;
    }
  }

  /** Ends those that were unused for too long, so that their streams end, too. */
  void look(Instant now) {
    synchronized (bySubject) {
      endIdle(now);
    }
  }

  void end(McpSession session) {
    synchronized (bySubject) {
      byUse.remove(session.id());
      remove(session);
    }
  }

  /** How many there are. */
  int size() {
    synchronized (bySubject) {
      return byUse.size();
    }
  }

  private void endIdle(Instant now) {
    Iterator<Used> all = byUse.values().iterator();
    while (all.hasNext()) {
      Used used = all.next();
      if (used.at().plus(idleMax).isAfter(now)) {
        return;
      }
      all.remove();
      remove(used.session());
    }
  }

  private void remove(McpSession session) {
    session.end();
    String subject = subject(session.caller());
    LinkedHashMap<String, McpSession> own = bySubject.get(subject);
    if (own != null) {
      own.remove(session.id());
      if (own.isEmpty()) {
        bySubject.remove(subject);
      }
    }
  }

  private static String subject(Caller caller) {
    return caller.tenant() + "\u0000" + caller.subject();
  }
}
