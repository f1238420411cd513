package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.reads.ReadLog;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.guardian.policy.retention.ReadClass;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The list of what people read: whose it is, what it leaves out, and that it goes back in pages.
 */
class AuditorsSeeWhatPeopleReadTest {
  private static final String POLICY =
      TestPolicy.YAML
          + """
          people:
            - { tenant: acme, subject: bob, roles: [auditor] }
            - { tenant: acme, subject: rita, roles: [operator, developer, viewer] }
            - { tenant: other, subject: eve, roles: [auditor] }
          reads:
            - { tenant: acme, what: [bundles, outputs, parameters, policy] }
            - { tenant: other, what: [outputs] }
          """;

  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
    gateway.home.activate(POLICY);
  }

  @AfterEach
  void stop() {
    gateway.close();
  }

  private void read(String tenant, String subject, ReadEvent.Thing thing, ReadClass what) {
    gateway
        .home
        .kernel()
        .recordRead(
            new ReadLog.Look(
                subject + gateway.home.kernel().ledger().treeSize(),
                new ReadEvent.Person(tenant, subject, "session"),
                List.of(thing),
                List.of(what)));
    gateway.home.clock.forward(Duration.ofSeconds(1));
  }

  private void read(String subject, String run, ReadClass what) {
    read(TestKeys.TENANT, subject, ReadEvent.Thing.ofRun(run), what);
  }

  private JsonValue.Obj page(String as, String query) {
    Reply reply = gateway.get(as, "/v1/reads" + query);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
    return reply.json();
  }

  private static List<JsonValue.Obj> rows(JsonValue.Obj page) {
    return ((JsonValue.Arr) page.get("reads"))
        .items().stream().map(JsonValue.Obj.class::cast).toList();
  }

  private static ReadEvent statement(JsonValue.Obj row) {
    return ReadEvent.read(row.get("statement"));
  }

  private List<String> runs(String as, String query) {
    return rows(page(as, query)).stream()
        .map(row -> statement(row).thing().run().orElse("-"))
        .toList();
  }

  @Test
  void a_row_is_the_signed_statement_with_its_place_and_its_effect() {
    Reply done =
        gateway.submit(gateway.home.ask("alice").run("run-1").tool("mail").params("{}").sign());
    String receipt = done.string("receipt_id");
    assertThat(gateway.get("bob", "/v1/receipts/" + receipt + "/output").status()).isEqualTo(200);
    JsonValue.Obj page = page("bob", "");
    JsonValue.Obj row = rows(page).getFirst();
    ReadEvent read = statement(row);
    assertThat(read.by()).isEqualTo(new ReadEvent.Person(TestKeys.TENANT, "bob", "bearer"));
    assertThat(read.thing()).isEqualTo(ReadEvent.Thing.of("run-1", Digest.parse(receipt)));
    assertThat(row.get("request")).isEqualTo(JsonValue.of(done.string("request_id")));
    assertThat(row.get("index"))
        .isEqualTo(JsonValue.of(gateway.home.kernel().ledger().treeSize() - 1));
    Envelope envelope = Envelope.parse(Jcs.write(row.get("envelope")));
    assertThat(envelope.document()).isEqualTo(row.get("statement"));
    envelope.verifySignatures(
        List.of(TestKeys.trusted("executor", KeyRole.EXECUTOR, Optional.empty()).key()));
    assertThat(((JsonValue.Arr) page.get("keys")).items())
        .singleElement()
        .satisfies(key ->
            assertThat(((JsonValue.Obj) key).get("writ_role")).isEqualTo(JsonValue.of("executor")));
  }

  @Test
  void auditors_alone_see_it_and_of_their_tenant_alone() {
    read("bob", "of-acme", ReadClass.OUTPUTS);
    read("other", "eve", ReadEvent.Thing.ofRun("of-other"), ReadClass.OUTPUTS);
    assertThat(runs("bob", "")).containsExactly("of-acme");
    assertThat(runs("eve", "")).containsExactly("of-other");
    assertThat(gateway.get("eve", "/v1/reads").text()).doesNotContain("acme", "bob");
    for (String who : List.of("rita", "alice", "deputy", "narrow")) {
      Reply refused = gateway.get(who, "/v1/reads");
      assertThat(refused.status() + " " + refused.string("code")).isEqualTo("403 GWY-141");
    }
    assertThat(rows(page("bob", ""))).as("who looks at the list is not in it").hasSize(1);
  }

  @Test
  void filters_leave_out_what_they_do_not_name() {
    Instant begin = gateway.home.clock.instant();
    read("bob", "run-1", ReadClass.OUTPUTS);
    read("rita", "run-2", ReadClass.BUNDLES);
    read(
        TestKeys.TENANT,
        "rita",
        ReadEvent.Thing.of(gateway.home.policy().digest()),
        ReadClass.POLICY);
    assertThat(runs("bob", "")).containsExactly("-", "run-2", "run-1");
    assertThat(runs("bob", "?subject=rita")).containsExactly("-", "run-2");
    assertThat(runs("bob", "?run=run-1")).containsExactly("run-1");
    assertThat(runs("bob", "?what=policy")).containsExactly("-");
    assertThat(runs("bob", "?what=bundles&subject=bob")).isEmpty();
    String second = Timestamps.format(begin.plusSeconds(1));
    assertThat(runs("bob", "?from=" + second)).containsExactly("-", "run-2");
    assertThat(runs("bob", "?to=" + second)).containsExactly("run-1");
  }

  @Test
  void it_goes_back_in_pages_to_its_beginning() {
    IntStream.range(0, 7).forEach(i -> read("bob", "run-" + i, ReadClass.OUTPUTS));
    List<String> seen = new ArrayList<>();
    String query = "?limit=3";
    while (true) {
      JsonValue.Obj page = page("bob", query);
      rows(page).forEach(row -> seen.add(statement(row).thing().run().orElseThrow()));
      if (page.get("complete").equals(JsonValue.of(true))) {
        break;
      }
      query = "?limit=3&before=" + (long) ((JsonValue.Num) page.get("searched_from")).value();
    }
    assertThat(seen).containsExactly("run-6", "run-5", "run-4", "run-3", "run-2", "run-1", "run-0");
  }

  /** What others read costs a question nothing but the look at it. */
  @Test
  void one_question_looks_at_a_bounded_part() {
    List<ReadEvent.Thing> many =
        IntStream.range(0, 2_000).mapToObj(i -> ReadEvent.Thing.ofRun("run-" + i)).toList();
    read("bob", "early", ReadClass.OUTPUTS);
    gateway
        .home
        .kernel()
        .recordRead(
            new ReadLog.Look(
                "a session",
                new ReadEvent.Person("other", "eve", "session"),
                many,
                List.of(ReadClass.OUTPUTS)));
    JsonValue.Obj first = page("bob", "");
    assertThat(rows(first)).isEmpty();
    assertThat(first.get("complete")).isEqualTo(JsonValue.of(false));
    assertThat(
            runs("bob", "?before=" + (long) ((JsonValue.Num) first.get("searched_from")).value()))
        .containsExactly("early");
  }

  @Test
  void without_any_read_the_list_is_empty_and_complete() {
    assertThat(gateway.get("bob", "/v1/reads?before=3").text())
        .isEqualTo("{\"complete\":true,\"keys\":[],\"reads\":[],\"searched_from\":0}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "limit=0",
        "limit=201",
        "before=-1",
        "what=everything",
        "from=now",
        "subjects=bob"
      })
  void questions_of_another_form_are_refused(String query) {
    Reply refused = gateway.get("bob", "/v1/reads?" + query);
    assertThat(refused.status() + " " + refused.string("code")).isEqualTo("400 GWY-018");
  }
}
