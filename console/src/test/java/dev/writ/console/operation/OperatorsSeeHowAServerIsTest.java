package dev.writ.console.operation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.ops.ServerHealth;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who sees how a server is, what of it, and what of other tenants nobody sees. */
class OperatorsSeeHowAServerIsTest {
  private static final String OPERATIONS = "/v1/operations";
  private static final String PEOPLE =
      """
      people:
        - { tenant: acme, subject: rita, roles: [operator] }
        - { tenant: acme, subject: bob, roles: [auditor] }
        - { tenant: acme, subject: deputy, roles: [viewer, developer, approver] }
        - { tenant: other, subject: eve, roles: [operator] }
      """;

  @TempDir Path dir;
  private final FakeState state = new FakeState();
  private TestGateway gateway;

  @BeforeEach
  void start() {
    gateway =
        TestGateway.start(
            dir,
            HttpLimits.DEFAULT,
            pipeline -> List.of(new OperationSurface(pipeline, "1.2.3", state)));
    gateway.home.activate(TestPolicy.YAML + PEOPLE);
  }

  @AfterEach
  void stop() {
    gateway.close();
    assertThat(gateway.failures).isEmpty();
  }

  /** What the command line knows of a server, made up. */
  private static final class FakeState implements OperatedServer {
    private boolean started = true;

    @Override
    public ServerHealth health() {
      if (!started) {
        throw new WritException(OperationError.STARTING, "");
      }
      TreeMap<String, Long> ended = new TreeMap<>();
      ended.put("ok", 7L);
      return new ServerHealth(
          Instant.parse("2026-01-01T00:00:00.000Z"),
          List.of(),
          3,
          2,
          1,
          OptionalLong.of(1_000),
          Optional.of(
              new ServerHealth.Sandboxes(
                  Optional.of("bubblewrap"),
                  1,
                  9,
                  ended,
                  List.of(new ServerHealth.Guarantee("seccomp", true, true, "a filter")))));
    }

    @Override
    public List<SinkView> sinks(String tenant) {
      return List.of(
          new SinkView(
              "hook-of-" + tenant,
              "webhook",
              "failing",
              4,
              2,
              60,
              3,
              5,
              Optional.of(1L),
              Optional.of(
                  new SinkView.Trouble("SNK-001", Instant.parse("2026-01-01T00:00:00.000Z")))),
          new SinkView(
              "file", "file", "current", 6, 0, 0, 6, 0, Optional.empty(), Optional.empty()));
    }

    @Override
    public Optional<CheckpointView> checkpoints() {
      CheckpointView.Trouble trouble =
          new CheckpointView.Trouble("CLI-103", Instant.parse("2026-01-01T00:00:00.000Z"));
      return Optional.of(
          new CheckpointView(
              Duration.ofSeconds(300),
              1,
              Optional.of("a note"),
              Optional.empty(),
              List.of(
                  new CheckpointView.Witness("w+1", "w", Optional.empty(), Optional.of(trouble))),
              List.of(new CheckpointView.Place("folder", Optional.of(42L), Optional.empty())),
              List.of(new CheckpointView.Stamp("tsa", Optional.empty(), Optional.empty())),
              Optional.empty()));
    }

    @Override
    public IncidentPage incidents(String tenant, long before, int limit) {
      return new IncidentPage(
          List.of(
              new IncidentPage.Incident(
                  "1-" + before,
                  Instant.parse("2026-01-01T00:00:00.000Z"),
                  "PolicyDenied",
                  "GRD-102",
                  "alice",
                  tenant + " " + limit,
                  "sha256:0")),
          before > 5 ? 5 : 0);
    }
  }

  private static String text(JsonValue json) {
    return new String(Jcs.write(json), StandardCharsets.UTF_8);
  }

  private String see(String who, String what) {
    Reply reply = gateway.get(who, OPERATIONS + what);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.header("Cache-Control")).isEqualTo("no-store");
    return reply.text();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/budgets", "/keys", "/incidents", "/sinks", "/checkpoints"})
  void operators_and_auditors_alone_see_it(String what) {
    assertThat(see("rita", what)).isNotEmpty();
    assertThat(see("bob", what)).isNotEmpty();
    for (String who : List.of("alice", "narrow", "deputy")) {
      Reply refused = gateway.get(who, OPERATIONS + what);
      assertThat(refused.status() + " " + refused.string("code")).isEqualTo("403 GWY-120");
    }
    assertThat(gateway.send(HttpRequest.newBuilder(gateway.uri(OPERATIONS + what))).status())
        .isEqualTo(401);
    gateway.home.activate(TestPolicy.YAML);
    assertThat(gateway.get("rita", OPERATIONS + what).status()).isEqualTo(403);
  }

  @Test
  void the_server_is_on_one_page() {
    gateway.submit(gateway.home.ask("alice").tool("mail").sign());
    JsonValue.Obj seen = gateway.get("rita", OPERATIONS).json();
    assertThat(text(seen.get("queue")))
        .isEqualTo("{\"commits_waiting\":1,\"running\":2,\"waiting\":3}");
    assertThat(text(seen.get("sandboxes")))
        .isEqualTo(
            "{\"ended\":{\"ok\":7},\"found\":\"bubblewrap\",\"guarantees\":[{\"held\":true,"
                + "\"how\":\"a filter\",\"name\":\"seccomp\",\"required\":true,\"waived\":false}],"
                + "\"running\":1,\"started\":9,\"waived\":[]}");
    assertThat(text(seen.get("log")))
        .contains("\"size\":" + gateway.home.kernel().ledger().treeSize());
    assertThat(text(seen))
        .contains("\"version\":\"1.2.3\"", "\"disk_free_bytes\":1000", "\"ready\":true");
    gateway.home.activate(TestPolicy.YAML + PEOPLE + "sandbox: { waived: [disk-limit] }\n");
    assertThat(see("rita", "")).contains("\"waived\":[\"disk-limit\"]");
    state.started = false;
    Reply early = gateway.get("rita", OPERATIONS);
    assertThat(early.status() + " " + early.string("code")).isEqualTo("503 GWY-121");
  }

  @Test
  void budgets_are_of_the_tenant_the_fullest_first() {
    gateway.home.activate(
        TestPolicy.YAML.replace(
                "requirements:",
                """
                  - { name: few, scope: role, unit: calls, limit: 4, window_s: 3600, match: { role: worker } }
                  - { name: tools, scope: tool, unit: calls, limit: unlimited, window_s: 60 }
                  - { name: mails, scope: subject, unit: calls, limit: 0, window_s: 60, match: { tool: sim } }
                requirements:\
                """)
            + PEOPLE);
    gateway.submit(gateway.home.ask("alice").tool("mail").sign());
    gateway.submit(gateway.home.ask("bob").tool("mail").params("{\"forbidden\":1}").sign());
    gateway.submit(gateway.home.ask("eve").tenant("other").tool("mail").sign());
    String seen = see("rita", "/budgets");
    assertThat(seen)
        .contains("\"budget\":\"few\",\"holder\":\"worker\",\"limit\":4,\"reserved\":0")
        .contains("\"scope\":\"role\",\"unit\":\"calls\",\"used\":1,\"window_s\":3600")
        .contains("\"budget\":\"tools\",\"holder\":\"mail\",\"reserved\":0")
        .contains("\"holder\":\"alice\"", "\"holder\":\"acme\"", "\"complete\":true")
        .doesNotContain("eve", "other");
    assertThat(seen.indexOf("mails")).isLessThan(seen.indexOf("few"));
    assertThat(seen.indexOf("few")).isLessThan(seen.indexOf("\"budget\":\"tools\""));
    assertThat(see("eve", "/budgets"))
        .contains("\"holder\":\"eve\"")
        .doesNotContain("alice", "acme");
  }

  @Test
  void keys_are_of_the_tenant_and_the_installation_with_their_ends() {
    TrustedKey key = TestKeys.trusted("intruder", KeyRole.AGENT, Optional.of("acme"));
    Instant now = gateway.home.clock.instant();
    gateway.home.enrol(
        new TrustedKey(
            key.key(),
            KeyRole.AGENT,
            Optional.of("acme"),
            "brief",
            now.minusSeconds(60),
            Optional.of(now.plusSeconds(60)),
            Optional.empty()));
    assertThat(see("rita", "/keys"))
        .contains("\"subject\":\"brief\"", "\"state\":\"valid\"", "\"role\":\"guardian\"")
        .doesNotContain("eve", "other", "\"x\":");
    gateway.home.clock.forward(Duration.ofSeconds(61));
    assertThat(see("rita", "/keys"))
        .contains("\"state\":\"expired\",\"subject\":\"brief\",\"tenant\":\"acme\"");
    assertThat(see("eve", "/keys")).contains("\"eve\"").doesNotContain("brief", "alice", "acme");
  }

  @Test
  void incidents_and_sinks_are_asked_for_the_callers_tenant() {
    assertThat(see("rita", "/incidents?limit=7&before=4"))
        .contains("\"tool\":\"acme 7\"", "\"complete\":true", "\"id\":\"1-4\"");
    long size = gateway.home.kernel().ledger().treeSize();
    assertThat(see("eve", "/incidents?before=999999"))
        .contains("\"tool\":\"other 20\"", "\"id\":\"1-" + size + "\"", "\"complete\":false");
    assertThat(see("rita", "/sinks"))
        .contains("hook-of-acme", "\"dead_letters\":1", "\"code\":\"SNK-001\"")
        .doesNotContain("other");
  }

  private static JsonValue at(JsonValue json, String... names) {
    JsonValue found = json;
    for (String name : names) {
      found = ((JsonValue.Obj) found).get(name);
    }
    return found;
  }

  /** All members that a schema requires, and none that it does not have, all the way down. */
  private static void fits(String where, JsonValue value, JsonValue schema) {
    if (value instanceof JsonValue.Arr list) {
      for (JsonValue item : list.items()) {
        fits(where + "[]", item, at(schema, "items"));
      }
    } else if (value instanceof JsonValue.Obj object && at(schema, "properties") != null) {
      JsonValue.Obj properties = (JsonValue.Obj) at(schema, "properties");
      assertThat(properties.members().keySet()).as(where).containsAll(object.members().keySet());
      for (JsonValue name : ((JsonValue.Arr) at(schema, "required")).items()) {
        assertThat(object.members()).as(where).containsKey(((JsonValue.Str) name).value());
      }
      object
          .members()
          .forEach((name, member) -> fits(where + "/" + name, member, at(properties, name)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/budgets", "/keys", "/incidents", "/sinks", "/checkpoints"})
  void answers_are_what_the_api_document_says(String what) {
    gateway.submit(gateway.home.ask("alice").tool("mail").sign());
    JsonValue.Obj document =
        gateway.send(HttpRequest.newBuilder(gateway.uri("/v1/openapi.json"))).json();
    JsonValue content =
        at(document, "paths", OPERATIONS + what, "get", "responses", "200", "content");
    String name = ((JsonValue.Str) at(content, "application/json", "schema", "$ref")).value();
    JsonValue schema =
        at(document, "components", "schemas", name.substring(name.lastIndexOf('/') + 1));
    fits(what, gateway.get("rita", OPERATIONS + what).json(), schema);
    fits("the example", at(schema, "example"), schema);
  }

  @ParameterizedTest
  @ValueSource(strings = {"limit=0", "limit=101", "limit=x", "before=-1", "limit=1&limit=2"})
  void questions_of_another_form_are_refused(String query) {
    Reply refused = gateway.get("rita", OPERATIONS + "/incidents?" + query);
    assertThat(refused.status() + " " + refused.string("code")).isEqualTo("400 GWY-018");
  }
}
