package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;

/**
 * Our answer to a request of a server.
 *
 * @param member {@code result} or {@code error}
 */
public record PeerReply(String member, JsonValue.Obj value) {
  /** A result. */
  public static PeerReply result(JsonValue.Obj result) {
    return new PeerReply("result", result);
  }

  /** An error, in words that say nothing of the client. */
  public static PeerReply error(long code, String message) {
    return new PeerReply(
        "error", JsonValue.object().put("code", code).put("message", message).build());
  }

  /** As it is sent. */
  public byte[] to(JsonValue id) {
    return Jcs.write(
        JsonValue.object().put("jsonrpc", "2.0").put("id", id).put(member, value).build());
  }
}
