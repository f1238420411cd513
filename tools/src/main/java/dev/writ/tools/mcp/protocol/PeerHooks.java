package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.JsonValue;
import java.util.function.Consumer;

/**
 * What a server says beside its answers. Called by the thread that reads it, so it returns at once.
 */
public interface PeerHooks {
  /** Takes no notice, and answers no request. */
  PeerHooks NONE = new PeerHooks() {};

  /**
   * Whether a request of the server, such as {@code sampling/createMessage}, is answered, later and
   * by another thread. One that is not is answered with -32601.
   *
   * @param reply takes the answer, once
   */
  default boolean takes(String method, JsonValue.Obj params, Consumer<PeerReply> reply) {
    return false;
  }

  /**
   * A request was cancelled, and the server has not ended it yet; or it has.
   *
   * @param isOpen whether it may still be at it
   */
  default void cancelled(boolean isOpen) {}

  /** How long questions of the server have waited for their answers so far, in milliseconds. */
  default long waitedMs() {
    return 0;
  }

  /** A notification, such as {@code notifications/tools/list_changed}. */
  default void told(String method, JsonValue.Obj params) {}
}
