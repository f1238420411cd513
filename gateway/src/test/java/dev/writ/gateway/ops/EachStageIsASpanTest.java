package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestHome;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.WholeGateway;
import dev.writ.gateway.ops.TestCollector.Got;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Spans, received by OTLP over HTTP. */
class EachStageIsASpanTest {
  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String PARENT = "00f067aa0ba902b7";

  @TempDir Path dir;

  private WholeGateway start(String otlp, String more) {
    TestHome home = TestGateway.newHome(dir);
    return new WholeGateway(
        home,
        "writ_gateway: 1\nlisten: { port: 0 }\ntelemetry: { otlp: \""
            + otlp
            + "\""
            + more
            + " }\ntokens:\n"
            + WholeGateway.token("alices", "alice", ""),
        dir);
  }

  private static HttpRequest.Builder traced(HttpRequest.Builder request, String flags) {
    return request.header("traceparent", "00-" + TRACE + "-" + PARENT + "-" + flags);
  }

  private static HttpRequest.BodyPublisher body(Envelope envelope) {
    return HttpRequest.BodyPublishers.ofByteArray(envelope.toBytes());
  }

  @Test
  void aCallOfATraceIsASpanInItWithAllStagesInside() throws Exception {
    try (TestCollector collector = new TestCollector()) {
      WholeGateway server = start(collector.url(), "");
      Envelope request =
          server.home.ask("alice").tool("mail").params("{\"private\":\"a-payload\"}").sign();
      String receipt;
      try (server) {
        receipt =
            server
                .send(traced(server.to("/v1/effects"), "01").POST(body(request)))
                .headers()
                .firstValue("Writ-Receipt")
                .orElseThrow();
      }
      assertThat(collector.types).containsOnly("application/x-protobuf");
      List<Got> spans = collector.spans();
      Got call = spans.stream().filter(s -> s.name().equals("POST /v1/effects")).findFirst().get();
      assertThat(call.trace()).isEqualTo(TRACE);
      assertThat(call.parent()).isEqualTo(PARENT);
      assertThat(call.kind()).isEqualTo(2); // server
      assertThat(call.attributes())
          .containsEntry("writ.request", request.id().toString())
          .containsEntry("writ.receipt", receipt)
          .containsEntry("http.response.status_code", "200")
          .containsEntry("writ.surface", "native");
      List<Got> stages = spans.stream().filter(s -> s.parent().equals(call.span())).toList();
      assertThat(stages)
          .extracting(Got::name)
          .containsExactly(
              "admission",
              "turn",
              "turn",
              "judgement",
              "gate",
              "snapshot",
              "prepare",
              "dispatch",
              "run",
              "drift",
              "canonicalize",
              "store",
              "receipt");
      for (Got stage : stages) {
        assertThat(stage.trace()).isEqualTo(TRACE);
        assertThat(stage.start())
            .isGreaterThanOrEqualTo(call.start())
            .isLessThanOrEqualTo(stage.end());
        assertThat(stage.end()).isLessThanOrEqualTo(call.end());
      }
      assertThat(spans).hasSize(1 + stages.size());
      for (byte[] sent : collector.bodies) {
        assertThat(new String(sent, StandardCharsets.ISO_8859_1))
            .doesNotContain("a-payload")
            .doesNotContain("alice")
            .doesNotContain("token-of");
      }
    }
  }

  @Test
  void aRefusalNamesItsStageAndASurfacesCallItsReceipt() throws Exception {
    try (TestCollector collector = new TestCollector()) {
      String receipt;
      String logged;
      try (WholeGateway server = start(collector.url(), "")) {
        Envelope bad = server.home.ask("nobody").subject("alice").sign();
        server.send(traced(server.to("/v1/effects"), "01").POST(body(bad)));
        receipt = server.post("alices", "/test/r/calc", "{}").body();
        // A trace that begins here is the log's, and the receipt is in both.
        server.gateway.close(); // the line is written after the answer
        logged = loggedTrace(server, receipt);
        assertThat(logged).hasSize(32).isNotEqualTo(TRACE);
      }
      assertThat(collector.spans())
          .filteredOn(s -> s.name().equals("admission"))
          .extracting(s -> s.attributes().get("error.type"))
          .contains("GRD-003");
      Got vouched =
          collector.spans().stream()
              .filter(s -> s.name().equals("POST /test/{run}/{tool}"))
              .findFirst()
              .orElseThrow();
      assertThat(vouched.attributes()).containsEntry("writ.receipt", receipt);
      assertThat(vouched.events())
          .as("the states that its surface told")
          .extracting(Map.Entry::getKey)
          .containsExactly("FIRST", "SECOND");
      assertThat(vouched.events())
          .extracting(Map.Entry::getValue)
          .allMatch(at -> vouched.start() <= at && at <= vouched.end());
      assertThat(vouched.parent()).isEmpty();
      assertThat(vouched.trace()).isEqualTo(logged);
    }
  }

  private static String loggedTrace(WholeGateway server, String receipt) {
    return server.logged().stream()
        .filter(line -> JsonValue.of(receipt).equals(line.get("receipt")))
        .map(line -> ((JsonValue.Str) line.get("trace_id")).value())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void whatIsNotSampledIsNotSent() throws Exception {
    try (TestCollector collector = new TestCollector()) {
      try (WholeGateway server = start(collector.url(), ", percent: 0")) {
        server.send(
            traced(server.to("/v1/effects"), "00").POST(body(server.home.ask("alice").sign())));
        server.get("alices", "/v1/runs"); // no trace of its own: the configured share
        server.send(traced(server.as("alices", "/v1/runs"), "01").GET());
      }
      assertThat(collector.spans()).extracting(Got::name).containsExactly("GET /v1/runs");
    }
  }

  @Test
  void aCollectorThatIsNotThereHoldsNobodyUp() throws Exception {
    String gone;
    try (TestCollector collector = new TestCollector()) {
      gone = collector.url();
    }
    WholeGateway server = start(gone, "");
    try (server) {
      for (int i = 0; i < 20; i++) {
        assertThat(server.post("alices", "/test/r/calc", "{}").statusCode()).isEqualTo(200);
      }
    }
    assertThat(server.logged())
        .filteredOn(line -> JsonValue.of("telemetry").equals(line.get("event")))
        .isNotEmpty();
  }
}
