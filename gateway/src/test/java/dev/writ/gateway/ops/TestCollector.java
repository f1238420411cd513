package dev.writ.gateway.ops;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Takes OTLP over HTTP, and reads its protobuf by the field numbers of opentelemetry-proto 1.x. */
final class TestCollector implements AutoCloseable {
  private final HttpServer server;
  final List<byte[]> bodies = new CopyOnWriteArrayList<>();
  final List<String> types = new CopyOnWriteArrayList<>();

  TestCollector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/v1/traces",
        exchange -> {
          bodies.add(exchange.getRequestBody().readAllBytes());
          types.add(exchange.getRequestHeaders().getFirst("Content-Type"));
          exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
  }

  /**
   * @param events names with their times, in the order in which they were sent
   */
  record Got(
      String trace,
      String span,
      String parent,
      String name,
      long kind,
      long start,
      long end,
      TreeMap<String, String> attributes,
      List<Map.Entry<String, Long>> events) {}

  List<Got> spans() {
    List<Got> spans = new ArrayList<>();
    for (byte[] body : bodies) {
      for (Field resourceSpans : fields(body)) {
        for (Field scopeSpans : fields(resourceSpans.bytes)) {
          if (scopeSpans.number == 2) {
            fields(scopeSpans.bytes).stream()
                .filter(f -> f.number == 2)
                .forEach(f -> spans.add(span(f.bytes)));
          }
        }
      }
    }
    return spans;
  }

  private static Got span(byte[] bytes) {
    TreeMap<Integer, Field> last = new TreeMap<>();
    TreeMap<String, String> attributes = new TreeMap<>();
    List<Map.Entry<String, Long>> events = new ArrayList<>();
    for (Field field : fields(bytes)) {
      last.put(field.number, field);
      if (field.number == 11) {
        List<Field> event = fields(field.bytes);
        events.add(Map.entry(text(event.get(1).bytes), event.get(0).value));
      }
      if (field.number == 9) {
        List<Field> pair = fields(field.bytes);
        Field value = fields(pair.get(1).bytes).getFirst();
        attributes.put(
            text(pair.get(0).bytes),
            value.number == 1 ? text(value.bytes) : String.valueOf(value.value));
      }
    }
    return new Got(
        HexFormat.of().formatHex(last.get(1).bytes),
        HexFormat.of().formatHex(last.get(2).bytes),
        last.containsKey(4) ? HexFormat.of().formatHex(last.get(4).bytes) : "",
        text(last.get(5).bytes),
        last.containsKey(6) ? last.get(6).value : 0,
        last.get(7).value,
        last.get(8).value,
        attributes,
        events);
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private record Field(int number, long value, byte[] bytes) {}

  private static List<Field> fields(byte[] message) {
    List<Field> fields = new ArrayList<>();
    ByteBuffer in = ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN);
    while (in.hasRemaining()) {
      long tag = varint(in);
      int number = (int) (tag >>> 3);
      switch ((int) tag & 7) {
        case 0 -> fields.add(new Field(number, varint(in), new byte[0]));
        case 1 -> fields.add(new Field(number, in.getLong(), new byte[0]));
        case 2 -> {
          byte[] bytes = new byte[(int) varint(in)];
          in.get(bytes);
          fields.add(new Field(number, 0, bytes));
        }
        case 5 -> fields.add(new Field(number, in.getInt(), new byte[0]));
        default -> throw new AssertionError("wire type " + (tag & 7));
      }
    }
    return fields;
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte b = in.get();
      value |= (long) (b & 0x7f) << shift;
      if (b >= 0) {
        return value;
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
