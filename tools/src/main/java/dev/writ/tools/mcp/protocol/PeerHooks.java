package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.JsonValue;
import java.util.Optional;

/**
 * What a server says beside its answers. Called by the thread that reads it, so it returns at once.
 */
public interface PeerHooks {
  /** Takes no notice, and answers no request. */
  PeerHooks NONE = new PeerHooks() {};

  /** A notification, such as {@code notifications/tools/list_changed}. */
  default void told(String method, JsonValue.Obj params) {}

  /**
   * A request of the server, such as {@code sampling/createMessage}.
   *
   * @return the result; empty for a method that is not offered, which is answered with -32601
   */
  default Optional<JsonValue.Obj> asked(String method, JsonValue.Obj params) {
    return Optional.empty();
  }
}
