package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** Reads a stream of server-sent events (HTML standard, 9.2), wherever it comes in pieces. */
final class EventReader {
  private static final int ID_CHARS_MAX = 4_096;

  private final int max;
  private final Consumer<Event> events;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final ByteArrayOutputStream data = new ByteArrayOutputStream();
  private String type = "";
  private Optional<String> lastId = Optional.empty();
  private OptionalLong retryMs = OptionalLong.empty();
  private boolean hasData;
  private boolean afterReturn;
  private boolean begun;

  /** One event; its data as bytes, since it is a message of its own. */
  record Event(String type, byte[] data) {}

  /**
   * @param max bytes of one event
   */
  EventReader(int max, Consumer<Event> events) {
    this.max = max;
    this.events = events;
  }

  /** The id of the last event that had one: from there a stream is resumed. */
  Optional<String> lastId() {
    return lastId;
  }

  /** How long the server wants us to wait before the stream is resumed. */
  OptionalLong retryMs() {
    return retryMs;
  }

  /**
   * Takes the next piece.
   *
   * @throws WritException {@code TOL-236} for an event that is too long
   */
  void next(byte[] piece, int length) {
    for (int i = 0; i < length; i++) {
      byte b = piece[i];
      if (b == '\n' && afterReturn) {
        afterReturn = false;
      } else if (b == '\n' || b == '\r') {
        afterReturn = b == '\r';
        end();
      } else {
        afterReturn = false;
        if (line.size() + data.size() >= max) {
          throw new WritException(
              ToolsError.UPSTREAM_FLOOD, "an event of more than " + max + " bytes");
        }
        line.write(b);
      }
    }
  }

  private void end() {
    byte[] bytes = line.toByteArray();
    line.reset();
    int from = 0;
    if (!begun) {
      begun = true;
      boolean mark =
          bytes.length >= 3
              && bytes[0] == (byte) 0xEF
              && bytes[1] == (byte) 0xBB
              && bytes[2] == (byte) 0xBF;
      from = mark ? 3 : 0;
    }
    if (bytes.length == from) {
      dispatch();
      return;
    }
    int colon = from;
    while (colon < bytes.length && bytes[colon] != ':') {
      colon++;
    }
    int value = Math.min(bytes.length, colon + 1);
    if (value < bytes.length && bytes[value] == ' ') {
      value++;
    }
    field(
        new String(bytes, from, colon - from, StandardCharsets.UTF_8),
        bytes,
        Math.min(value, bytes.length));
  }

  private void field(String name, byte[] bytes, int from) {
    switch (name) {
      case "data" -> {
        if (hasData) {
          data.write('\n');
        }
        hasData = true;
        data.write(bytes, from, bytes.length - from);
      }
      case "event" -> type = text(bytes, from);
      case "id" -> {
        String id = text(bytes, from);
        // It is sent back in a header.
        if (id.length() <= ID_CHARS_MAX && id.matches("([!-~]([ -~]*[!-~])?)?")) {
          lastId = id.isEmpty() ? Optional.empty() : Optional.of(id);
        }
      }
      case "retry" -> {
        String ms = text(bytes, from);
        if (ms.matches("[0-9]{1,9}")) {
          retryMs = OptionalLong.of(Long.parseLong(ms));
        }
      }
      default -> {} // a comment, or a field that nobody knows
    }
  }

  private static String text(byte[] bytes, int from) {
    return new String(bytes, from, bytes.length - from, StandardCharsets.UTF_8);
  }

  private void dispatch() {
    Event event = new Event(type.isEmpty() ? "message" : type, data.toByteArray());
    boolean full = hasData && event.data().length > 0;
    type = "";
    hasData = false;
    data.reset();
    if (full) {
      events.accept(event);
    }
  }
}
