package dev.writ.tools.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.DriverOutcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reports say how many tests ran and how much of the code; hostile ones say nothing. */
class ReportsAreSummarisedTest {
  private static final long SEED = Long.getLong("writ.seed", 20261122L);

  private static final String PYTEST =
      """
      <?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite \
      name="pytest" errors="1" failures="2" skipped="3" tests="10" time="1.234" \
      timestamp="2026-11-22T00:00:00" hostname="h"><testcase classname="t" name="a" \
      time="0.001"><failure message="assert &lt;1&gt;">text</failure></testcase></testsuite>\
      </testsuites>\
      """;
  private static final String COBERTURA =
      "<?xml version=\"1.0\" ?><coverage version=\"7.4\" lines-valid=\"200\" lines-covered=\"171\""
          + " line-rate=\"0.855\" branch-rate=\"0\"><sources/></coverage>";
  private static final String JACOCO =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?><!DOCTYPE report PUBLIC"
          + " \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\"><report name=\"x\"><package"
          + " name=\"p\"><counter type=\"LINE\" missed=\"9\" covered=\"1\"/></package><counter"
          + " type=\"INSTRUCTION\" missed=\"5\" covered=\"5\"/><counter type=\"LINE\""
          + " missed=\"30\" covered=\"70\"/></report>";

  private static String summary(String... reports) {
    List<DriverOutcome.Artifact> artifacts = new ArrayList<>();
    for (String report : reports) {
      artifacts.add(
          new DriverOutcome.Artifact(
              artifacts.size() + ".xml",
              report.getBytes(StandardCharsets.UTF_8),
              "application/xml"));
    }
    return new String(Jcs.write(TestReports.summary(artifacts)), StandardCharsets.UTF_8);
  }

  @Test
  void testsAsJUnitsXmlHasThem() {
    String numbers = "{\"errors\":1,\"failures\":2,\"skipped\":3,\"tests\":10,\"time_ms\":1234}";
    assertThat(summary(PYTEST))
        .isEqualTo(
            "{\"reports\":[{\"artifact\":\"0.xml\",\"kind\":\"junit_xml\",\"says\":"
                + numbers
                + "}],\"tests\":"
                + numbers
                + "}");
    assertThat(summary("<testsuite tests=\"2\"/>", PYTEST)).contains("\"tests\":12");
    assertThat(summary("<testsuites/>")).contains("\"tests\":0");
    assertThat(summary("<testsuites tests=\"7\" failures=\"1\" time=\"2\"/>"))
        .contains("\"tests\":7", "\"failures\":1", "\"time_ms\":2000");
    assertThat(
            summary(
                "<testsuites><testsuite tests=\"3\"><testsuite tests=\"3\"/></testsuite>"
                    + "<testsuite tests=\"4\"/></testsuites>"))
        .as("suites in suites are counted once")
        .contains("\"tests\":7");
  }

  @Test
  void coverageAsCoberturaAndJacocoHaveIt() {
    assertThat(summary(COBERTURA))
        .contains("\"line_rate\":0.855", "\"lines_covered\":171", "\"lines_valid\":200");
    assertThat(summary(JACOCO))
        .contains("\"line_rate\":0.7", "\"lines_covered\":70", "\"lines_valid\":100");
    assertThat(summary(COBERTURA, JACOCO))
        .contains("\"coverage\":{\"line_rate\":0.8033333333333333,\"lines_covered\":241");
    String bare = "<coverage line-rate=\"1\"/>";
    assertThat(summary(bare)).contains("\"coverage\":{\"line_rate\":1}");
    assertThat(summary(bare, JACOCO)).doesNotContain("\"coverage\":").contains("\"reports\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no xml",
        "<testsuite tests=\"1\">",
        "<testsuite tests=\"1\"/><testsuite tests=\"1\"/>",
        "<testsuite/>",
        "<testsuite tests=\"-1\"/>",
        "<testsuite tests=\"1e9\"/>",
        "<testsuite tests=\"99999999999999999999\"/>",
        "<testsuites><testsuite tests=\"1\"/><testsuite/></testsuites>",
        "<coverage line-rate=\"1.5\"/>",
        "<coverage line-rate=\"NaN\"/>",
        "<coverage line-rate=\"1e-999999999\"/>",
        "<coverage/>",
        "<report/>",
        "<html tests=\"1\"/>",
        "<!DOCTYPE testsuite [<!ENTITY a \"1\">]><testsuite tests=\"1\"/>",
        "<!DOCTYPE testsuite [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><testsuite"
            + " tests=\"1\">&a;</testsuite>",
        "<!DOCTYPE x SYSTEM \"http://127.0.0.1/x.dtd\" [ ]><testsuite tests=\"1\"/>",
        "<!DOCTYPE x SYSTEM \"a>\" [<!ENTITY a \"1\">]><testsuite tests=\"1\">&a;</testsuite>",
        "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><testsuite tests=\"1\">&a;</testsuite>",
        "<testsuite tests=\"1\">&a;</testsuite>",
        "<testsuite tests=\"&a;\"/>"
      })
  void whatIsNoPlainReportSaysNothing(String xml) {
    assertThat(summary(xml)).isEqualTo("{}");
  }

  @Test
  void entitiesThatGrowAreNotRead() {
    StringBuilder bomb = new StringBuilder("<!DOCTYPE t [<!ENTITY a \"aaaaaaaaaa\">");
    for (char c = 'b'; c < 'l'; c++) {
      bomb.append("<!ENTITY ")
          .append(c)
          .append(" \"")
          .append(("&" + (char) (c - 1) + ";").repeat(10));
      bomb.append("\">");
    }
    assertThat(summary(bomb + "]><testsuite tests=\"1\" name=\"&k;\"/>")).isEqualTo("{}");
  }

  @Test
  void depthNumberAndSizeAreBounded() {
    assertThat(
            summary(
                "<testsuite tests=\"1\">" + "<a>".repeat(70) + "</a>".repeat(70) + "</testsuite>"))
        .isEqualTo("{}");
    assertThat(summary("<testsuite tests=\"1\">" + "<a/>".repeat(1_000_001) + "</testsuite>"))
        .isEqualTo("{}");
    assertThat(summary("<testsuite tests=\"1\">" + " ".repeat(8 << 20) + "</testsuite>"))
        .isEqualTo("{}");
    assertThat(summary("<testsuite tests=\"1\">" + " ".repeat(1 << 20) + "</testsuite>"))
        .contains("\"tests\":1");
    String many = "<testsuite tests=\"999999999999\"/>".repeat(20_000);
    assertThat(summary("<testsuites>" + many + "</testsuites>"))
        .contains("\"tests\":9007199254740991");
  }

  @Test
  void onlyUtf8IsText() {
    byte[] wide = PYTEST.getBytes(StandardCharsets.UTF_16);
    var artifact = new DriverOutcome.Artifact("a.xml", wide, "application/xml");
    assertThat(TestReports.summary(List.of(artifact)).members()).isEmpty();
    assertThat(summary("\uFEFF" + PYTEST)).contains("\"tests\":10");
    var other =
        new DriverOutcome.Artifact("a.txt", PYTEST.getBytes(StandardCharsets.UTF_8), "text/plain");
    assertThat(TestReports.summary(List.of(other)).members()).isEmpty();
  }

  /** Broken in any way it either still is a report or is none; nothing is thrown. */
  @Test
  void noMutationBreaksTheReader() {
    Random random = new Random(SEED);
    for (String report : List.of(PYTEST, COBERTURA, JACOCO)) {
      for (int round = 0; round < 1_500; round++) {
        byte[] bytes = report.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i <= random.nextInt(4); i++) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
        var artifact = new DriverOutcome.Artifact("a.xml", bytes, "application/xml");
        assertThat(Jcs.write(TestReports.summary(List.of(artifact)))).isNotEmpty();
      }
    }
  }
}
