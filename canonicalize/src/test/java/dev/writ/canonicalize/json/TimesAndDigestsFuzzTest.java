package dev.writ.canonicalize.json;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any text whatever: a time, or a digest, that is written as that very text, or a refusal. */
class TimesAndDigestsFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of(
            "2026-11-21T12:00:00.000Z",
            "0000-02-29T23:59:59.999Z",
            "2026-02-29T24:00:00.000Z",
            Digest.sha256(new byte[0]).toString())
        .map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadIsWrittenBack(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    requireWrittenBack(text, t -> Timestamps.format(Timestamps.parse(t)));
    requireWrittenBack(text, t -> Digest.parse(t).toString());
  }

  private static void requireWrittenBack(String text, UnaryOperator<String> parseAndWrite) {
    String written;
    try {
      written = parseAndWrite.apply(text);
    } catch (WritException refused) {
      return;
    }
    if (!written.equals(text)) {
      throw new AssertionError("two spellings of one value");
    }
  }
}
