package dev.writ.gateway.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.Caller;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The sessions of a server, in memory: after a restart clients begin anew, as the protocol has it.
 * Who opens too many loses its own oldest ones, and nobody else's. Thread safe.
 */
final class McpSessions {
  /** Of one subject of one tenant. */
  static final int PER_SUBJECT_MAX = 256;

  private final SecureRandom random;
  private final TreeMap<String, LinkedHashMap<String, McpSession>> bySubject = new TreeMap<>();

  McpSessions(SecureRandom random) {
    this.random = random;
  }

  McpSession open(Caller caller) {
    byte[] id = new byte[16];
    random.nextBytes(id);
    McpSession session = new McpSession(HexFormat.of().formatHex(id), caller);
    synchronized (bySubject) {
      Map<String, McpSession> own =
          bySubject.computeIfAbsent(subject(caller), _ -> new LinkedHashMap<>());
      if (own.size() >= PER_SUBJECT_MAX) {
        own.remove(own.keySet().iterator().next());
      }
      own.put(session.id(), session);
    }
    return session;
  }

  /**
   * @throws WritException {@code GWY-154}, alike for what is not there and what is another's
   */
  McpSession find(Caller caller, String id) {
    synchronized (bySubject) {
      Map<String, McpSession> own = bySubject.get(subject(caller));
      McpSession session = own == null ? null : own.remove(id);
      if (session != null) {
        own.put(id, session); // the latest used is the last to go
      }
      if (session == null || !session.isOf(caller)) {
        throw new WritException(McpRefusal.SESSION_UNKNOWN, "");
      }
      return session;
    }
  }

  void end(McpSession session) {
    synchronized (bySubject) {
      Map<String, McpSession> own = bySubject.get(subject(session.caller()));
      if (own != null) {
        own.remove(session.id());
      }
    }
  }

  private static String subject(Caller caller) {
    return caller.tenant() + "\u0000" + caller.subject();
  }
}
