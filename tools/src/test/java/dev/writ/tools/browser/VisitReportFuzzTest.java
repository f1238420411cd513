package dev.writ.tools.browser;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever: nothing is thrown, and what is kept takes no more room than what came. */
class VisitReportFuzzTest {

  static Stream<byte[]> seeds() {
    return Stream.of(
            "{\"event\":\"browser\",\"chromium\":\"1\",\"node\":\"2\"}\n"
                + "{\"event\":\"console\",\"type\":\"log\",\"text\":\"x\"}\n"
                + "{\"event\":\"page\",\"final_url\":\"u\",\"title\":\"t\",\"status\":200,"
                + "\"text\":\"x\",\"text_truncated\":false}\n"
                + VisitReportTest.END,
            "{\"event\":\"page\"}\n",
            "[1]")
        .map(text -> text.getBytes(StandardCharsets.UTF_8));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsKeptIsNoMoreThanWhatCame(byte[] bytes) {
    VisitReport report = VisitReport.read(bytes);
    ObjectBuilder json = JsonValue.object().put("console", JsonValue.of(report.console()));
    report.page().ifPresent(page -> page.members().forEach(json::put));
    report.counts().ifPresent(counts -> counts.members().forEach(json::put));
    int size = Jcs.write(json.build()).length;
    if (size > bytes.length + 1_024) {
      throw new AssertionError(size + " bytes of " + bytes.length);
    }
  }
}
