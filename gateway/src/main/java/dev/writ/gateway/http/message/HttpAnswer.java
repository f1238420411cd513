package dev.writ.gateway.http.message;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a handler answers. {@code Content-Length}, {@code Date} and the server's own headers are
 * added by the server.
 *
 * @param headers names and values, a name as often as it has values
 * @param states that the call reached, in order, for the log; not sent
 */
public record HttpAnswer(
    int status, List<Map.Entry<String, String>> headers, Body body, List<CallState> states) {

  public HttpAnswer {
    headers = List.copyOf(headers);
    states = List.copyOf(states);
  }

  public HttpAnswer(int status, List<Map.Entry<String, String>> headers, Body body) {
    this(status, headers, body, List.of());
  }

  /** The body of an answer. */
  public sealed interface Body {
    record Bytes(byte[] bytes) implements Body {}

    /**
     * Written piece by piece, on the handler's thread.
     *
     * @param length in bytes; negative if unknown, for chunked coding
     * @param release called at the end, whether it was written or not
     */
    record Stream(long length, Writer writer, Runnable release) implements Body {
      public Stream(long length, Writer writer) {
        this(length, writer, () -> {});
      }
    }
  }

  /**
   * Writes a streamed body. An exception cuts the connection: half an answer must not look whole.
   */
  @FunctionalInterface
  public interface Writer {
    void write(Sink sink) throws IOException;
  }

  /** Where a streamed body goes. */
  public interface Sink {
    /** Sends bytes; blocks while the client does not read. */
    void write(byte[] bytes) throws IOException;

    /**
     * Whether the client has gone, the server drains, or the caller would not be let in any more as
     * it was; an endless stream has to end then, before it sends anything else.
     */
    boolean isClosing();

    /** Whether the client has gone. */
    boolean isGone();

    /**
     * Tells whoever runs the server of an unexpected exception, where the stream says something
     * else to the client and ends as it should. One that is thrown is told, too, and breaks it off.
     */
    void failed(RuntimeException failure);
  }

  public static HttpAnswer of(int status, String contentType, byte[] bytes) {
    return new HttpAnswer(
        status, List.of(Map.entry("Content-Type", contentType)), new Body.Bytes(bytes));
  }

  /** Canonical JSON. */
  public static HttpAnswer json(int status, JsonValue value) {
    return of(status, "application/json", Jcs.write(value));
  }

  public static HttpAnswer text(int status, String text) {
    return of(status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
  }

  /** Server-sent events (WHATWG HTML, 9.2), which proxies of nginx's kind pass on as they come. */
  public static HttpAnswer events(Writer writer) {
    return new HttpAnswer(
        200,
        List.of(
            Map.entry("Content-Type", "text/event-stream"),
            Map.entry("Cache-Control", "no-store"),
            Map.entry("X-Accel-Buffering", "no")),
        new Body.Stream(-1, writer));
  }

  public HttpAnswer with(String name, String value) {
    List<Map.Entry<String, String>> more = new ArrayList<>(headers);
    more.add(Map.entry(name, value));
    return new HttpAnswer(status, more, body, states);
  }

  public HttpAnswer withStates(List<CallState> all) {
    return new HttpAnswer(status, headers, body, all);
  }
}
