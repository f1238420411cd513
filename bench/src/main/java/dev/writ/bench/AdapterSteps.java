package dev.writ.bench;

import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.op.Operations;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The adapter of the conformance suite, against the rate that its page promises. */
final class AdapterSteps {
  private static final double PROMISED_NS = 1e9 / 10_000;
  private static final byte[] LINE =
      "{\"id\":\"1\",\"op\":\"canonicalize\",\"input\":{\"json_b64\":\"eyJiIjoxLjAsImEiOnRydWV9\"}}\n"
          .getBytes(StandardCharsets.UTF_8);

  private AdapterSteps() {}

  static List<Step> of(Stopwatch watch) {
    Adapter adapter = new Adapter(Operations.with(List.of()));
    return List.of(
        new Step(
            "adapter, a small operation",
            "10000 a second",
            new BenchTarget.TimeAtMost(1),
            watch.repeat(() -> answer(adapter)),
            () -> new Cost(PROMISED_NS, PROMISED_NS)));
  }

  private static Adapter answer(Adapter adapter) {
    try {
      adapter.serve(new ByteArrayInputStream(LINE), OutputStream.nullOutputStream());
      return adapter;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
