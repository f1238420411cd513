package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.PeerPairing;

/** Counts what a server sends that nobody asked for. */
final class Unasked {
  private int messages;
  private long bytes;

  /** A request was sent: it may say as much again. */
  synchronized void again() {
    messages = 0;
    bytes = 0;
  }

  /**
   * Counts one message.
   *
   * @throws WritException {@code TOL-236}
   */
  synchronized void count(int length) {
    messages++;
    bytes += length;
    if (messages > PeerPairing.UNASKED_MAX || bytes > PeerPairing.UNASKED_BYTES_MAX) {
      throw new WritException(
          ToolsError.UPSTREAM_FLOOD,
          messages + " messages that nobody asked for, " + bytes + " bytes");
    }
  }
}
