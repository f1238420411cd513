package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.JsonValue;

/** A connection to a server over which requests are answered. Thread safe. */
public interface PeerExchange {

  /**
   * Sends a request and waits for its answer.
   *
   * @throws dev.writ.canonicalize.WritException {@code TOL-235} and {@code TOL-236} for what is no
   *     answer, {@code TOL-237} where none came in time, {@code TOL-240} where the server ended
   */
  PeerMessage.Answer request(String method, JsonValue.Obj params, Patience patience)
      throws InterruptedException;

  /** Sends a notification; nothing comes back, not even a failure. */
  void tell(String method, JsonValue.Obj params);
}
