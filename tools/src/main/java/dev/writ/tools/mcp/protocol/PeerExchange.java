package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

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

  /**
   * What was agreed on.
   *
   * @param version of the protocol, which decides how a transport frames what follows
   */
  default void agreed(String version) {}

  /**
   * Has what the server says of itself, such as that its list changed, come to the hooks from now
   * on, as far as the transport needs something for that. A failure is no end.
   *
   * @param params of {@code subscriptions/listen}; absent for versions with a handshake
   */
  default void listen(Optional<JsonValue.Obj> params) {}

  /** Sends a notification; nothing comes back, not even a failure. */
  void tell(String method, JsonValue.Obj params);
}
