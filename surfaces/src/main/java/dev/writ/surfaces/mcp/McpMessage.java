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
  record Request(JsonValue id, String method, Optional<JsonValue> params) implements McpMessage {
    /** Whether it is of a version without sessions. */
    public boolean isStateless() {
      return StatelessProtocol.is(this);
    }

    /** The member of {@code params._meta} of that name. */
    public Optional<JsonValue> meta(String name) {
      return member(params, "_meta").flatMap(meta -> member(Optional.of(meta), name));
    }

    /** The member of {@code params} of that name. */
    public Optional<JsonValue> param(String name) {
      return member(params, name);
    }
  }

  /** Wants none. */
  record Notification(String method, Optional<JsonValue> params) implements McpMessage {
    /** The member of {@code params} of that name. */
    public Optional<JsonValue> param(String name) {
      return member(params, name);
    }
  }

  /**
   * An answer to a request of ours.
   *
   * @param id of our request; absent if it is not readable
   * @param result absent for an error
   */
  record Response(Optional<JsonValue> id, Optional<JsonValue> result) implements McpMessage {}

  private static Optional<JsonValue> member(Optional<JsonValue> of, String name) {
    return of.filter(JsonValue.Obj.class::isInstance).map(o -> ((JsonValue.Obj) o).get(name));
  }

  /**
   * @throws WritException {@code GWY-151}
   */
  static McpMessage parse(byte[] json) {
    return of(read(json));
  }

  /** How many messages one array may have. */
  int BATCH_MAX = 64;

  /**
   * The JSON of a message, or of an array of them.
   *
   * @throws WritException {@code GWY-151}
   */
  static JsonValue read(byte[] json) {
    try {
      return Jcs.parse(json, new Limits(BYTES_MAX, DEPTH_MAX));
    } catch (WritException e) {
      throw new WritException(McpRefusal.MESSAGE, e.code().code() + " " + e.found(), e);
    }
  }

  /**
   * Requires a batch of a version that has them, with neither none nor too many messages.
   *
   * @throws WritException {@code GWY-151}
   */
  static void requireBatch(JsonValue.Arr all, McpSession in) {
    if (!in.peer().version().hasBatches()) {
      throw refuse("a batch, in version " + in.peer().version().text());
    }
    if (all.items().isEmpty() || all.items().size() > BATCH_MAX) {
      throw refuse("a batch of " + all.items().size() + " messages, not 1 to " + BATCH_MAX);
    }
  }

  /**
   * @throws WritException {@code GWY-151}
   */
  static McpMessage of(JsonValue value) {
    if (!(value instanceof JsonValue.Obj message)) {
      throw refuse(value instanceof JsonValue.Arr ? "a batch" : "not an object");
    }
    if (!JsonValue.of("2.0").equals(message.get("jsonrpc"))) {
      throw refuse("jsonrpc is not \"2.0\"");
    }
    JsonValue id = message.get("id");
    if (message.get("method") == null
        && (message.get("result") != null || message.get("error") != null)) {
      return new Response(
          Optional.ofNullable(id).filter(McpMessage::isId),
          Optional.ofNullable(message.get("result")));
    }
    if (!(message.get("method") instanceof JsonValue.Str method)
        || method.value().length() > TEXT_MAX) {
      throw refuse("method is no text of at most " + TEXT_MAX + " characters");
    }
    if (id == null) {
      return new Notification(method.value(), Optional.ofNullable(message.get("params")));
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

  /** Whether it can be the id of a message. */
  static boolean isId(JsonValue id) {
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
