package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;

/**
 * Commands to a Chromium over its debugging pipe, one after the other (Chrome DevTools Protocol:
 * JSON messages, each ended by a zero byte). What the browser tells unasked is passed over.
 */
final class DevtoolsPipe {
  /** A page's script or a piece of a file comes in one message. */
  private static final Limits LIMITS = new Limits(16 << 20, 64);

  private final OutputStream to;
  private final InputStream from;
  private long next = 1;

  DevtoolsPipe(OutputStream to, InputStream from) {
    this.to = to;
    this.from = new BufferedInputStream(from);
  }

  /**
   * Sends a command and waits for its answer.
   *
   * @param session of the page that it is for; empty for the browser itself
   * @throws IOException where the browser ends, refuses the command, or answers nonsense
   */
  JsonValue.Obj ask(Optional<String> session, String method, JsonValue parameters)
      throws IOException {
    long id = next++;
    JsonValue message =
        JsonValue.object()
            .put("id", id)
            .put("method", method)
            .put("params", parameters)
            .putIfPresent("sessionId", session, JsonValue::of)
            .build();
    to.write(Jcs.write(message));
    to.write(0);
    to.flush();
    while (true) {
      JsonValue.Obj heard = hear();
      if (heard.get("id") instanceof JsonValue.Num(double of) && of == id) {
        if (heard.get("result") instanceof JsonValue.Obj result) {
          return result;
        }
        throw new IOException(method + " is refused by the browser");
      }
    }
  }

  private JsonValue.Obj hear() throws IOException {
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    for (int b = from.read(); b != 0; b = from.read()) {
      if (b < 0) {
        throw new IOException("the browser ended");
      }
      if (message.size() == LIMITS.bytesMax()) {
        throw new IOException("the browser sent a message above " + LIMITS.bytesMax() + " bytes");
      }
      message.write(b);
    }
    if (Jcs.parse(message.toByteArray(), LIMITS) instanceof JsonValue.Obj heard) {
      return heard;
    }
    throw new IOException("the browser sent no object");
  }

  /** A text that an answer must have. */
  static String text(JsonValue.Obj answer, String member) throws IOException {
    if (answer.get(member) instanceof JsonValue.Str(String value)) {
      return value;
    }
    throw new IOException("the browser's answer has no " + member);
  }
}
