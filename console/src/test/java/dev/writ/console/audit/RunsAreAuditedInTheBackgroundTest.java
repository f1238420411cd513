package dev.writ.console.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.driver.Driver;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.verify.bundle.BundleExport;
import java.net.http.HttpRequest;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Audit jobs over a socket: what they find, whose they are, and what they do not hand out. */
class RunsAreAuditedInTheBackgroundTest {
  private static final String JOBS = "/v1/audit-jobs";

  @TempDir Path dir;
  private TestGateway gateway;
  private final AtomicReference<Throwable> unforeseen = new AtomicReference<>();

  @BeforeEach
  void start() {
    RunAuditor auditor = new RunAuditor(List.of());
    gateway =
        TestGateway.start(
            dir,
            HttpLimits.DEFAULT,
            pipeline ->
                List.of(
                    new AuditSurface(
                        pipeline,
                        new RunBundle(packages()),
                        auditor,
                        new SecureRandom(),
                        unforeseen::set)));
    gateway.home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
  }

  private BundleExport.Packages packages() {
    return new BundleExport.Packages() {
      @Override
      public Optional<ToolManifest> manifest(ToolRef tool) {
        return gateway.home.tools.manifest(tool.name(), tool.version());
      }

      @Override
      public Driver.PackageContent files(ToolManifest manifest) {
        return gateway.home.tools.content(manifest);
      }
    };
  }

  @AfterEach
  void stop() {
    gateway.surfaces.forEach(surface -> surface.close());
    gateway.close();
    assertThat(unforeseen.get()).isNull();
  }

  private void effect(String as, String run) {
    assertThat(gateway.submit(gateway.home.ask(as).run(run).tool("mail").sign()).status())
        .isEqualTo(200);
  }

  private Reply ask(String as, String body) {
    return gateway.send(
        gateway
            .as(as, JOBS)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  /** The job's last state, as its stream tells it. */
  private JsonValue.Obj ended(String as, String id) {
    String stream = gateway.get(as, JOBS + "/" + id + "/events").text();
    assertThat(stream).contains("event: job\ndata: {");
    return gateway.get(as, JOBS + "/" + id).json();
  }

  private String done(String as, String body) {
    Reply asked = ask(as, body);
    assertThat(asked.status()).as(asked.text()).isEqualTo(202);
    String id = asked.string("id");
    assertThat(ended(as, id).get("state")).isEqualTo(JsonValue.of("done"));
    return id;
  }

  private String result(String as, String id, String format) {
    return gateway.get(as, JOBS + "/" + id + "/result?format=" + format).text();
  }

  private static String problem(Reply reply) {
    return reply.status() + " " + reply.string("code");
  }

  @Test
  void runsAreVerified() {
    effect("alice", "run-1");
    effect("alice", "run-2");
    String id = done("alice", "{\"kind\":\"verify\",\"runs\":[\"run-1\",\"run-2\"]}");
    assertThat(gateway.get("alice", JOBS + "/" + id).json().get("hold")).isEqualTo(JsonValue.of(2));
    assertThat(result("alice", id, "json"))
        .contains("\"holds\":true", "\"pinned\":false", "\"state\":\"open\"");
    assertThat(result("alice", id, "csv"))
        .isEqualTo(
            "\"run\",\"holds\",\"state\",\"code\",\"message\"\r\n"
                + "\"run-1\",\"true\",\"open\",\"\",\"\"\r\n"
                + "\"run-2\",\"true\",\"open\",\"\",\"\"\r\n");
  }

  @Test
  void whatAnAuditorReadsOfARunIsInTheLogWherePolicySaysSo() {
    gateway.home.activate(
        TestPolicy.YAML
            + """
            people: [ { tenant: acme, subject: bob, roles: [auditor] } ]
            reads: [ { tenant: acme, what: [reports] } ]
            """);
    effect("alice", "run-1");
    effect("bob", "run-2");
    String id = done("bob", "{\"kind\":\"verify\",\"runs\":[\"run-1\",\"run-2\"]}");
    assertThat(gateway.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run())).isEmpty();
    assertThat(result("bob", id, "csv")).contains("\"run-1\",\"true\"");
    assertThat(gateway.home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run()))
        .as("the own run is not recorded")
        .singleElement()
        .satisfies(event ->
            assertThat(ReadEvent.read(gateway.home.document(event.body()).document()).thing())
                .isEqualTo(ReadEvent.Thing.ofRun("run-1")));
    gateway.home.clock.forward(Duration.ofSeconds(60));
    gateway.home.beforeWrite(() -> {
      throw new IllegalStateException("the disk is full");
    });
    Reply refused = gateway.get("bob", JOBS + "/" + id + "/result?format=json");
    assertThat(problem(refused)).isEqualTo("503 GWY-140");
    assertThat(refused.text()).doesNotContain("holds");
  }

  /** Also what was found, while the right held, is of runs that may be read when it is taken. */
  @Test
  void whoMayNotReadARunAnyMoreIsToldNothingOfIt() {
    gateway.home.activate(
        TestPolicy.YAML + "people: [ { tenant: acme, subject: bob, roles: [auditor] } ]\n");
    effect("alice", "run-1");
    String report = done("bob", "{\"kind\":\"report\",\"runs\":[\"run-1\"]}");
    String found = done("bob", "{\"kind\":\"verify\",\"runs\":[\"run-1\"]}");
    assertThat(result("bob", report, "html")).startsWith("<!doctype html>");
    gateway.home.activate(TestPolicy.YAML);
    for (String end : List.of(report + "/result?format=html", found + "/result?format=csv")) {
      assertThat(problem(gateway.get("bob", JOBS + "/" + end))).isEqualTo("404 GWY-040");
    }
    assertThat(gateway.send(gateway.as("bob", JOBS + "/" + found).DELETE()).status())
        .isEqualTo(200);
  }

  @Test
  void aRunIsReplayed() {
    effect("alice", "run-1");
    String id = done("alice", "{\"kind\":\"replay\",\"runs\":[\"run-1\"]}");
    assertThat(result("alice", id, "json"))
        .contains("\"state\":\"COMPLETE\"", "\"replay_hash\":\"sha256:");
  }

  @Test
  void aPeriodHasTheRunsThatTouchIt() {
    effect("alice", "early");
    Instant noon = gateway.home.clock.instant().plusSeconds(60);
    gateway.home.clock.forward(Duration.ofSeconds(120));
    effect("alice", "late");
    String id = done("alice", "{\"kind\":\"verify\",\"from\":\"" + Timestamps.format(noon) + "\"}");
    assertThat(result("alice", id, "csv")).contains("\"late\"").doesNotContain("\"early\"");
    id = done("alice", "{\"kind\":\"verify\",\"to\":\"" + Timestamps.format(noon) + "\"}");
    assertThat(result("alice", id, "csv")).contains("\"early\"").doesNotContain("\"late\"");
    id = done("deputy", "{\"kind\":\"verify\",\"from\":\"2020-01-01T00:00:00.000Z\"}");
    assertThat(result("deputy", id, "csv")).contains("\"early\"", "\"late\"");
  }

  @Test
  void aReportIsAFileAndRunsNowhereInThisOrigin() {
    effect("alice", "run-1");
    String id = done("alice", "{\"kind\":\"report\",\"runs\":[\"run-1\"]}");
    Reply page = gateway.get("alice", JOBS + "/" + id + "/result?format=html");
    assertThat(page.text()).startsWith("<!doctype html>").contains("</html>");
    assertThat(page.header("content-disposition"))
        .startsWith("attachment; filename=\"writ-report-");
    assertThat(page.header("content-security-policy")).isEqualTo("sandbox");
  }

  @Test
  void runsAreCompared() {
    effect("alice", "run-1");
    effect("alice", "run-2");
    effect("alice", "run-2");
    String id = done("alice", "{\"kind\":\"compare\",\"runs\":[\"run-1\",\"run-2\"]}");
    assertThat(result("alice", id, "json"))
        .contains("\"differing\":2", "\"requests\":2", "\"seq_b\":7");
  }

  @Test
  void aJobIsItsCallersAlone() {
    effect("alice", "run-1");
    String id = done("alice", "{\"kind\":\"verify\",\"runs\":[\"run-1\"]}");
    for (String other : List.of("bob", "eve", "deputy")) {
      assertThat(problem(gateway.get(other, JOBS + "/" + id))).isEqualTo("404 GWY-040");
      assertThat(problem(gateway.get(other, JOBS + "/" + id + "/result"))).isEqualTo("404 GWY-040");
      assertThat(problem(gateway.send(gateway.as(other, JOBS + "/" + id).DELETE())))
          .isEqualTo("404 GWY-040");
      assertThat(gateway.get(other, JOBS).text()).isEqualTo("{\"jobs\":[]}");
    }
    assertThat(gateway.send(gateway.as("alice", JOBS + "/" + id).DELETE()).status()).isEqualTo(200);
    assertThat(problem(gateway.get("alice", JOBS + "/" + id))).isEqualTo("404 GWY-040");
  }

  @Test
  void nobodyAuditsRunsThatItMayNotRead() {
    effect("alice", "run-1");
    assertThat(problem(ask("bob", "{\"kind\":\"verify\",\"runs\":[\"run-1\"]}")))
        .isEqualTo("404 GWY-040");
    assertThat(problem(ask("bob", "{\"kind\":\"verify\",\"from\":\"2020-01-01T00:00:00.000Z\"}")))
        .isEqualTo("400 GWY-126");
  }

  static Stream<Arguments> wrong() {
    return Stream.of(
        Arguments.of("{\"kind\":\"verify\"}", "400 GWY-018"),
        Arguments.of("{\"kind\":\"verify\",\"runs\":[]}", "400 GWY-126"),
        Arguments.of("{\"kind\":\"compare\",\"runs\":[\"run-1\"]}", "400 GWY-126"),
        Arguments.of("{\"kind\":\"report\",\"runs\":[\"run-1\",\"run-1\"]}", "400 GWY-126"),
        Arguments.of("{\"kind\":\"verify\",\"runs\":[\"run-1\",\"run-1\"]}", "400 GWY-126"),
        Arguments.of("{\"kind\":\"compare\",\"runs\":[\"run-1\",\"run-1\"]}", "400 GWY-126"),
        Arguments.of("{\"kind\":\"erase\",\"runs\":[\"run-1\"]}", "400 CAN-023"),
        Arguments.of("{\"kind\":\"verify\",\"runs\":[\"run-1\"],\"more\":1}", "400 CAN-021"));
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void jobsThatCannotBeMeantAreRefused(String body, String problem) {
    effect("alice", "run-1");
    assertThat(problem(ask("alice", body))).isEqualTo(problem);
  }

  @Test
  void aTenantHasAFewJobsAndTheOldestThatEndedMakesRoom() {
    effect("alice", "run-1");
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      ids.add(done("alice", "{\"kind\":\"verify\",\"runs\":[\"run-1\"]}"));
    }
    assertThat(problem(gateway.get("alice", JOBS + "/" + ids.getFirst()))).isEqualTo("404 GWY-040");
    assertThat(gateway.get("alice", JOBS + "/" + ids.getLast()).status()).isEqualTo(200);
  }
}
