package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.util.Optional;

/** One JSON-RPC 2.0 message of a client, read by the strict parser. */
public sealed interface McpMessage {
  /** Longest message, in bytes. */
  int BYTES_MAX = 2 << 20;

  int DEPTH_MAX = 100;
  int TEXT_MAX = 256;

  /**
   * A request, which needs an answer.
   *
   * @param id a text or an integer
   * @param params an object; another value if the client sent one
   */
  record Request(JsonValue id, String method, Optional<JsonValue> params) implements McpMessage {}

  /** Wants none. */
  record Notification(String method) implements McpMessage {}

  /** An answer to a request of ours. We send none, so it is ignored. */
  record Response() implements McpMessage {}

  /**
   * @throws WritException {@code GWY-151}
   */
  static McpMessage parse(byte[] json) {
    JsonValue value;
    try {
      value = Jcs.parse(json, new Limits(BYTES_MAX, DEPTH_MAX));
    } catch (WritException e) {
      throw new WritException(McpRefusal.MESSAGE, e.code().code() + " " + e.found(), e);
    }
    if (!(value instanceof JsonValue.Obj message)) {
      throw refuse(value instanceof JsonValue.Arr ? "a batch" : "not an object");
    }
    if (!JsonValue.of("2.0").equals(message.get("jsonrpc"))) {
      throw refuse("jsonrpc is not \"2.0\"");
    }
    JsonValue id = message.get("id");
    if (message.get("method") == null
        && (message.get("result") != null || message.get("error") != null)) {
      return new Response();
    }
    if (!(message.get("method") instanceof JsonValue.Str method)
        || method.value().length() > TEXT_MAX) {
      throw refuse("method is no text of at most " + TEXT_MAX + " characters");
    }
    if (id == null) {
      return new Notification(method.value());
    }
    requireId(id);
    return new Request(id, method.value(), Optional.ofNullable(message.get("params")));
  }

  /** The readable parts of a message, valid or not: a refusal is answered by its id. */
  record Readable(boolean isJson, Optional<JsonValue> id) {
    static Readable of(byte[] bytes) {
      try {
        JsonValue value = Jcs.parse(bytes, new Limits(BYTES_MAX, DEPTH_MAX));
        return new Readable(
            true,
            value instanceof JsonValue.Obj message
                ? Optional.ofNullable(message.get("id")).filter(McpMessage::isId)
                : Optional.empty());
      } catch (WritException e) {
        return new Readable(false, Optional.empty());
      }
    }
  }

  private static boolean isId(JsonValue id) {
    return id instanceof JsonValue.Str text && text.value().length() <= TEXT_MAX
        || id instanceof JsonValue.Num number && number.isInteger();
  }

  private static void requireId(JsonValue id) {
    if (!isId(id)) {
      throw refuse("id is no text of at most " + TEXT_MAX + " characters and no integer");
    }
  }

  private static WritException refuse(String found) {
    return new WritException(McpRefusal.MESSAGE, found);
  }
}
