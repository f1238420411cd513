package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.document.ReadEvent;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.policy.retention.ReadClass;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose reads are events in the log, of what, and that nothing is handed out without. */
class WhatPeopleReadIsInTheLogTest {
  private static final String MARK = "PARAMETER-OF-ALICE";
  private static final String AUDITOR =
      TestPolicy.YAML + "people: [ { tenant: acme, subject: bob, roles: [auditor] } ]\n";
  private static final String RECORDED =
      AUDITOR + "reads: [ { tenant: acme, what: [parameters, outputs, observations, bundles] } ]\n";

  @TempDir Path dir;
  private TestGateway gateway;
  private String request;
  private String receipt;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    gateway.home.activate(RECORDED);
    Reply done =
        gateway.submit(
            gateway
                .home
                .ask("alice")
                .run("run-1")
                .tool("mail")
                .params("{\"to\":\"" + MARK + "\"}")
                .sign());
    assertThat(done.status()).as(done.text()).isEqualTo(200);
    request = done.string("request_id");
    receipt = done.string("receipt_id");
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private List<ReadEvent> reads() {
    return gateway.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()).stream()
        .map(event -> ReadEvent.read(gateway.home.document(event.body()).document()))
        .toList();
  }

  private Reply reads(String who, String path) {
    Reply reply = gateway.get(who, path);
    assertThat(reply.status()).as(path + " " + reply.text()).isEqualTo(200);
    return reply;
  }

  @Test
  void an_auditor_who_opens_an_output_is_in_the_log_once() {
    reads("bob", "/v1/receipts/" + receipt + "/output");
    assertThat(reads())
        .singleElement()
        .satisfies(read -> {
          assertThat(read.by()).isEqualTo(new ReadEvent.Person(TestKeys.TENANT, "bob", "bearer"));
          assertThat(read.thing().run()).hasValue("run-1");
          assertThat(read.thing().id()).hasToString("Optional[" + receipt + "]");
          assertThat(read.what()).containsExactly(ReadClass.OUTPUTS);
          assertThat(read.policy()).isEqualTo(gateway.home.policy().digest());
        });
    reads("bob", "/v1/receipts/" + receipt + "/output");
    assertThat(reads()).as("again within a minute").hasSize(1);
    gateway.home.clock.forward(Duration.ofSeconds(60));
    reads("bob", "/v1/receipts/" + receipt + "/output");
    assertThat(reads()).as("after it").hasSize(2);
  }

  @Test
  void every_way_to_contents_is_stated_and_rows_are_not() {
    reads("bob", "/v1/effects");
    reads("bob", "/v1/runs");
    reads("bob", "/v1/runs/run-1");
    reads("bob", "/v1/runs/run-1/events");
    reads("bob", "/v1/receipts/" + receipt + "/proof");
    assertThat(reads()).isEmpty();
    String output =
        Receipt.read(gateway.home.document(Digest.parse(receipt)).document())
            .output()
            .orElseThrow()
            .digest()
            .toString();
    assertThat(reads("bob", "/v1/effects/" + request).text()).contains(MARK);
    reads("bob", "/v1/requests/" + request + "/outcome");
    reads("bob", "/v1/receipts/" + receipt);
    reads("bob", "/v1/blobs/" + output + "?of=" + receipt);
    reads("bob", "/v1/runs/run-1/bundle");
    assertThat(reads())
        .extracting(read -> read.what() + " " + read.thing().id().map(Object::toString).orElse("-"))
        .containsExactly(
            "[OBSERVATIONS, PARAMETERS] " + request,
            "[OUTPUTS] " + request,
            "[PARAMETERS] " + receipt,
            "[OUTPUTS] " + receipt,
            "[BUNDLES] -");
  }

  @Test
  void what_is_ones_own_is_not_stated() {
    for (String path : List.of("/v1/effects/" + request, "/v1/receipts/" + receipt + "/output")) {
      reads("alice", path);
    }
    reads("alice", "/v1/runs/run-1/bundle");
    Reply own = gateway.submit(gateway.home.ask("bob").run("run-2").tool("mail").sign());
    reads("bob", "/v1/receipts/" + own.string("receipt_id") + "/output");
    reads("bob", "/v1/runs/run-2/bundle");
    assertThat(reads()).isEmpty();
  }

  @Test
  void who_may_not_read_leaves_no_event() {
    assertThat(gateway.get("eve", "/v1/effects/" + request).status()).isEqualTo(404);
    assertThat(gateway.get("eve", "/v1/runs/run-1/bundle").status()).isEqualTo(404);
    assertThat(reads()).isEmpty();
  }

  @Test
  void an_agent_that_reads_for_others_is_no_person() {
    reads("deputy", "/v1/receipts/" + receipt + "/output");
    assertThat(reads()).isEmpty();
  }

  @Test
  void an_approver_who_looks_at_what_waits_is_in_the_log() {
    Reply waiting = gateway.submit(gateway.home.ask("alice").run("run-3").tool("pay").sign());
    String id = waiting.string("request_id");
    assertThat(reads("rita", "/v1/approvals").text()).contains(id);
    assertThat(reads())
        .singleElement()
        .satisfies(read -> {
          assertThat(read.by().subject()).isEqualTo("rita");
          assertThat(read.thing())
              .hasToString(ReadEvent.Thing.of("run-3", Digest.parse(id)).toString());
        });
    reads("rita", "/v1/requests/" + id);
    assertThat(reads()).as("the same thing").hasSize(1);
  }

  @Test
  void without_the_section_or_the_word_nothing_is_stated() {
    gateway.home.activate(AUDITOR);
    reads("bob", "/v1/effects/" + request);
    gateway.home.activate(AUDITOR + "reads: [ { tenant: acme, what: [bundles] } ]\n");
    reads("bob", "/v1/effects/" + request);
    gateway.home.activate(AUDITOR + "reads: [ { tenant: other, what: [parameters] } ]\n");
    reads("bob", "/v1/effects/" + request);
    assertThat(reads()).isEmpty();
    gateway.home.activate(AUDITOR + "reads: [ { tenant: acme, what: [observations] } ]\n");
    reads("bob", "/v1/effects/" + request);
    assertThat(reads())
        .singleElement()
        .satisfies(read -> assertThat(read.what()).containsExactly(ReadClass.OBSERVATIONS));
  }

  @Test
  void where_it_cannot_be_stated_nothing_is_handed_out() {
    String answer = reads("alice", "/v1/receipts/" + receipt + "/output").text();
    gateway.home.beforeWrite(() -> {
      throw new IllegalStateException("the disk is full");
    });
    for (String path :
        List.of(
            "/v1/receipts/" + receipt + "/output",
            "/v1/effects/" + request,
            "/v1/requests/" + request,
            "/v1/runs/run-1/bundle")) {
      Reply refused = gateway.get("bob", path);
      assertThat(refused.status()).as(path).isEqualTo(503);
      assertThat(refused.string("code")).isEqualTo("GWY-140");
      assertThat(refused.text()).doesNotContain(answer, MARK, "disk is full");
    }
    assertThat(reads("alice", "/v1/receipts/" + receipt + "/output").text())
        .as("what is one's own needs no event")
        .isEqualTo(answer);
    gateway.home.beforeWrite(() -> {});
  }

  @Test
  void a_content_by_its_digest_alone_is_stated_where_it_is_no_content_of_ones_own() {
    String share =
        "runs: { idle_max_s: 86400, shared_by: [ { tenant: acme, everybody: true } ] }\n";
    gateway.home.activate(RECORDED + share);
    Digest output =
        Receipt.read(gateway.home.document(Digest.parse(receipt)).document())
            .output()
            .orElseThrow()
            .digest();
    reads("alice", "/v1/blobs/" + output);
    assertThat(reads()).isEmpty();
    reads("bob", "/v1/blobs/" + output);
    assertThat(reads())
        .singleElement()
        .satisfies(read -> assertThat(read.thing()).isEqualTo(ReadEvent.Thing.of(output)));
  }
}
