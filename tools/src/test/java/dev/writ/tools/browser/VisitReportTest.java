package dev.writ.tools.browser;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes out of the sandbox is a claim of whoever has the browser. */
class VisitReportTest {
  static final String END =
      "{\"event\":\"end\",\"reason\":\"ok\",\"message\":\"\",\"navigated\":\"\",\"counts\":{"
          + "\"console_dropped\":0,\"dialogs\":0,\"downloads\":0,\"popups\":0,\"requests\":1,"
          + "\"steps\":0}}\n";
  private static final String LINE = "{\"event\":\"console\",\"type\":\"log\",\"text\":\"x\"}\n";

  private static VisitReport read(String text) {
    return VisitReport.read(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void whatWasSaidBeforeAnEndThatNeverCameIsKept() {
    VisitReport report = read(LINE + LINE + "{\"event\":\"console\",\"type\":\"log\",\"te");
    assertThat(report.console()).hasSize(2);
    assertThat(report.reason()).isEmpty();
    assertThat(read(LINE + END).reason()).contains("ok");
    assertThat(read("").reason()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no json\n",
        "[]\n",
        "{\"event\":\"console\",\"type\":\"log\",\"text\":1}\n",
        "{\"event\":\"console\",\"type\":\"log\",\"text\":\"x\",\"more\":1}\n",
        "{\"event\":\"console\",\"event\":\"console\",\"type\":\"log\",\"text\":\"x\"}\n",
        "{\"event\":\"console\",\"type\":\"log\",\"text\":\"\\ud800\"}\n",
        "{\"event\":\"page\",\"final_url\":\"u\",\"title\":\"t\",\"status\":-1}\n",
        "{\"event\":\"strange\"}\n",
        "{\"event\":\"browser\",\"chromium\":1,\"node\":\"2\"}\n"
      })
  void aStrangeLineEndsTheReadingAlsoWhereAnEndFollows(String line) {
    VisitReport report = read(LINE + line + LINE + END);
    assertThat(report.reason()).isEmpty();
    assertThat(report.console()).hasSize(1);
  }

  @Test
  void theMessageIsWhatWentWrongWithoutTheDriversLog() {
    String said =
        "step 0, click: Timeout 100ms\\texceeded.\\u001b[2m\\nCall log:\\n  - waiting for it\\n";
    VisitReport report = read(END.replace("\"message\":\"\"", "\"message\":\"" + said + "\""));
    assertThat(report.message()).isEqualTo("step 0, click: Timeout 100ms exceeded. [2m");
  }

  @Test
  void aReasonThatIsNotOursIsNone() {
    assertThat(read(END.replace("\"ok\"", "\"succeeded\"")).reason()).isEmpty();
    assertThat(read(END + "x\n").reason()).isEmpty();
  }
}
