package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Await;
import dev.writ.gateway.ops.JsonLog;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A page whose name was bent to this machine (DNS rebinding) gets nothing, from no route. */
class OnlyItsOwnNamesCallTheServerTest {
  private static final List<String> PATHS =
      List.of("/health", "/ready", "/metrics", "/v1/openapi.json", "/v1/runs", "/nothing");

  @TempDir Path dir;
  private WholeGateway server;

  @AfterEach
  void stop() throws Exception {
    server.close();
  }

  private void start(String more) {
    server =
        new WholeGateway(
            TestGateway.newHome(dir), "writ_gateway: 1\nlisten: { port: 0 }\n" + more, dir);
  }

  private String get(String path, String host) {
    String request = "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n";
    return TestGateway.raw(server.gateway.port(), request.getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void anotherNameIsRefusedEverywhere() {
    start("");
    for (String path : PATHS) {
      for (String host :
          List.of(
              "evil.example",
              "localhost.evil.example",
              "127.0.0.1.evil.example:80",
              "evil.example:localhost",
              "",
              "0.0.0.0")) {
        assertThat(get(path, host)).as(path + " " + host).startsWith("HTTP/1.1 421");
      }
    }
    assertThat(get("/metrics", "evil.example")).contains("GWY-034").doesNotContain("writ_");
    String asks =
        "OPTIONS /v1/runs HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n"
            + "Access-Control-Request-Method: GET\r\nConnection: close\r\n\r\n";
    assertThat(TestGateway.raw(server.gateway.port(), asks.getBytes(StandardCharsets.US_ASCII)))
        .startsWith("HTTP/1.1 421")
        .doesNotContain("Access-Control");
  }

  @Test
  void itsOwnNamesAndThoseOfTheConfigurationAreTaken() {
    start("hosts: [gate.example]\n");
    for (String host :
        List.of("localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80", "gate.example:8443")) {
      assertThat(get("/health", host)).as(host).startsWith("HTTP/1.1 200");
      assertThat(get("/metrics", host)).as(host).contains("writ_http_memory_bytes");
    }
    assertThat(get("/health", "other.example")).startsWith("HTTP/1.1 421");
  }

  @Test
  void whoIsNotKnownCannotFillTheLog() {
    start("");
    for (int i = 0; i < JsonLog.UNKNOWN_PER_SECOND_MAX + 50; i++) {
      get("/v1/runs", "localhost");
    }
    await(JsonLog.UNKNOWN_PER_SECOND_MAX);
    server.home.clock.forward(Duration.ofSeconds(1));
    assertThat(get("/metrics", "localhost")).contains("writ_log_lines_left_out_total");
    await(JsonLog.UNKNOWN_PER_SECOND_MAX + 1);
    assertThat(server.logged())
        .filteredOn(line -> line.get("event").equals(JsonValue.of("calls-not-logged")))
        .singleElement();
  }

  /** A line is written a moment after its answer is out. */
  private void await(int calls) {
    Await.until(() -> calls() >= calls);
    assertThat(calls()).isBetween((long) calls, calls + 1L); // one may be of the next second
  }

  private long calls() {
    return server.logged().stream()
        .filter(line -> line.get("event").equals(JsonValue.of("call")))
        .count();
  }
}
