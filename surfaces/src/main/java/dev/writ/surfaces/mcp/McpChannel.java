package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;

/** Where messages of ours go beside the answer: notifications, and questions to the client. */
public interface McpChannel {
  /** For a transport or a version that has no such place. */
  McpChannel NONE =
      new McpChannel() {
        @Override
        public void send(JsonValue.Obj message) {}

        @Override
        public boolean isOpen() {
          return false;
        }
      };

  /** Sends one message; one that can no longer be sent is lost. */
  void send(JsonValue.Obj message);

  /** Whether the client is still there. */
  boolean isOpen();

  /** Whether it can still answer a question. */
  default boolean canAnswer() {
    return isOpen();
  }
}
