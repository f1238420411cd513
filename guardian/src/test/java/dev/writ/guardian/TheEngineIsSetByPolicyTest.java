package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.engine.CallLimits;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.Quotas.Quota;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Policy's section {@code engine}: classes, queue, slots, quotas; and flags that the Guardian
 * reads.
 */
class TheEngineIsSetByPolicyTest {
  private static ToolManifest manifest(Optional<String> category) {
    ToolManifest m = World.manifest();
    return new ToolManifest(
        m.name(),
        m.version(),
        m.driver(),
        m.determinism(),
        m.operations(),
        m.capabilities(),
        m.resourcesMax(),
        m.sandboxes(),
        m.files(),
        category,
        Optional.empty());
  }

  private static Policy policy(String engine) {
    return World.policy(World.POLICY + "engine: " + engine + "\n");
  }

  private static Decision judge(String flags, Optional<String> category) {
    ToolManifest tool = manifest(category);
    Policy policy = World.policy(World.POLICY + "engine: { flags: [" + flags + "] }\n", tool);
    Admitted a = World.request().admit(policy);
    JudgeInputs in =
        World.accounts(policy).look(a, World.circumstances(), policy, World.trust(), World.NOW);
    return Judge.judge(a, tool, policy, in, World.SNAPSHOT, Optional.empty());
  }

  @Test
  void aPolicyWithoutTheSectionKeepsItsBytesAndHasTheDefaults() {
    Policy without = World.policy();
    assertThat(new String(Jcs.write(without.toJson()), StandardCharsets.UTF_8))
        .doesNotContain("engine");
    assertThat(without.engine()).isEqualTo(EngineSettings.DEFAULT);
    assertThat(without.resourceClass("small"))
        .contains(new Resources(10_000, 256L << 20, 1L << 20, 15_000));
    assertThat(without.resourceClass("huge")).isEmpty();
  }

  @Test
  void everyDefaultIsWrittenOut() {
    Policy empty = policy("{}");
    assertThat(empty.engine()).isEqualTo(EngineSettings.DEFAULT);
    assertThat(empty.digest()).isNotEqualTo(World.policy().digest());
    assertThat(new String(Jcs.write(empty.toJson()), StandardCharsets.UTF_8))
        .contains(
            "\"queue\":{\"length\":256,\"per_tenant\":64,\"ttl_ms\":30000}",
            "\"quotas\":{\"default\":{\"running\":6,\"weight\":1},\"tenants\":[]},\"slots\":8");
    assertThat(Policy.ofCanonical(empty.toJson()).digest()).isEqualTo(empty.digest());
  }

  @Test
  void whatIsWrittenHoldsAndTheRestIsAsByDefault() {
    EngineSettings engine =
        policy(
                "{ classes: { small: { cpu_ms: 1000, memory_bytes: 1048576, output_bytes: 10,"
                    + " wall_ms: 2000 } }, queue: { length: 10 }, slots: 3, quotas: { default: {"
                    + " weight: 2 }, tenants: [ { tenant: acme, running: 1 } ] } }")
            .engine();
    assertThat(engine.classes().of("small")).contains(new Resources(1_000, 1 << 20, 10, 2_000));
    assertThat(engine.classes().of("large")).contains(ResourceClasses.DEFAULT.large().resources());
    assertThat(engine.queue()).isEqualTo(new EngineSettings.Queue(10, 30_000, 10));
    assertThat(engine.slots()).isEqualTo(3);
    assertThat(engine.quotas().of("acme")).isEqualTo(new Quota(1, 2));
    assertThat(engine.quotas().of("globex")).isEqualTo(new Quota(3, 2));
  }

  private static final String SMALL =
      "{ classes: { small: { cpu_ms: 1000, memory_bytes: 1048576, output_bytes: 10, wall_ms: 2000"
          + "%s } } }";

  @Test
  void aClassMayLimitWhatACallLeavesAndUses() {
    Policy policy =
        policy(
            SMALL.formatted(
                ", artifacts: 2, artifact_bytes: 100, artifacts_bytes: 150, tmp_bytes: 4096,"
                    + " file_bytes: 2097152, workspace_bytes: 1048576, pids: 4, grace_ms: 0"));
    CallLimits small = policy.host().limitsFor(new Resources(1_000, 1 << 20, 10, 2_000));
    assertThat(small)
        .isEqualTo(
            new CallLimits(
                Optional.of(2L),
                Optional.of(100L),
                Optional.of(150L),
                Optional.of(4096L),
                Optional.of(2L << 20),
                Optional.of(1L << 20),
                Optional.of(4L),
                Optional.of(0L)));
    assertThat(policy.host().limitsFor(new Resources(1_001, 1 << 20, 10, 2_000)))
        .as("a call that needs the class medium")
        .isEqualTo(CallLimits.DEFAULT);
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    Policy without = policy(SMALL.formatted(""));
    assertThat(new String(Jcs.write(without.toJson()), StandardCharsets.UTF_8))
        .as("a policy that sets none has the bytes of before")
        .doesNotContain(
            "grace_ms", "artifact", "tmp_bytes", "file_bytes", "workspace_bytes", "pids");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "artifacts: -1",
        "artifacts: 10001",
        "artifact_bytes: 1073741825",
        "tmp_bytes: 4095",
        "workspace_bytes: 1",
        "file_bytes: 1048575",
        "pids: 3",
        "pids: 100001",
        "grace_ms: 60001",
        "grace: 1"
      })
  void aLimitOutOfRangeIsRefused(String limit) {
    assertThatThrownBy(() -> policy(SMALL.formatted(", " + limit)))
        .hasMessageContaining(limit.substring(0, limit.indexOf(':')));
  }

  @ParameterizedTest
  @CsvSource({"scheduling.md, GRD-415", "policy.md, GRD-415"})
  void thePagesShowWhatIsReadAndTheDefaults(String page, String code) throws IOException {
    String text = Files.readString(SpecPagesTest.SPEC.resolve(page));
    int begin = text.indexOf("```yaml engine\n") + 15;
    EngineSettings engine =
        World.policy(World.POLICY + text.substring(begin, text.indexOf("```", begin))).engine();
    assertThat(engine.classes()).isEqualTo(EngineSettings.DEFAULT.classes());
    assertThat(engine.queue()).isEqualTo(EngineSettings.DEFAULT.queue());
    assertThat(engine.slots()).isEqualTo(EngineSettings.DEFAULT.slots());
    assertThat(engine.quotas().otherwise()).isEqualTo(EngineSettings.DEFAULT.quotas().otherwise());
    assertThat(engine.flags()).isNotEmpty();
    assertThat(text).contains(code);
  }

  @Test
  void theOrderOfQuotasSaysNothingAndThatOfFlagsIsMeant() {
    String more = "principals:\n  - { tenant: globex, subject: x, roles: [] }";
    String base = World.POLICY.replace("principals:", more);
    String a = "{ tenant: acme, running: 1 }";
    String b = "{ tenant: globex, running: 2 }";
    String quotas = base + "engine: { quotas: { tenants: [%s, %s] } }\n";
    assertThat(World.policy(quotas.formatted(a, b)).digest())
        .isEqualTo(World.policy(quotas.formatted(b, a)).digest());
    String on = "{ match: { tool: js }, enabled: true }";
    String off = "{ match: {}, enabled: false }";
    assertThat(judge(on + "," + off, Optional.empty()).verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(judge(off + "," + on, Optional.empty()).code()).contains("GRD-415");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{ match: {}, enabled: false };text;GRD-415",
        "{ match: { tenant: acme }, enabled: false };text;GRD-415",
        "{ match: { tool: js }, enabled: false };text;GRD-415",
        "{ match: { category: text }, enabled: false };text;GRD-415",
        "{ match: { tenant: acme, tool: js, category: text }, enabled: false };text;GRD-415",
        "{ match: { category: text }, enabled: false };image;",
        "{ match: { category: text }, enabled: false };;",
        "{ match: { tenant: acme, category: image }, enabled: false };text;",
        "{ match: {}, enabled: true };text;",
        "{ match: { category: text }, enabled: true }, { match: {}, enabled: false };text;",
        "{ match: { category: text }, enabled: true }, { match: {}, enabled: false };;GRD-415"
      })
  void theFirstFlagThatMatchesDecides(String flags, String category, String code) {
    Decision decision = judge(flags, Optional.ofNullable(category));
    assertThat(decision.verdict()).isEqualTo(code == null ? Verdict.ALLOW : Verdict.DENY);
    assertThat(decision.code()).isEqualTo(Optional.ofNullable(code));
  }

  @Test
  void aFlagIsJudgedBeforeWhatTheCallSays() {
    ToolManifest tool = manifest(Optional.empty());
    Policy policy =
        World.policy(World.POLICY + "engine: { flags: [{ match: {}, enabled: false }] }\n", tool);
    Admitted a = World.request().params("{\"source\":\"1\",\"n\":\"no integer\"}").admit(policy);
    JudgeInputs in =
        World.accounts(policy).look(a, World.circumstances(), policy, World.trust(), World.NOW);
    Decision decision = Judge.judge(a, tool, policy, in, World.SNAPSHOT, Optional.empty());
    assertThat(decision.code()).contains("GRD-415");
    assertThat(PolicyExplain.of(a, tool, policy, in, World.SNAPSHOT).render())
        .contains("a feature flag", "match {}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{ slots: 0 };GRD-505",
        "{ slots: 1.5 };GRD-504",
        "{ slots: unlimited };GRD-504",
        "{ queue: { length: -1 } };GRD-505",
        "{ queue: { length: 5, per_tenant: 6 } };GRD-505",
        "{ queue: { ttl_ms: 0 } };GRD-505",
        "{ queue: { ttl: 5 } };GRD-502",
        "{ quotas: { default: { weight: 0 } } };GRD-505",
        "{ quotas: { default: { running: -1 } } };GRD-505",
        "{ quotas: { tenants: [{ tenant: nobody, running: 1 }] } };GRD-510",
        "{ quotas: { tenants: [{ tenant: acme }, { tenant: acme }] } };GRD-506",
        "{ quotas: { tenants: [{ running: 1 }] } };GRD-503",
        "{ flags: [{ match: { tenant: nobody }, enabled: false }] };GRD-510",
        "{ flags: [{ match: { tool: other }, enabled: false }] };GRD-510",
        "{ flags: [{ match: { subject: x }, enabled: false }] };GRD-502",
        "{ flags: [{ enabled: false }] };GRD-503",
        "{ flags: [{ match: {} }] };GRD-503",
        "{ flags: [{ match: {}, enabled: \"no\" }] };GRD-504",
        "{ classes: { tiny: {} } };GRD-502",
        "{ classes: { small: { cpu_ms: 1 } } };GRD-503",
        "{ classes: { small: { cpu_ms: 0, memory_bytes: 1, output_bytes: 1, wall_ms: 1 } }"
            + " };GRD-505",
        "{ classes: { medium: { cpu_ms: 1, memory_bytes: 1, output_bytes: 1, wall_ms: 1 } }"
            + " };GRD-505",
        "{ kill_grace_ms: 5 };GRD-502"
      })
  void whatIsNotAsItMustBeIsRefused(String engine, String code) {
    assertThatThrownBy(() -> policy(engine)).hasMessageContaining(code);
  }

  @Test
  void aManifestWithoutACategoryKeepsItsBytes() {
    assertThat(manifest(Optional.empty())).isEqualTo(World.manifest());
    ToolManifest text = manifest(Optional.of("text"));
    assertThat(text.packageDigest()).isNotEqualTo(World.manifest().packageDigest());
    ToolManifest read = ToolManifest.read(text.toJson());
    assertThat(read).isEqualTo(text);
    assertThat(read.category()).contains("text");
  }
}
