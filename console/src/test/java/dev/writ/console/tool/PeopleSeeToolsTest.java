package dev.writ.console.tool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.verify.bundle.BundleExport;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the API tells people of tools, and whom it tells nothing. */
class PeopleSeeToolsTest {
  private static final String PATH = "/v1/tool-packages";
  private static final String HOSTILE = "<img src=x>/../\u202Egnp%2F";

  @TempDir Path dir;
  private TestGateway gateway;
  private TestGovernance governance;

  @BeforeEach
  void start() {
    gateway =
        TestGateway.start(
            dir, HttpLimits.DEFAULT, pipeline -> List.of(new ToolSurface(pipeline, packages())));
    gateway.home.clock.stepping(Duration.ofMillis(2));
    gateway.home.activate(
        TestGovernance.YAML
            + """
            people:
              - { tenant: acme, subject: alice, roles: [developer] }
              - { tenant: acme, subject: bob, roles: [viewer, approver] }
              - { tenant: acme, subject: rita, roles: [operator] }
              - { tenant: other, subject: eve, roles: [auditor] }
            """);
    governance = new TestGovernance(gateway.home).enrol();
  }

  @AfterEach
  void stop() {
    gateway.close();
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

  private static String path(String name, String version) {
    return PATH + "/" + segment(name) + "/" + segment(version);
  }

  private static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private JsonValue.Obj version(String as, String name, String version) {
    return ((JsonValue.Arr) gateway.get(as, PATH).json().get("versions"))
        .items().stream()
            .map(JsonValue.Obj.class::cast)
            .filter(tool -> tool.get("name").equals(JsonValue.of(name)))
            .filter(tool -> tool.get("version").equals(JsonValue.of(version)))
            .findFirst()
            .orElseThrow();
  }

  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }

  private static String problem(Reply reply) {
    return reply.status() + " " + reply.string("code");
  }

  @Test
  void theListHasWhatPolicyListsAndWhatWasSubmitted() {
    governance.stage(governance.approved("1.0.0"), RolloutStage.ACTIVE);
    ToolRef next = governance.registered("1.1.0");
    governance.take(governance.submission(next));
    governance.take(
        governance.validation(next, new ToolValidation.Finding("TOL-201", "main.py:3", "eval")));
    JsonValue.Obj listed = version("alice", "mail", "1.0.0");
    assertThat(text(listed))
        .contains("\"listed\":true", "\"runs\":true", "\"stage\":\"active\"")
        .doesNotContain("submitted");
    assertThat(text(version("alice", "words", "1.0.0")))
        .contains(
            "\"approvals\":[{\"given\":1,\"needed\":1,\"role\":\"security\"},"
                + "{\"given\":2,\"needed\":2,\"role\":\"tool-reviewer\"}]",
            "\"findings\":0",
            "\"by\":\"pub\"",
            "\"by\":\"operator\"",
            "\"by\":\"cyd\"",
            "\"stage\":\"active\"");
    assertThat(text(version("alice", "words", "1.1.0")))
        .contains("\"findings\":1", "\"runs\":false", "\"stage\":\"draft\"")
        .doesNotContain("approved\":", "staged\":");
    assertThat(text(gateway.get("alice", PATH).json()))
        .as("the greatest version of a tool is its first")
        .containsSubsequence("\"version\":\"1.1.0\"", "\"version\":\"1.0.0\"");
  }

  @Test
  void whoHasNoSuchRoleIsToldNothing() {
    for (String path :
        List.of(
            PATH,
            path("mail", "1.0.0"),
            path("nothing", "1"),
            path("mail", "1.0.0") + "/changes?from=1.0.0")) {
      for (String as : List.of("bob", "deputy", "narrow")) {
        assertThat(problem(gateway.get(as, path))).as(as + path).isEqualTo("403 GWY-129");
      }
      for (String as : List.of("alice", "rita", "eve")) {
        assertThat(gateway.get(as, path).status()).isNotEqualTo(403);
      }
    }
  }

  @Test
  void aVersionIsShownWithItsReviewAndWithCallersOfTheOwnTenantAlone() {
    ToolRef words = governance.approved("1.0.0");
    governance.take(governance.canary(words, List.of("acme"), 0));
    String seen = gateway.get("alice", path("words", "1.0.0")).text();
    assertThat(seen)
        .contains(
            "\"canary\":{\"percent\":0,\"whole_tenant\":true}",
            "{\"operations\":[\"do\",\"text\",\"twice\"],\"roles\":[\"worker\"],\"runs\":true,"
                + "\"subject\":\"alice\"}",
            "\"manifest\":{\"capabilities\"",
            "\"validator\":\"writ-lint 1\"",
            "\"approver\":\"ada\"",
            "\"kind\":\"tool.staged\"")
        .doesNotContain("\"subject\":\"eve\"", "\"subject\":\"nobody\"", "\"statistics\"");
    String other = gateway.get("eve", path("words", "1.0.0")).text();
    assertThat(other)
        .contains(
            "\"canary\":{\"percent\":0,\"whole_tenant\":false}",
            "\"runs\":false,\"subject\":\"eve\"",
            "\"statistics\"")
        .doesNotContain("acme\"", "alice", "deputy");
  }

  @Test
  void callsAreCountedForThoseWhoSeeTheTenantsEffects() {
    gateway.submit(gateway.home.ask("alice").tool("mail").sign());
    gateway.submit(
        gateway.home.ask("bob").run("run-2").tool("mail").params("{\"forbidden\":true}").sign());
    assertThat(gateway.get("rita", path("mail", "1.0.0")).text())
        .contains("\"statistics\"", "\"calls\":2", "\"denied\":1", "\"p99_ms\"");
    assertThat(gateway.get("eve", path("mail", "1.0.0")).text())
        .as("another tenant's calls")
        .contains("\"statistics\"", "\"versions\":[]")
        .doesNotContain("\"calls\"");
  }

  @Test
  void aRevokedVersionSaysSinceWhenAndByWhom() {
    gateway.home.prohibit("mail", "1.0.0");
    gateway.home.prohibit("gone", "0.1");
    assertThat(text(version("rita", "mail", "1.0.0")))
        .contains(
            "\"prohibited\":true",
            "\"revoked\":{\"at\":\"",
            "\"runs\":false",
            "\"by\":\"operator\"");
    assertThat(text(version("rita", "gone", "0.1")))
        .as("which nothing else names")
        .contains("\"registered\":false", "\"stage\":\"revoked\"")
        .doesNotContain("\"package\"");
    assertThat(gateway.get("rita", path("gone", "0.1")).text())
        .contains("\"history\":[{")
        .doesNotContain("\"manifest\"", "\"callers\"");
  }

  @Test
  void anApprovalOfAnotherPackageIsNoneOfThisOne() {
    ToolRef words = governance.registered("1.0.0");
    governance.take(governance.submission(words));
    governance.take(governance.validation(words));
    governance.take(governance.word(words, "ada", "tool-reviewer", Approval.Verdict.REJECT));
    assertThat(text(version("alice", "words", "1.0.0"))).contains("\"rejected\":true");
    governance.take(governance.submission(TestGovernance.other(words)));
    assertThat(text(version("alice", "words", "1.0.0")))
        .as("the registry has another package")
        .contains("\"rejected\":false", "\"registered\":false", "\"given\":0")
        .doesNotContain("approved\":{");
  }

  private ToolManifest changed(String version) {
    ToolManifest made = TestTools.manifest("words", Determinism.PURE);
    return new ToolManifest(
        made.name(),
        version,
        made.driver(),
        made.determinism(),
        List.of(
            new ToolManifest.Operation(
                "do",
                TestTools.object(
                    "{\"type\":\"object\",\"properties\":{\"a/b\":{\"maxLength\":9}}}"),
                made.operations().getFirst().output(),
                made.operations().getFirst().mediaType()),
            made.operations().getLast()),
        made.capabilities(),
        made.resourcesMax(),
        made.sandboxes(),
        made.files());
  }

  @Test
  void versionsAreComparedPlaceByPlace() {
    governance.take(governance.submission(governance.registered("1.0.0")));
    ToolManifest later = changed("2.0.0");
    gateway.home.tools.register(later);
    governance.take(governance.submission(later.ref()));
    Reply changes = gateway.get("alice", path("words", "2.0.0") + "/changes?from=1.0.0");
    assertThat(text(changes.json().get("differences")))
        .isEqualTo(
            "[{\"change\":\"changed\",\"places\":[{\"after\":\"pure\",\"before\":\"recorded\","
                + "\"place\":\"\"}],\"what\":\"determinism\"},"
                + "{\"change\":\"changed\",\"name\":\"do\",\"places\":[{\"after\":9,"
                + "\"place\":\"/input/properties/a~1b/maxLength\"}],\"what\":\"operation\"},"
                + "{\"change\":\"gone\",\"name\":\"text\",\"places\":["
                + "{\"before\":\"object\",\"place\":\"/input/type\"},"
                + "{\"before\":\"text/plain\",\"place\":\"/media_type\"}],"
                + "\"what\":\"operation\"}]");
    gateway.home.tools.remove("words", "1.0.0");
    assertThat(problem(gateway.get("alice", path("words", "2.0.0") + "/changes?from=1.0.0")))
        .isEqualTo("409 GWY-130");
  }

  private void called(String as, String version, String params) {
    Reply reply =
        gateway.submit(
            gateway
                .home
                .ask(as)
                .run("run-" + as)
                .tool("words")
                .version(version)
                .params(params)
                .sign());
    assertThat(reply.header("Writ-Receipt")).as(reply.text()).isNotEmpty();
  }

  /** Reads of a version whose calls gave something else than those of the version before it. */
  @Test
  void whatBothVersionsGaveForTheSameCallIsCompared() {
    governance.stage(governance.approved("1.0.0"), RolloutStage.ACTIVE);
    governance.stage(governance.approved("1.1.0"), RolloutStage.ACTIVE);
    governance.stage(governance.approved("1.2.0"), RolloutStage.ACTIVE);
    gateway.home.driver.does("words", Behaviours::params);
    called("bob", "1.2.0", "{\"n\":1}");
    for (int n = 0; n < 4; n++) {
      called("alice", "1.0.0", "{\"n\":" + n + "}");
    }
    called("alice", "1.1.0", "{\"n\":1}");
    called("eve", "1.1.0", "{\"n\":0}");
    gateway.home.driver.does("words", Behaviours.gives("{\"ok\":true}", Behaviours.JSON));
    called("alice", "1.1.0", "{\"n\":2}");
    gateway.home.driver.does("words", Behaviours.fails());
    called("alice", "1.1.0", "{\"n\":3}");
    String changes = path("words", "1.1.0") + "/changes?from=1.0.0";
    for (String as : List.of("alice", "rita")) {
      assertThat(gateway.get(as, changes).text())
          .as(as + " may not read all effects")
          .contains("\"differences\"")
          .doesNotContain("same_calls");
    }
    gateway.home.activate(
        TestGovernance.YAML
            + """
            people:
              - { tenant: acme, subject: rita, roles: [auditor] }
            reads: [ { tenant: acme, what: [parameters] } ]
            """);
    String found = text(gateway.get("rita", changes).json().get("same_calls"));
    assertThat(found)
        .as("2 gave another output and 3 failed; that of 0 was another tenant's")
        .contains("\"all\":true,\"compared\":3,\"different\":[", "\"same\":1")
        .containsOnlyOnce("\"status\":\"failed\"")
        .contains("\"operation\":\"do\"");
    assertThat(gateway.get("rita", "/v1/reads").text())
        .contains("\"what\":[\"parameters\"]", "\"run\":\"run-alice\"")
        .as("what was not compared was not read")
        .doesNotContain("run-bob");
  }

  @Test
  void aServerOfSomebodyElseIsMarkedWithItsPlaces() {
    ToolManifest made = TestTools.manifest("acme-wiki", Determinism.RECORDED, "mcp", "box");
    ToolManifest server =
        new ToolManifest(
            made.name(),
            made.version(),
            made.driver(),
            made.determinism(),
            made.operations(),
            new ToolManifest.Capabilities(
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of("wiki.example:443"),
                false),
            made.resourcesMax(),
            made.sandboxes(),
            made.files());
    gateway.home.tools.register(server);
    governance.take(governance.submission(server.ref()));
    assertThat(text(version("alice", "acme-wiki", "1.0.0")))
        .contains("\"upstream\":{\"places\":[\"wiki.example:443\"]}");
    assertThat(text(version("alice", "mail", "1.0.0"))).doesNotContain("upstream");
    String path = path("acme-wiki", "1.0.0");
    assertThat(gateway.get("alice", path).text())
        .as("its files are no server's")
        .contains("\"manifest\"")
        .doesNotContain("\"descriptions\"");
    assertThat(problem(gateway.get("alice", path + "/changes?from=1.0.0")))
        .isEqualTo("409 GWY-130");
  }

  @Test
  void whatNobodyKnowsIsUnknownWhateverItsName() {
    for (String path :
        List.of(
            path("mail", "9"),
            path(HOSTILE, "1.0.0"),
            path("mail", HOSTILE),
            path("mail", "1.0.0") + "/changes?from=9")) {
      assertThat(problem(gateway.get("rita", path))).as(path).isEqualTo("404 GWY-040");
    }
    assertThat(problem(gateway.get("rita", path("mail", "1.0.0") + "/changes")))
        .isEqualTo("400 GWY-018");
    assertThat(problem(gateway.get("rita", path("mail", "1.0.0") + "/changes?from=1.0.0&from=2")))
        .isEqualTo("400 GWY-018");
  }

  @Test
  void aHostileNameIsAnyName() {
    gateway.home.prohibit(HOSTILE, HOSTILE);
    assertThat(version("rita", HOSTILE, HOSTILE).get("prohibited")).isEqualTo(JsonValue.of(true));
    Reply one = gateway.get("rita", path(HOSTILE, HOSTILE));
    assertThat(one.status()).as(one.text()).isEqualTo(200);
    assertThat(one.json().get("name")).isEqualTo(JsonValue.of(HOSTILE));
  }
}
