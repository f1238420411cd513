package dev.writ.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.engine.Divergence;
import dev.writ.replay.engine.ReplayResult;
import dev.writ.replay.engine.ReplaySession;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.error.BundleError;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;

/** Whatever a bundle's name, a value or an output holds, a CI server gets well-formed XML. */
class JUnitReportTest {
  private static final RunId RUN = new RunId("acme", "run-1");

  private static Element parse(String xml) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
    DocumentBuilder builder = factory.newDocumentBuilder();
    builder.setErrorHandler(null);
    return builder
        .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)))
        .getDocumentElement();
  }

  private static Element only(Element in, String name) {
    assertThat(in.getElementsByTagName(name).getLength()).as(name).isEqualTo(1);
    return (Element) in.getElementsByTagName(name).item(0);
  }

  private static ReplaySession replayed(
      ReplayResult.State state, Optional<WritException> failure, Divergence... divergences) {
    ReplayResult result =
        new ReplayResult(
            state,
            RUN,
            3,
            Optional.empty(),
            Optional.empty(),
            List.of(divergences),
            failure,
            List.of(),
            List.of(),
            List.of());
    return new ReplaySession("run.writ", Optional.empty(), true, Optional.of(result), List.of());
  }

  private static Divergence divergence(String recorded, Optional<String> diff) {
    return new Divergence(
        Divergence.Kind.MISMATCH,
        RUN,
        2,
        "receipt.signed",
        List.of(new Divergence.Field("/body/reason", recorded, "ok")),
        1,
        "none",
        diff);
  }

  @Test
  void each_state_is_counted_where_a_server_looks_for_it() throws Exception {
    WritException damaged = new WritException(BundleError.ENTRY_CHECKSUM, "bundle.json");
    WritException stuck = new WritException(ReplayError.KERNEL_UNKNOWN, "snapshot");
    Element suites =
        parse(
            JUnitReport.of(
                List.of(
                    replayed(ReplayResult.State.COMPLETE, Optional.empty()),
                    replayed(
                        ReplayResult.State.DIVERGED,
                        Optional.empty(),
                        divergence("a", Optional.empty())),
                    replayed(ReplayResult.State.FAILED, Optional.of(stuck)),
                    new ReplaySession(
                        "damaged.writ",
                        Optional.of(damaged),
                        false,
                        Optional.empty(),
                        List.of()))));
    assertThat(suites.getAttribute("tests")).isEqualTo("4");
    assertThat(suites.getAttribute("failures")).isEqualTo("1");
    assertThat(suites.getAttribute("errors")).isEqualTo("2");
    assertThat(suites.getElementsByTagName("error").getLength()).isEqualTo(2);
    assertThat(((Element) suites.getElementsByTagName("error").item(0)).getAttribute("type"))
        .isEqualTo("RPL-070");
    assertThat(((Element) suites.getElementsByTagName("testcase").item(3)).getAttribute("name"))
        .isEqualTo("unknown run");
  }

  @Test
  void a_value_that_looks_like_markup_stays_a_value() throws Exception {
    String hostile = "\"/></testcase><error type='x'>&amp;]]>\t\r\n";
    Element failure =
        only(
            parse(
                JUnitReport.of(
                    List.of(
                        replayed(
                            ReplayResult.State.DIVERGED,
                            Optional.empty(),
                            divergence(hostile, Optional.of("@@ -1,1 +1,1 @@\n-" + hostile)))))),
            "failure");
    assertThat(failure.getAttribute("message")).contains("recorded=" + hostile + " replayed=ok");
    assertThat(failure.getTextContent()).endsWith("-" + hostile);
  }

  /** XML 1.0, production 2: what is outside becomes U+FFFD, what is inside stays. */
  @Test
  void characters_that_xml_cannot_hold_are_replaced() throws Exception {
    String inside = "\u0020\ud7ff\ue000\ufffd\ud83d\ude00\udbff\udfff";
    for (String outside :
        List.of("\u0000", "\u0008", "\u001b", "\u001f", "\ud800", "\udfff", "\ufffe", "\uffff")) {
      Element failure =
          only(
              parse(
                  JUnitReport.of(
                      List.of(
                          replayed(
                              ReplayResult.State.DIVERGED,
                              Optional.empty(),
                              divergence(inside + outside + "|", Optional.empty()))))),
              "failure");
      assertThat(failure.getTextContent()).contains("recorded=" + inside + "\ufffd| replayed=ok");
    }
  }

  /** Cut between characters, so that half of one is never left. */
  @Test
  void a_long_value_is_cut_in_text_and_whole_in_json() {
    String long201 = "\ud83d\ude00".repeat(201);
    Divergence divergence = divergence(long201, Optional.empty());
    assertThat(divergence.fields().getFirst().toString())
        .contains("recorded=" + "\ud83d\ude00".repeat(200) + "… replayed=ok");
    assertThat(divergence.toJson().toString()).contains(long201);
    String long200 = "\ud83d\ude00".repeat(200);
    assertThat(divergence(long200, Optional.empty()).fields().getFirst().toString())
        .contains("recorded=" + long200 + " replayed=ok");
  }
}
