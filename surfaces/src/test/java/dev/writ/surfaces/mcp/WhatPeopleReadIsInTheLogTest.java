package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.document.ReadEvent;
import dev.writ.guardian.policy.retention.ReadClass;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Resources of others are handed out to people where the log states it, and not otherwise. */
class WhatPeopleReadIsInTheLogTest {
  @TempDir Path dir;
  private McpTestServer server;

  @BeforeEach
  void start() {
    server = new McpTestServer(dir);
    server.activate(
        McpTestServer.POLICY
            + """
            people: [ { tenant: acme, subject: bob, roles: [auditor] } ]
            reads: [ { tenant: acme, what: [bundles, outputs, parameters] } ]
            """);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private List<ReadEvent> reads() {
    return server.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()).stream()
        .map(event -> ReadEvent.read(server.home.document(event.body()).document()))
        .toList();
  }

  @Test
  void anAuditorsReadsOfOthersAreStatedOrRefused() {
    McpTestServer.Client alice = server.client("alice");
    McpTestServer.Reply called = alice.call("calc_do", "{\"secret\":\"of-alice\"}");
    String receipt = "writ://receipts/" + called.meta("receipt");
    List<String> uris =
        List.of(receipt, receipt + "/output", "writ://runs/" + alice.run() + "/bundle");
    uris.forEach(uri -> assertThat(alice.read(uri).error()).as(uri).isZero());
    assertThat(reads()).as("what is one's own").isEmpty();
    McpTestServer.Client bob = server.client("bob");
    uris.forEach(uri -> assertThat(bob.read(uri).error()).as(uri).isZero());
    assertThat(reads())
        .allSatisfy(read -> assertThat(read.by().subject()).isEqualTo("bob"))
        .extracting(ReadEvent::what)
        .containsExactly(
            List.of(ReadClass.PARAMETERS), List.of(ReadClass.OUTPUTS), List.of(ReadClass.BUNDLES));
    server.home.clock.forward(Duration.ofSeconds(60));
    server.home.beforeWrite(() -> {
      throw new IllegalStateException("the disk is full");
    });
    for (String uri : uris) {
      assertThat(bob.read(uri).text())
          .as(uri)
          .contains("error")
          .doesNotContain("contents", "of-alice", "UEsD");
    }
    assertThat(alice.read(receipt).error()).as("what is one's own").isZero();
  }
}
