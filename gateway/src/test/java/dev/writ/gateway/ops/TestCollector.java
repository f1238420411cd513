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
  final List<byte[]> logs = new CopyOnWriteArrayList<>();
  final List<byte[]> metrics = new CopyOnWriteArrayList<>();
  final List<String> types = new CopyOnWriteArrayList<>();

  TestCollector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] body = exchange.getRequestBody().readAllBytes();
          switch (exchange.getRequestURI().getPath()) {
            case "/v1/traces" -> bodies.add(body);
            case "/v1/logs" -> logs.add(body);
            default -> metrics.add(body);
          }
          types.add(exchange.getRequestHeaders().getFirst("Content-Type"));
          exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.start();
  }

  String url() {
    return url("traces");
  }

  String url(String signal) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/" + signal;
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
    return items(bodies).stream().map(TestCollector::span).toList();
  }

  /** A record of the log. */
  record GotLine(String body, String trace, String span, TreeMap<String, String> attributes) {}

  List<GotLine> lines() {
    List<GotLine> lines = new ArrayList<>();
    for (byte[] item : items(logs)) {
      TreeMap<Integer, Field> last = new TreeMap<>();
      TreeMap<String, String> attributes = new TreeMap<>();
      for (Field field : fields(item)) {
        last.put(field.number, field);
        if (field.number == 6) {
          attribute(field.bytes, attributes);
        }
      }
      lines.add(
          new GotLine(
              text(fields(last.get(5).bytes).getFirst().bytes),
              last.containsKey(9) ? HexFormat.of().formatHex(last.get(9).bytes) : "",
              last.containsKey(10) ? HexFormat.of().formatHex(last.get(10).bytes) : "",
              attributes));
    }
    return lines;
  }

  /** Names of metrics, each with the number of the field that says its kind. */
  TreeMap<String, Integer> metrics() {
    TreeMap<String, Integer> names = new TreeMap<>();
    for (byte[] item : items(metrics)) {
      List<Field> fields = fields(item);
      names.put(text(fields.getFirst().bytes), fields.getLast().number);
    }
    return names;
  }

  /** Resource, scope, item: the same nesting in all signals. */
  private static List<byte[]> items(List<byte[]> sent) {
    return sent.stream()
        .flatMap(body -> fields(body).stream())
        .flatMap(resource -> fields(resource.bytes).stream())
        .filter(scope -> scope.number == 2)
        .flatMap(scope -> fields(scope.bytes).stream())
        .filter(item -> item.number == 2)
        .map(item -> item.bytes)
        .toList();
  }

  private static void attribute(byte[] bytes, TreeMap<String, String> attributes) {
    List<Field> pair = fields(bytes);
    Field value = fields(pair.get(1).bytes).getFirst();
    attributes.put(
        text(pair.get(0).bytes),
        value.number == 1 ? text(value.bytes) : String.valueOf(value.value));
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
        attribute(field.bytes, attributes);
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
