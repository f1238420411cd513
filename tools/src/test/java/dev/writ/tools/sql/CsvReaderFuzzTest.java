package dev.writ.tools.sql;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes whatever: records that read back as themselves when they are written as RFC 4180 says,
 * and whose numbers are numbers to Java; or the end of the guest for its bad input.
 */
class CsvReaderFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of(
            "a,b\r\n1,\"x\"\"y\"\r\n,\"\"\r\n",
            "\uFEFFn\n-0\n1e308\n9223372036854775808",
            "a\n\n\"line\nbreak\"")
        .map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<List<CsvReader.Field>> read(byte[] bytes) {
    CsvReader reader = new CsvReader("input", bytes);
    List<List<CsvReader.Field>> records = new ArrayList<>();
    for (var row = reader.next(); row != null; row = reader.next()) {
      records.add(row);
    }
    return records;
  }

  private static String written(CsvReader.Field field) {
    return field.quoted() ? '"' + field.text().replace("\"", "\"\"") + '"' : field.text();
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) {
    List<List<CsvReader.Field>> records;
    try {
      records = read(bytes);
    } catch (GuestEnd end) {
      if (!end.reason().equals(Reason.BAD_INPUT)) {
        throw end;
      }
      return;
    }
    String text =
        records.stream()
            .map(row -> row.stream().map(f -> written(f)).collect(Collectors.joining(",")) + "\r\n")
            .collect(Collectors.joining());
    // A byte order mark of our own, so that one in the first field stays what it is.
    if (!read(("\uFEFF" + text).getBytes(StandardCharsets.UTF_8)).equals(records)) {
      throw new AssertionError("records that change when they are written");
    }
    records.forEach(row -> row.forEach(CsvReaderFuzzTest::requireNumber));
  }

  private static void requireNumber(CsvReader.Field field) {
    if (Numbers.isInteger(field.text())) {
      Long.parseLong(field.text());
    }
    if (Numbers.isNumber(field.text()) && !Double.isFinite(Double.parseDouble(field.text()))) {
      throw new AssertionError("a number that is none");
    }
  }
}
