package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.message.HttpAnswer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Messages as server-sent events of one answer. Thread safe. */
final class McpEvents implements McpChannel {
  private static final byte[] BEGIN = "event: message\ndata: ".getBytes(StandardCharsets.UTF_8);
  private static final byte[] END = "\n\n".getBytes(StandardCharsets.UTF_8);
  private static final byte[] NOTHING = ": \n\n".getBytes(StandardCharsets.UTF_8);

  private final HttpAnswer.Sink sink;
  private boolean broken;

  McpEvents(HttpAnswer.Sink sink) {
    this.sink = sink;
  }

  @Override
  public void send(JsonValue.Obj message) {
    try {
      write(Jcs.write(message));
    } catch (IOException e) {
      // isOpen tells it from now on
    }
  }

  /**
   * @param json one line
   */
  synchronized void write(byte[] json) throws IOException {
    ByteArrayOutputStream event = new ByteArrayOutputStream(json.length + 64);
    event.writeBytes(BEGIN);
    event.writeBytes(json);
    event.writeBytes(END);
    put(event.toByteArray());
  }

  /** A comment, which keeps idle connections open. */
  synchronized void writeNothing() throws IOException {
    put(NOTHING);
  }

  private void put(byte[] bytes) throws IOException {
    try {
      sink.write(bytes);
    } catch (IOException e) {
      broken = true;
      throw e;
    }
  }

  @Override
  public boolean isOpen() {
    synchronized (this) {
      if (broken) {
        return false;
      }
    }
    return !sink.isGone();
  }
}
