package dev.writ.bench;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.erdtman.jcs.JsonCanonicalizer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import tools.jackson.databind.json.JsonMapper;

/**
 * One document the size of a receipt, one of 22 KB and one of 1 MB, keys out of order: ours against
 * erdtman's (target: at most 0.35 of its time) and against Jackson 3 with sorted keys, which is not
 * JCS but a floor (at most 0.7 of its time, 0.9 at 1 MB).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class JcsBenchmark {
  /** Items in the document: 0 gives about 600 bytes, 210 gives 22 KB, 9800 gives 1 MB. */
  @Param({"0", "210", "9800"})
  public int items;

  private final JsonMapper jackson = new JsonMapper();
  private byte[] json;
  private byte[] canonical;
  private JsonValue value;

  @Setup
  public void makeDocument() {
    json = document(new Random(8785), items);
    canonical = Jcs.canonicalize(json);
    value = Jcs.parse(json);
  }

  @Benchmark
  public byte[] ours() {
    return Jcs.canonicalize(json);
  }

  @Benchmark
  public byte[] oursOfCanonical() {
    return Jcs.canonicalize(canonical);
  }

  @Benchmark
  public JsonValue parse() {
    return Jcs.parse(json);
  }

  @Benchmark
  public JsonValue parseCanonical() {
    return Jcs.parseCanonical(canonical, Limits.DEFAULT);
  }

  @Benchmark
  public byte[] write() {
    return Jcs.write(value);
  }

  @Benchmark
  public byte[] erdtman() throws IOException {
    return new JsonCanonicalizer(json).getEncodedUTF8();
  }

  @Benchmark
  public byte[] jacksonSorted() {
    return jackson.writeValueAsBytes(jackson.readValue(json, TreeMap.class));
  }

  private static byte[] document(Random random, int items) {
    StringBuilder out = new StringBuilder();
    out.append("{\"tenant\":\"acme\",\"run\":\"run-2026-11\",\"lamport\":")
        .append(random.nextInt(1 << 20));
    out.append(",\"effect\":{\"tool\":\"wasm\",\"version\":\"1.2.0\",\"operation\":\"transform\",");
    out.append("\"params\":{\"name\":\"größe\",\"ratio\":0.25,\"flag\":true}},\"decision\":\"");
    out.append(digest(random)).append("\",\"intent\":\"").append(digest(random));
    out.append("\",\"started_at\":\"2026-11-21T12:00:00.000Z\",\"status\":\"ok\",");
    out.append("\"note\":\"line\\nbreak \\u20ac\",\"output\":{\"size\":")
        .append(random.nextInt(1 << 20));
    out.append(",\"media_type\":\"application/json\",\"digest\":\"").append(digest(random));
    out.append("\"},\"items\":[");
    for (int i = 0; i < items; i++) {
      out.append(i > 0 ? "," : "").append("{\"id\":").append(random.nextInt(1_000_000));
      out.append(",\"name\":\"item ").append(random.nextInt(1000)).append("\",\"price\":");
      out.append(random.nextInt(100_000) / 100.0).append(",\"score\":");
      out.append(i % 4 == 0 ? random.nextDouble() : random.nextInt(1000) / 1000.0);
      out.append(",\"tags\":[\"red\",\"blå\",\"x\"],\"ok\":")
          .append(random.nextBoolean())
          .append('}');
    }
    return out.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String digest(Random random) {
    byte[] bytes = new byte[32];
    random.nextBytes(bytes);
    return "sha256:" + HexFormat.of().formatHex(bytes);
  }
}
