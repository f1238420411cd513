package dev.writ.surfaces.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.governance.CanaryDraw;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tools have legal names, each its own, that stay while versions come; settings are checked. */
class NamesAndSettingsTest {
  private static final Caller ALICE =
      new Caller("bearer", "t", TestKeys.TENANT, "alice", List.of());

  private static ToolManifest tool(String name, String version, String... operations) {
    ToolManifest any = TestTools.manifest(name, Determinism.RECORDED);
    return new ToolManifest(
        name,
        version,
        any.driver(),
        any.determinism(),
        List.of(operations).stream()
            .map(o ->
                new ToolManifest.Operation(
                    o, TestTools.object("{}"), Optional.empty(), "text/plain"))
            .toList(),
        any.capabilities(),
        any.resourcesMax(),
        any.sandboxes(),
        any.files());
  }

  /** The names, each with what it stands for. */
  private static Map<String, String> names(List<ToolManifest> more) {
    TestTools tools = TestTools.standard();
    TreeSet<String> names = new TreeSet<>(List.of("calc", "mail", "pay", "sim"));
    more.forEach(tool -> {
      tools.register(tool);
      names.add(tool.name());
    });
    String yaml =
        TestPolicy.YAML.replace(
            "tools: [calc, mail, pay, sim]", "tools: [\"" + String.join("\", \"", names) + "\"]");
    Policy policy = TestPolicy.first(yaml, tools);
    McpTools shown =
        new McpTools() {
          @Override
          public Optional<ToolManifest> manifest(ToolRef ref) {
            return tools.manifest(ref.name(), ref.version());
          }

          @Override
          public Determinism granted(ToolManifest manifest) {
            return manifest.determinism();
          }
        };
    TreeMap<String, String> found = new TreeMap<>();
    new Catalogue(policy, shown, McpView.ALL, new CanaryDraw(TestKeys.TENANT, "run-1", "alice"))
        .usable(ALICE)
        .forEach(u ->
            found.put(
                u.entry().name(),
                u.entry().manifest().name()
                    + " "
                    + u.entry().manifest().version()
                    + " "
                    + u.entry().operation().name()));
    return found;
  }

  @Test
  void everyOperationHasALegalNameOfItsOwn() {
    List<ToolManifest> odd =
        List.of(
            tool("a", "1.0.0", "b_c", "d"),
            tool("a_b", "1.0.0", "c", "d"),
            tool("x.y", "1.0.0", "go"),
            tool("writ_outcome", "1.0.0", "go"),
            tool("n".repeat(100), "1.0.0", "go"),
            tool("n".repeat(100) + "m", "1.0.0", "go"));
    Map<String, String> names = names(odd);
    assertThat(names).hasSize(12 + 8);
    assertThat(names.keySet()).allMatch(name -> name.matches("[A-Za-z0-9_-]{1,64}"));
    assertThat(names).containsEntry("x_y", "x.y 1.0.0 go").doesNotContainKey("writ_outcome");
    assertThat(names.values()).contains("a 1.0.0 b_c", "a_b 1.0.0 c", "writ_outcome 1.0.0 go");
  }

  @Test
  void aPermissionIsNoToolToCall() {
    ToolManifest permission = TestTools.manifest("agent-hook", Determinism.PURE, "permit", "box");
    assertThat(names(List.of(permission))).hasSize(12).doesNotContainKey("agent-hook_do");
  }

  @Test
  void aNewVersionTakesThePlainNameAndTheOldOneKeepsASuffixOfItsOwn() {
    Map<String, String> before = names(List.of(tool("t", "1.0.0", "go")));
    assertThat(before).containsEntry("t", "t 1.0.0 go");
    Map<String, String> after = names(List.of(tool("t", "1.0.0", "go"), tool("t", "2.0.0", "go")));
    assertThat(after).containsEntry("t", "t 2.0.0 go");
    String old =
        after.entrySet().stream()
            .filter(e -> e.getValue().equals("t 1.0.0 go"))
            .findFirst()
            .orElseThrow()
            .getKey();
    assertThat(old).matches("t_[0-9a-f]{8}");
    Map<String, String> later =
        names(
            List.of(tool("t", "1.0.0", "go"), tool("t", "2.0.0", "go"), tool("t", "3.0.0", "go")));
    assertThat(later).containsEntry(old, "t 1.0.0 go");
  }

  @Test
  void settingsHaveDefaultsAndWhatIsNotOneOfThemIsRefused() {
    assertThat(McpSettings.parse(Map.of())).isEqualTo(McpSettings.DEFAULT);
    McpSettings given =
        McpSettings.parse(
            Map.of("cpu_ms", "7", "origins", " https://a.example  https://b.example"));
    assertThat(McpSettings.DEFAULT.ceiling()).as("policy's limits are the limits").isEmpty();
    assertThat(given.ceiling().orElseThrow().cpuMs()).isEqualTo(7);
    assertThat(given.ceiling().orElseThrow().wallMs()).isGreaterThan(1L << 40);
    assertThat(given.sessionIdle()).isEqualTo(Duration.ofDays(1));
    assertThat(McpSettings.parse(Map.of("session_idle_s", "60")).sessionIdle())
        .isEqualTo(Duration.ofSeconds(60));
    assertThat(given.origins()).containsExactly("https://a.example", "https://b.example");
  }

  @ParameterizedTest
  @CsvSource({
    "cpu_ms, -1",
    "wall_ms, 1e3",
    "memory_bytes, ''",
    "colour, red",
    "session_idle_s, 59",
    "approval_wait_s, 3601",
    "approval_url, https://approve.example/",
    "approval_url, 'javascript:{request}'"
  })
  void aWrongSettingIsNamed(String key, String value) {
    assertThatThrownBy(() -> McpSettings.parse(Map.of(key, value)))
        .hasMessageContaining("GWY-002")
        .hasMessageContaining(key);
  }
}
