package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.guardian.policy.seed.WorkspacePaths;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Artifacts count only when they hold; capabilities cannot be walked around. */
class EvidenceAndCapabilitiesTest {
  private static final String REPORT = "application/vnd.example.report+json";
  private static final String RECEIPT = "application/vnd.writ.receipt.v1+json";

  private static Decision judge(String type, String role, Envelope evidence, Trust trust) {
    Policy policy =
        World.policyRequiring("{ artifact: { type: " + type + ", role: " + role + " } }");
    World.RequestBuilder request = World.request();
    request.evidence = List.of(evidence.id());
    Admitted a = Admission.admit(request.sign(), trust, policy, World.NOW);
    Circumstances c =
        new Circumstances(
            World.manifest(),
            World.SNAPSHOT,
            List.of(),
            List.of(new Circumstances.Evidence(evidence)),
            (_, _) -> false,
            Optional.empty());
    return World.accounts(policy).judge(a, c, policy, trust, World.NOW).decision();
  }

  private static JsonValue about(String tenant) {
    return JsonValue.object().put("tenant", tenant).build();
  }

  @Test
  void aSignedReportOfTheTenantCounts() {
    Envelope report = Envelope.sign(REPORT, about("whatever it says"), World.CI);
    Decision decision = judge(REPORT, "attestor", report, World.trust());
    assertThat(decision.verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(JudgeInputs.read(decision.inputs()).artifacts().getFirst().signers().getFirst())
        .isEqualTo(new JudgeInputs.Signer(World.CI.kid(), "attestor", "ci"));
  }

  @Test
  void aStrangersReportIsLeftOutAndRecorded() {
    Envelope report = Envelope.sign(REPORT, about("acme"), World.key("stranger"));
    Decision decision = judge(REPORT, "attestor", report, World.trust());
    assertThat(decision.code()).contains("GRD-102");
    assertThat(JudgeInputs.read(decision.inputs()).ignored())
        .containsExactly(new JudgeInputs.Ignored(report.id(), "CAN-052"));
  }

  @Test
  void anAttestorOfAnotherTenantDoesNotCount() {
    SigningKey foreign = World.key("foreign ci");
    Envelope report = Envelope.sign(REPORT, about("acme"), foreign);
    Decision decision =
        judge(
            REPORT,
            "attestor",
            report,
            World.trustWith(World.trusted(foreign, KeyRole.ATTESTOR, "globex", "ci")));
    assertThat(decision.code()).contains("GRD-102");
  }

  @Test
  void aReceiptOfAnotherTenantDoesNotCountThoughTheSameExecutorSignedIt() {
    SigningKey executor = World.key("executor");
    TrustedKey installation =
        new TrustedKey(
            executor.verifyingKey(),
            KeyRole.EXECUTOR,
            Optional.empty(),
            "executor",
            Instant.EPOCH,
            Optional.empty(),
            Optional.empty());
    Trust trust = World.trustWith(installation);
    Envelope own = Envelope.sign(RECEIPT, about("acme"), executor);
    Envelope foreign = Envelope.sign(RECEIPT, about("globex"), executor);
    assertThat(judge(RECEIPT, "executor", own, trust).verdict()).isEqualTo(Verdict.ALLOW);
    Decision decision = judge(RECEIPT, "executor", foreign, trust);
    assertThat(decision.code()).contains("GRD-102");
    assertThat(JudgeInputs.read(decision.inputs()).ignored())
        .containsExactly(new JudgeInputs.Ignored(foreign.id(), "GRD-010"));
  }

  private static ToolManifest with(List<String> paths) {
    ToolManifest m = World.manifest("{\"type\":\"object\"}");
    return new ToolManifest(
        m.name(),
        m.version(),
        m.driver(),
        m.determinism(),
        m.operations(),
        new ToolManifest.Capabilities(paths, List.of(), List.of(), false),
        m.resourcesMax(),
        m.sandboxes(),
        m.files());
  }

  @Test
  void aListOnTheWayDoesNotHideAPath() {
    ToolManifest manifest = with(List.of("/job/file"));
    Policy policy =
        Policy.parse(
            World.POLICY
                .replace("PACKAGE", manifest.packageDigest().toString())
                .getBytes(StandardCharsets.UTF_8),
            "policy.yaml");
    for (String params :
        List.of(
            "{\"source\":\"1\",\"job\":[{\"file\":\"/etc/passwd\"}]}",
            "{\"source\":\"1\",\"job\":{\"file\":[\"data/a\",\"/etc/passwd\"]}}",
            "{\"source\":\"1\",\"job\":{\"file\":{\"0\":\"/etc/passwd\"}}}")) {
      Admitted a = World.request().params(params).admit(policy);
      JudgeInputs in =
          World.accounts(policy).look(a, World.circumstances(), policy, World.trust(), World.NOW);
      assertThat(Judge.judge(a, manifest, policy, in, World.SNAPSHOT, Optional.empty()).code())
          .as(params)
          .contains("GRD-408");
    }
  }

  @Test
  void aCapabilityThatIsNoPointerIsRefused() {
    assertThatThrownBy(() -> ToolSchemas.of(with(List.of("file")))).hasMessageContaining("GRD-420");
    assertThatThrownBy(() -> with(List.of("/b", "/a"))).hasMessageContaining("GRD-001");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        "./a",
        "../a",
        "a/../b",
        "a/.",
        "a\\b",
        "a\u0000b",
        "..",
        "a/b/.."
      })
  void pathsHaveOneFormOnly(String path) {
    assertThat(WorkspacePaths.isNormal(path)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "example.com",
        "http://",
        "ftp://example.com/",
        "https://user@example.com/",
        "https://example.com:0/",
        "https://example.com:70000/",
        "https://exämple.com/",
        "https://example.com./",
        "https://example.com\\@evil.test/",
        "user@example.com:443",
        "example.com:443/path",
        "https:example.com",
        "//example.com:443",
        "example.com:+443"
      })
  void networkPlacesHaveOneFormOnly(String place) {
    assertThat(NetworkPlace.parse(place)).isEmpty();
  }

  @Test
  void aStarCoversWhatIsBelowAndNothingElse() {
    List<String> patterns = List.of("*.example.com:443");
    assertThat(NetworkPlace.parse("https://a.example.com/").orElseThrow().isCovered(patterns))
        .isTrue();
    assertThat(NetworkPlace.parse("https://A.B.EXAMPLE.COM/").orElseThrow().isCovered(patterns))
        .isTrue();
    for (String place :
        List.of(
            "https://example.com/",
            "https://evilexample.com/",
            "http://a.example.com/",
            "https://a.example.com.evil.test/",
            "https://a.example.com:444/")) {
      assertThat(NetworkPlace.parse(place).orElseThrow().isCovered(patterns)).as(place).isFalse();
    }
  }
}
