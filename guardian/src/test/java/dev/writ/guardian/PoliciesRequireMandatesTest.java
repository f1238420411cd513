package dev.writ.guardian;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What policies say of mandates, as examples/mandate writes it, and what they cannot say. */
class PoliciesRequireMandatesTest {
  private static final Path EXAMPLE =
      Path.of(System.getProperty("writ.root", "..")).resolve("examples/mandate");

  private static String example() throws IOException {
    return Files.readString(EXAMPLE.resolve("policy.yaml"));
  }

  private static Policy policy(String text) {
    return Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
  }

  private static ToolManifest pay() {
    ToolManifest m = World.manifest();
    return new ToolManifest(
        "pay",
        "1.0.0",
        "pay",
        m.determinism(),
        List.of(
            new ToolManifest.Operation(
                "send",
                (JsonValue.Obj) World.json("{\"type\":\"object\"}"),
                Optional.empty(),
                "application/json")),
        ToolManifest.Capabilities.none(),
        m.resourcesMax(),
        m.sandboxes(),
        List.of());
  }

  @Test
  void theExamplePassesItsOwnCases() throws IOException {
    Policy policy =
        policy(
            example()
                .replaceFirst("package: \"[^\"]*\"", "package: \"" + pay().packageDigest() + "\""));
    List<PolicyTest.CaseResult> results =
        PolicyTest.run(
            policy,
            Files.readAllBytes(EXAMPLE.resolve("cases.yaml")),
            "cases.yaml",
            _ -> Optional.of(pay()));
    assertThat(results).hasSize(9);
    for (PolicyTest.CaseResult result : results) {
      assertThat(result.passed())
          .as(result.name() + ": " + result.verdict() + " " + result.code())
          .isTrue();
    }
    assertThat(results.get(2).explain().render())
        .contains("mandate mandate.payment.open.1 by bank — fails: params/payee");
  }

  @Test
  void nothingIsAdvisedAboutIt() throws IOException {
    assertThat(PolicyAdvice.of(policy(example()))).isEmpty();
  }

  @Test
  void itsCanonicalFormReadsBack() throws IOException {
    Policy policy = policy(example());
    assertThat(Policy.ofCanonical(policy.toJson()).digest()).isEqualTo(policy.digest());
    assertThat(policy.mandates().orElseThrow().of("acme")).hasSize(1);
    assertThat(policy.mandates().orElseThrow().of("other")).isEmpty();
  }

  /** The page's fragment is what the example says. */
  @Test
  void thePageSaysTheSame() throws IOException {
    String page = Files.readString(SpecPagesTest.SPEC.resolve("mandate.md"));
    int begin = page.indexOf("```yaml mandate\n") + 16;
    String fragment = page.substring(begin, page.indexOf("```", begin));
    String whole = example();
    Policy policy = policy(whole.substring(0, whole.indexOf("mandates:")) + fragment);
    assertThat(policy.mandates()).isEqualTo(policy(whole).mandates());
    assertThat(policy.rules().getFirst().require())
        .isEqualTo(policy(whole).rules().getFirst().require());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "GRD-510 | issuers: [bank] | issuers: [shop]",
        "GRD-505 | issuers: [bank] | issuers: []",
        "GRD-505 | currency: /currency | currency: euro",
        "GRD-505 | payee: /payee | payee: params.payee",
        "GRD-503 | amount: /amount, | ` `",
        "GRD-502 | amount: /amount | amount: /amount, tip: /tip",
        "GRD-505 | kty: EC | kty: RSA",
        "GRD-505 | crv: P-256 | crv: P-384",
        "GRD-505 | kty: EC | d: AA, kty: EC",
        "GRD-505 | y: q | y: r",
        "GRD-510 | - tenant: acme | - tenant: other",
        "GRD-505 | name: calls-per-day | name: mandate/uses",
      })
  void whatCannotBeKeptIsRefused(String code, String from, String to) throws IOException {
    String text = example();
    assertThat(text).contains(from);
    assertThat(refusal(text.replace(from, to.strip()))).isEqualTo(code);
  }

  @Test
  void aRuleAsksForOneMandateAtMostAndNotForNone() throws IOException {
    String text = example();
    String node = text.substring(text.indexOf("mandate: {"), text.indexOf("\n    message"));
    assertThat(refusal(text.replace(node, "all: [ { " + node + " }, { " + node + " } ]")))
        .isEqualTo("GRD-505");
    assertThat(refusal(text.replace(node, "none: [ { " + node + " } ]"))).isEqualTo("GRD-505");
    assertThat(
            refusal(
                text.replace(
                    "    - tenant: acme\n      name: bank",
                    "    - { tenant: acme, name: bank, key: { kty: OKP, crv: Ed25519, x:"
                        + " 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo } }\n"
                        + "    - tenant: acme\n      name: bank")))
        .isEqualTo("GRD-506");
  }

  private static String refusal(String text) {
    try {
      policy(text);
      return "accepted";
    } catch (WritException e) {
      return e.code().code();
    }
  }
}
