package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.tools.error.ToolsError;
import java.util.Optional;

/** One JSON-RPC message of a server. */
public sealed interface PeerMessage {

  /** A request of the server's own. */
  record Asked(JsonValue id, String method, JsonValue.Obj params) implements PeerMessage {}

  /** A notification. */
  record Told(String method, JsonValue.Obj params) implements PeerMessage {}

  /**
   * An answer to a request of ours.
   *
   * @param result absent for an error
   * @param error absent for a result
   */
  record Answer(long id, Optional<JsonValue.Obj> result, Optional<Fault> error)
      implements PeerMessage {}

  /**
   * A JSON-RPC error; text and data are the server's own.
   *
   * @param data where the error has some
   */
  record Fault(long code, String message, Optional<JsonValue> data) {}

  /** The nesting that a message may have. */
  int DEPTH_MAX = 128;

  /**
   * Reads one message.
   *
   * @throws WritException {@code TOL-235}; what is found never has text of the message
   */
  static PeerMessage parse(byte[] bytes) {
    JsonValue value;
    try {
      value = Jcs.parse(bytes, new Limits(Math.max(1, bytes.length), DEPTH_MAX));
    } catch (WritException e) {
      throw refuse(
          "a message of "
              + bytes.length
              + " bytes cannot be read: "
              + e.code().code()
              + " "
              + e.code().meaning());
    }
    if (!(value instanceof JsonValue.Obj message)) {
      throw refuse("a message that is no object");
    }
    if (!JsonValue.of("2.0").equals(message.get("jsonrpc"))) {
      throw refuse("a message that does not say jsonrpc 2.0");
    }
    return message.get("method") == null ? answer(message) : ofServer(message);
  }

  private static PeerMessage ofServer(JsonValue.Obj message) {
    if (!(message.get("method") instanceof JsonValue.Str method)) {
      throw refuse("a method that is no text");
    }
    JsonValue.Obj params =
        switch (message.get("params")) {
          case null -> JsonValue.object().build();
          case JsonValue.Obj object -> object;
          default -> throw refuse("params that are no object");
        };
    JsonValue id = message.get("id");
    if (id == null) {
      return new Told(method.value(), params);
    }
    if (!(id instanceof JsonValue.Str) && !(id instanceof JsonValue.Num)) {
      throw refuse("a request whose id is neither a text nor a number");
    }
    return new Asked(id, method.value(), params);
  }

  private static Answer answer(JsonValue.Obj message) {
    if (!(message.get("id") instanceof JsonValue.Num id) || !id.isInteger()) {
      throw refuse("an answer whose id is none of ours");
    }
    JsonValue result = message.get("result");
    JsonValue error = message.get("error");
    if ((result == null) == (error == null)) {
      throw refuse("an answer with both or neither of result and error");
    }
    if (result != null) {
      if (!(result instanceof JsonValue.Obj object)) {
        throw refuse("a result that is no object");
      }
      return new Answer((long) id.value(), Optional.of(object), Optional.empty());
    }
    return new Answer((long) id.value(), Optional.empty(), Optional.of(fault(error)));
  }

  private static Fault fault(JsonValue error) {
    if (!(error instanceof JsonValue.Obj fault)
        || !(fault.get("code") instanceof JsonValue.Num code)
        || !code.isInteger()
        || !(fault.get("message") instanceof JsonValue.Str text)) {
      throw refuse("an error without code and message");
    }
    return new Fault((long) code.value(), text.value(), Optional.ofNullable(fault.get("data")));
  }

  /** The error of a message whose id does not matter, such as the content of a status. */
  static Optional<Fault> fault(byte[] content) {
    try {
      return Jcs.parse(content, new Limits(Math.max(1, content.length), DEPTH_MAX))
                  instanceof JsonValue.Obj message
              && JsonValue.of("2.0").equals(message.get("jsonrpc"))
              && message.get("error") != null
          ? Optional.of(fault(message.get("error")))
          : Optional.empty();
    } catch (WritException e) {
      return Optional.empty();
    }
  }

  /** A refusal of what a server sent. */
  static WritException refuse(String found) {
    return new WritException(ToolsError.UPSTREAM_MESSAGE, found);
  }
}
