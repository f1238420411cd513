package dev.writ.gateway.v1;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of effects, their order, their filters, and whose they are (spec/gateway.md, Effects). */
class EffectsAreListedTest {
  @TempDir Path dir;
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway = TestGateway.start(dir);
  }

  @AfterEach
  void stop() {
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  private Envelope submitted(String agent, String run, String tool, String params) {
    Envelope request = gateway.home.ask(agent).run(run).tool(tool).params(params).sign();
    gateway.submit(request);
    return request;
  }

  private JsonValue.Obj page(String who, String query) {
    Reply reply = gateway.get(who, "/v1/effects" + query);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  private static List<JsonValue.Obj> rows(JsonValue.Obj page) {
    return ((JsonValue.Arr) page.get("effects"))
        .items().stream().map(row -> (JsonValue.Obj) row).toList();
  }

  private List<String> ids(String who, String query) {
    return rows(page(who, query)).stream().map(row -> text(row, "request_id")).toList();
  }

  private static String text(JsonValue.Obj row, String name) {
    return row.get(name) instanceof JsonValue.Str text ? text.value() : null;
  }

  private static long number(JsonValue.Obj row, String name) {
    return (long) ((JsonValue.Num) row.get(name)).value();
  }

  @Test
  void each_end_of_a_request_has_its_row_the_newest_first() {
    Envelope done = submitted("alice", "r-1", "mail", "{\"n\":1}");
    Envelope denied = submitted("alice", "r-1", "mail", "{\"forbidden\":true}");
    Envelope waits = submitted("alice", "r-1", "pay", "{}");
    gateway.home.driver.refusesToPrepare(new IllegalStateException("not ready"));
    Envelope refused = submitted("alice", "r-1", "mail", "{\"n\":2}");
    gateway.home.driver.refusesToPrepare(null);
    Envelope judged = gateway.home.ask("alice").run("r-1").tool("mail").sign();
    gateway.post("/v1/decisions", judged.toBytes());

    List<JsonValue.Obj> rows = rows(page("alice", ""));
    assertThat(rows)
        .extracting(row -> text(row, "request_id"))
        .containsExactly(
            judged.id().toString(),
            refused.id().toString(),
            waits.id().toString(),
            denied.id().toString(),
            done.id().toString());
    assertThat(rows)
        .extracting(row -> text(row, "state"))
        .containsExactly("judged", "refused", "waiting", "denied", "done");
    assertThat(rows)
        .extracting(row -> text(row, "code"))
        .containsExactly(null, "EXE-308", "GRD-104", "GRD-102", null);
    assertThat(rows)
        .extracting(row -> text(row, "outcome"))
        .containsExactly(null, null, null, null, "succeeded");
    assertThat(rows.getLast().members())
        .containsKeys("receipt_id", "finished_at", "duration_ms", "received_at", "decided_at")
        .doesNotContainKeys("surface", "on_behalf_of", "reason", "waited_ms");
    assertThat(text(rows.get(3), "reason")).contains("forbidden");
  }

  @Test
  void a_wait_that_ended_is_in_the_row() {
    Envelope request = submitted("alice", "r-1", "pay", "{}");
    gateway.home.clock.forward(Duration.ofSeconds(7));
    gateway.home.approve(request, "rita");
    JsonValue.Obj row = rows(page("alice", "")).getFirst();
    assertThat(text(row, "state")).isEqualTo("judged");
    assertThat(number(row, "waited_ms")).isBetween(7_000L, 7_999L);
    gateway.submit(request);
    assertThat(text(rows(page("alice", "")).getFirst(), "state")).isEqualTo("done");
  }

  @Test
  void pages_hold_every_effect_once_while_new_ones_arrive_and_old_ones_change() {
    List<String> before = new ArrayList<>();
    List<Envelope> waiting = new ArrayList<>();
    for (int i = 0; i < 23; i++) {
      Envelope request =
          submitted("alice", "run-" + i % 3, i % 4 == 0 ? "pay" : "mail", "{\"n\":" + i + "}");
      before.addFirst(request.id().toString());
      if (i % 4 == 0) {
        waiting.add(request);
      }
    }
    List<String> read = new ArrayList<>();
    JsonValue.Obj page = page("alice", "?limit=5");
    while (true) {
      rows(page).forEach(row -> read.add(text(row, "request_id")));
      if (page.get("complete").equals(JsonValue.TRUE)) {
        break;
      }
      submitted("alice", "run-1", "mail", "{\"later\":" + read.size() + "}");
      if (!waiting.isEmpty()) {
        gateway.home.approve(waiting.getFirst(), "rita");
        gateway.submit(waiting.removeFirst());
      }
      page = page("alice", "?limit=5&before=" + number(page, "next_before"));
    }
    assertThat(read).containsExactlyElementsOf(before);
    assertThat(page.members()).doesNotContainKey("next_before");
  }

  @Test
  void what_came_behind_a_place_is_asked_for_by_it() {
    submitted("alice", "r-1", "mail", "{\"n\":1}");
    JsonValue.Obj first = rows(page("alice", "")).getFirst();
    Envelope second = submitted("alice", "r-1", "mail", "{\"n\":2}");
    JsonValue.Obj page = page("alice", "?after=" + number(first, "index"));
    assertThat(rows(page))
        .extracting(r -> text(r, "request_id"))
        .containsExactly(second.id().toString());
    assertThat(page.get("complete")).isEqualTo(JsonValue.TRUE);
    assertThat(ids("alice", "?after=999999")).isEmpty();
    assertThat(ids("alice", "?before=0")).isEmpty();
    assertThat(ids("alice", "?before=999999999999999")).hasSize(2);
  }

  @Test
  void each_filter_narrows_and_together_they_narrow_further() {
    Envelope mail = submitted("alice", "r-1", "mail", "{\"to\":\"Ärger@example.org\"}");
    Envelope denied = submitted("alice", "r-2", "mail", "{\"forbidden\":1}");
    Envelope pay = submitted("alice", "r-2", "pay", "{}");
    gateway.home.clock.forward(Duration.ofHours(30));
    Envelope late = submitted("alice", "r-3", "calc", "{}");

    assertThat(ids("alice", "?tool=pay")).containsExactly(pay.id().toString());
    assertThat(ids("alice", "?run=r-2"))
        .containsExactly(pay.id().toString(), denied.id().toString());
    assertThat(ids("alice", "?run=r-2&tool=mail")).containsExactly(denied.id().toString());
    assertThat(ids("alice", "?verdict=ESCALATE")).containsExactly(pay.id().toString());
    assertThat(ids("alice", "?state=waiting")).containsExactly(pay.id().toString());
    assertThat(ids("alice", "?code=GRD-102")).containsExactly(denied.id().toString());
    assertThat(ids("alice", "?subject=bob")).isEmpty();
    assertThat(ids("alice", "?subject=alice")).hasSize(4);
    assertThat(ids("alice", "?from=2026-11-22T00:00:00.000Z"))
        .containsExactly(late.id().toString());
    assertThat(ids("alice", "?to=2026-11-22T00:00:00.000Z")).hasSize(3);
    assertThat(ids("alice", "?text=" + query("äRGER@"))).containsExactly(mail.id().toString());
    assertThat(ids("alice", "?text=" + denied.id().hex().substring(5, 30)))
        .containsExactly(denied.id().toString());
    assertThat(ids("alice", "?text=grd-104")).containsExactly(pay.id().toString());
    assertThat(ids("alice", "?run=nowhere")).isEmpty();
    assertThat(ids("alice", "?run=")).as("an empty filter is none").hasSize(4);
  }

  private static String query(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?limit=0",
        "?limit=201",
        "?limit=-1",
        "?limit=x",
        "?before=-1",
        "?after=1e3",
        "?verdict=allow",
        "?state=Done",
        "?from=yesterday",
        "?to=2026-11-21",
        "?tool=a&tool=b",
        "?toool=mail",
        "?before=99999999999999999999"
      })
  void what_is_not_understood_selects_nothing_but_is_refused(String query) {
    Reply reply = gateway.get("alice", "/v1/effects" + query);
    assertThat(reply.status()).isEqualTo(400);
    assertThat(reply.string("code")).isEqualTo("GWY-018");
  }

  @Test
  void rows_are_its_own_or_shared_or_those_of_who_acts_for_all_and_of_one_tenant() {
    Envelope own = submitted("alice", "r-1", "mail", "{\"secret\":\"word\"}");
    Envelope pay = submitted("alice", "r-1", "pay", "{\"secret\":\"word\"}");
    Envelope bobs = submitted("bob", "r-2", "mail", "{}");
    gateway.submit(gateway.home.ask("eve").tenant("other").run("r-1").tool("mail").sign());

    assertThat(ids("alice", "")).containsExactly(pay.id().toString(), own.id().toString());
    assertThat(ids("bob", "")).containsExactly(bobs.id().toString());
    assertThat(ids("deputy", "")).hasSize(3);
    assertThat(ids("eve", "")).hasSize(1);
    assertThat(ids("rita", ""))
        .as("an approver sees what waits")
        .containsExactly(pay.id().toString());
    assertThat(ids("narrow", "")).hasSize(2);
    for (String filter : List.of("?run=r-1", "?subject=alice", "?text=word", "?text=" + own.id())) {
      assertThat(ids("bob", filter)).as(filter).isEmpty();
    }
    gateway.home.approve(pay, "rita");
    assertThat(ids("rita", "")).isEmpty();

    gateway.home.activate(TestPolicy.SHARED);
    assertThat(ids("bob", "")).as("policy shares the runs").hasSize(3);
    assertThat(ids("bob", "?text=word")).hasSize(2);
    assertThat(ids("eve", "")).hasSize(1);
  }

  @Test
  void an_approver_gets_the_whole_story_of_what_waits_but_no_signature_that_could_be_used() {
    Envelope request = submitted("alice", "r-1", "pay", "{\"sum\":5}");
    String path = "/v1/effects/" + request.id();
    JsonValue.Obj seen = gateway.get("rita", path).json();
    assertThat(new String(Jcs.write(seen.get("request")), StandardCharsets.UTF_8))
        .contains("\"sum\":5")
        .doesNotContain("signatures");
    assertThat(((JsonValue.Obj) seen.get("request")).members()).containsOnlyKeys("payload");
    assertThat(((JsonValue.Obj) seen.get("decision")).members()).containsOnlyKeys("payload");
    assertThat(((JsonValue.Obj) gateway.get("alice", path).json().get("request")).members())
        .containsOnlyKeys("envelope");
    assertThat(gateway.get("bob", path).string("code")).isEqualTo("GWY-040");

    gateway.home.approve(request, "rita");
    assertThat(gateway.get("rita", path).string("code")).isEqualTo("GWY-040");
  }

  @Test
  void foreign_and_unknown_effects_are_not_told_apart() {
    Envelope own = submitted("alice", "r-1", "mail", "{}");
    String unknown = Digest.sha256(new byte[] {7}).toString();
    for (String stranger : List.of("bob", "rita", "eve")) {
      Reply foreign = gateway.get(stranger, "/v1/effects/" + own.id());
      Reply nothing = gateway.get(stranger, "/v1/effects/" + unknown);
      assertThat(foreign.status()).isEqualTo(404);
      assertThat(shape(foreign)).isEqualTo(shape(nothing));
    }
    assertThat(gateway.get("alice", "/v1/effects/sha256:xyz").status()).isEqualTo(400);
    for (String id : List.of(receiptOf(own), decisionOf(own))) { // documents, but no requests
      assertThat(gateway.get("alice", "/v1/effects/" + id).string("code")).isEqualTo("GWY-040");
    }
  }

  private String receiptOf(Envelope request) {
    return text(rows(page("alice", "?text=" + request.id())).getFirst(), "receipt_id");
  }

  private String decisionOf(Envelope request) {
    return text(rows(page("alice", "?text=" + request.id())).getFirst(), "decision_id");
  }

  private static String shape(Reply reply) {
    return (reply.status() + " " + reply.text())
        .replaceAll("\"trace_id\":\"[0-9a-f]{32}\"", "")
        .replaceAll("sha256:[0-9a-f]{64}", "ID");
  }

  @Test
  void hostile_text_comes_back_as_what_it_is() {
    String hostile = "<script>alert(1)</script>\u202e\u2066\u0007\"\\\u2028 \ud83d\ude80";
    String params =
        new String(Jcs.write(JsonValue.object().put("x", hostile).build()), StandardCharsets.UTF_8);
    Envelope request = submitted("alice", "<b>\u202erun</b>", "mail", params);
    JsonValue.Obj row = rows(page("alice", "")).getFirst();
    assertThat(text(row, "run")).isEqualTo("<b>\u202erun</b>");
    JsonValue.Obj content =
        (JsonValue.Obj) gateway.get("alice", "/v1/effects/" + request.id()).json().get("content");
    assertThat(((JsonValue.Obj) content.get("params")).get("x")).isEqualTo(JsonValue.of(hostile));
    Reply reply = gateway.get("alice", "/v1/effects");
    assertThat(reply.header("Content-Type")).isEqualTo("application/json");
    assertThat(reply.header("X-Content-Type-Options")).isEqualTo("nosniff");
    assertThat(ids("alice", "?text=" + query("<script>"))).hasSize(1);
    assertThat(ids("alice", "?run=" + query("<b>\u202erun</b>"))).hasSize(1);
  }

  @Test
  void waiting_requests_say_what_an_approver_has_to_know_page_by_page() {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      all.add(submitted("alice", "r-" + i, "pay", "{\"n\":" + i + "}").id().toString());
    }
    Envelope twice = gateway.home.ask("alice").run("z").tool("pay").operation("twice").sign();
    gateway.submit(twice);
    gateway.home.approve(twice, "roy");
    all.add(twice.id().toString());

    List<String> read = new ArrayList<>();
    JsonValue.Obj page = gateway.get("rita", "/v1/approvals?limit=3").json();
    JsonValue.Obj last = null;
    while (true) {
      for (JsonValue item : ((JsonValue.Arr) page.get("waiting")).items()) {
        last = (JsonValue.Obj) item;
        read.add(text(last, "request_id"));
      }
      String next = text(page, "next_after");
      if (next == null) {
        break;
      }
      page = gateway.get("rita", "/v1/approvals?limit=3&after=" + next).json();
    }
    assertThat(read).containsExactlyElementsOf(all);
    assertThat(page.get("my_roles")).isEqualTo(JsonValue.of(List.of(JsonValue.of("reviewer"))));
    assertThat(new String(Jcs.write(last.get("requires")), StandardCharsets.UTF_8))
        .isEqualTo("[{\"approvers\":[\"roy\"],\"count\":2,\"have\":1,\"role\":\"reviewer\"}]");
    assertThat(text(last, "waiting_since")).startsWith("2026-11-21T12:0");
    assertThat(text(last, "waits_until")).startsWith("2026-11-22T12:0");
    assertThat(number(last, "policy_version")).isEqualTo(gateway.home.policy().version());
    assertThat(gateway.get("bob", "/v1/approvals?limit=3").text()).isEqualTo("{\"waiting\":[]}");
    assertThat(gateway.get("eve", "/v1/approvals?after=" + all.getFirst()).text())
        .isEqualTo("{\"waiting\":[]}");
    assertThat(gateway.get("rita", "/v1/approvals?limit=1001").string("code")).isEqualTo("GWY-018");
  }

  private String given(Envelope request) {
    JsonValue.Arr waiting =
        (JsonValue.Arr)
            gateway.get("rita", "/v1/approvals?request=" + request.id()).json().get("waiting");
    JsonValue requires = ((JsonValue.Obj) waiting.items().getFirst()).get("requires");
    return new String(Jcs.write(requires), StandardCharsets.UTF_8);
  }

  /** Who approves next must not believe that one more is enough. */
  @Test
  void an_approval_that_counts_no_more_is_not_said_to_be_given() {
    Envelope twice = gateway.home.ask("alice").run("z").tool("pay").operation("twice").sign();
    gateway.submit(twice);
    gateway.home.approve(twice, "roy");
    assertThat(given(twice)).contains("\"approvers\":[\"roy\"]", "\"have\":1");
    gateway.home.clock.forward(Duration.ofHours(1));
    assertThat(given(twice)).contains("\"approvers\":[]", "\"have\":0");
    gateway.home.approve(twice, "roy");
    assertThat(given(twice)).contains("\"have\":1");
    gateway.home.revoke("roy");
    assertThat(given(twice)).contains("\"approvers\":[]", "\"have\":0");
  }

  @Test
  void a_page_goes_on_behind_a_request_that_does_not_wait_any_more() {
    Envelope first = submitted("alice", "a", "pay", "{}");
    Envelope second = submitted("alice", "b", "pay", "{}");
    gateway.home.reject(first, "rita");
    Reply page = gateway.get("rita", "/v1/approvals?after=" + first.id());
    assertThat(page.text()).contains(second.id().toString()).doesNotContain(first.id().toString());
  }

  @Test
  void many_waiting_requests_come_in_pages_that_end() {
    for (int i = 0; i < 203; i++) {
      gateway.home.decide(
          gateway
              .home
              .ask("alice")
              .run("r-" + i % 5)
              .tool("pay")
              .params("{\"n\":" + i + "}")
              .sign());
    }
    Reply first = gateway.get("rita", "/v1/approvals?limit=200");
    assertThat(((JsonValue.Arr) first.json().get("waiting")).items()).hasSize(200);
    Reply second = gateway.get("rita", "/v1/approvals?after=" + first.string("next_after"));
    assertThat(((JsonValue.Arr) second.json().get("waiting")).items()).hasSize(3);
    assertThat(second.json().members()).doesNotContainKey("next_after");
  }

  /** Neighbours of what is right, and anything else: an answer or a refusal, and no failure. */
  @Test
  void whatever_is_asked_for_is_answered_or_refused() {
    Envelope request = submitted("alice", "r-1", "mail", "{}");
    submitted("alice", "r-1", "pay", "{}");
    List<String> paths =
        List.of(
            "/v1/effects",
            "/v1/effects/" + request.id(),
            "/v1/approvals",
            "/v1/runs",
            "/v1/statistics");
    List<String> names =
        List.of(
            "limit",
            "before",
            "after",
            "run",
            "subject",
            "tool",
            "verdict",
            "state",
            "code",
            "from",
            "to",
            "text",
            "step_s",
            "steps",
            "",
            "%00",
            "limit%20");
    List<String> values =
        List.of(
            "",
            "0",
            "1",
            "-1",
            "200",
            "999999999999999",
            "9999999999999999999",
            "1e3",
            "0x1",
            "%00",
            "%ff",
            "%e2%80%ae",
            "%F0%9F%9A%80",
            "ALLOW",
            "waiting",
            "mail",
            "r-1",
            "alice",
            "GRD-102",
            "0000-01-01T00:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
            "2026-11-21T12:00:00.000Z",
            "2026-13-01T00:00:00.000Z",
            request.id().toString(),
            "sha256:",
            "a".repeat(256),
            "%F0%9F%9A%80".repeat(100),
            "..%2f",
            "'%22%3Cscript%3E",
            "1&limit=2",
            "+");
    Random random = new Random(18);
    for (int i = 0; i < 600; i++) {
      StringBuilder address = new StringBuilder(any(paths, random));
      char join = '?';
      for (int n = random.nextInt(4); n >= 0; n--) {
        address.append(join).append(any(names, random)).append('=').append(any(values, random));
        join = '&';
      }
      Reply reply =
          gateway.get(any(List.of("alice", "deputy", "rita", "eve"), random), address.toString());
      assertThat(reply.status()).as(address.toString()).isIn(200, 400, 403, 404);
      assertThat(reply.json().members()).as(address.toString()).isNotEmpty();
    }
  }

  private static String any(List<String> of, Random random) {
    return of.get(random.nextInt(of.size()));
  }
}
