package dev.writ.cli.term;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.ops.JsonLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Standard error on a disk that is full for a while. */
class LinesThatALogDidNotTakeAreCountedTest {
  private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
  private boolean full;

  private final OutputStream disk =
      new OutputStream() {
        @Override
        public void write(int b) throws IOException {
          write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
          if (full) {
            throw new IOException("no space left");
          }
          taken.write(bytes, from, count);
        }
      };

  @Test
  void onlyThose() {
    Terminal terminal =
        new Terminal(
            InputStream.nullInputStream(), OutputStream.nullOutputStream(), disk, "", Map.of());
    JsonLog log = new JsonLog(terminal.err(), () -> Instant.EPOCH);
    log.event("listening", "before");
    assertThat(log.leftOut()).isZero();
    full = true;
    log.event("listening", "lost");
    List<JsonValue.Obj> collected = new ArrayList<>();
    log.alsoTo(collected::add);
    JsonValue.Obj ofSink =
        JsonValue.object()
            .put("at", Instant.EPOCH)
            .put("level", "info")
            .put("event", "sink-recovered")
            .put("sink", "lost")
            .build();
    log.written(ofSink);
    assertThat(collected).as("a collector has it all the same").containsExactly(ofSink);
    assertThat(log.leftOut()).isEqualTo(2);
    full = false;
    log.event("listening", "behind");
    assertThat(log.leftOut()).isEqualTo(2);
    assertThat(taken.toString()).contains("before", "behind").doesNotContain("lost");
  }
}
