package dev.writ.tools.sql;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever: rows that read back as themselves, or the end of the guest for its bad input.
 */
class JsonTableFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of("[{\"a\":1,\"b\":null},{\"a\":[1.5,{}]}]", "[]", "[1]")
        .map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) {
    List<JsonValue.Obj> rows;
    try {
      rows = JsonTable.rows("input", bytes);
    } catch (GuestEnd end) {
      if (!end.reason().equals(Reason.BAD_INPUT)) {
        throw end;
      }
      return;
    }
    if (!JsonTable.rows("input", Jcs.write(JsonValue.of(List.<JsonValue>copyOf(rows))))
        .equals(rows)) {
      throw new AssertionError("rows that change when they are written");
    }
  }
}
