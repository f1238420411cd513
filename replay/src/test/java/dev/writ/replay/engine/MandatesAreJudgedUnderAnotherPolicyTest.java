package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestMandate;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestRequest;
import dev.writ.replay.engine.PolicyCounterfactual.Judged;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Payments under a mandate of 90.00 EUR in all, judged under other policies: what had been spent
 * counts where the mandate does, and a mandate counts where the same issuer is trusted.
 */
class MandatesAreJudgedUnderAnotherPolicyTest {
  private static final String MANDATE =
      "{ mandate: { issuers: [bank], vct: mandate.payment.open.1, payee: /payee, amount: /amount,"
          + " currency: EUR } }";
  private static final String YAML =
      TestPolicy.YAML.replace(
              "{ effect: { tool: pay, operation: do }, require: { approvals: { role: reviewer,"
                  + " count: 1 } } }",
              "{ effect: { tool: pay, operation: do }, require: " + MANDATE + " }")
          + TestMandate.policySection();

  @TempDir static Path dir;
  private static TestHome home;
  private static RecordedRun recording;

  /** 50.00, 40.01 of which 40.00 are left, 40.00, to another payee, without one, and too late. */
  @BeforeAll
  static void record() {
    home = TestHome.create(dir, YAML);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    assertThat(pay(5000, "shop")).isEqualTo("ALLOW");
    assertThat(pay(4001, "shop")).isEqualTo("GRD-629");
    assertThat(pay(4000, "shop")).isEqualTo("ALLOW");
    assertThat(pay(100, "smith")).isEqualTo("GRD-627");
    assertThat(outcome(home.submit(asks(100, "shop")))).isEqualTo("GRD-626");
    assertThat(pay(100, "shop", open -> open.replaceFirst("\"exp\":[0-9]+", "\"exp\":1000000000")))
        .isEqualTo("GRD-622");
    recording = Sample.recording(home, Sample.RUN);
  }

  @AfterAll
  static void close() {
    home.close();
  }

  private static TestRequest asks(long amount, String payee) {
    return home.ask("alice")
        .run(Sample.RUN.run())
        .tool("pay")
        .params("{\"amount\":" + amount + ",\"payee\":\"" + payee + "\"}");
  }

  private static String pay(long amount, String payee) {
    return pay(amount, payee, open -> open);
  }

  private static String pay(long amount, String payee, UnaryOperator<String> open) {
    TestRequest request = asks(amount, payee);
    Envelope mandate = TestMandate.open(TestHome.START, open).envelope(request.request(), "alice");
    return outcome(
        home.kernel().submit(request.evidence(List.of(mandate.id())).sign(), List.of(mandate)));
  }

  private static String outcome(Answer answer) {
    return answer.decision().code().orElse(answer.decision().verdict().name());
  }

  private static List<String> under(String from, String to) {
    assertThat(YAML).contains(from);
    return PolicyCounterfactual.judge(
            recording, TestPolicy.after(home.policy(), YAML.replace(from, to), home.tools))
        .stream()
        .map(judged -> judged.code().orElse(judged.answer().name()))
        .toList();
  }

  @Test
  void under_its_own_policy_nothing_changes() {
    assertThat(under(MANDATE, MANDATE))
        .containsExactly("ALLOW", "GRD-629", "ALLOW", "GRD-627", "GRD-626", "GRD-622");
    assertThat(
            PolicyCounterfactual.judge(
                recording, TestPolicy.after(home.policy(), YAML, home.tools)))
        .noneMatch(Judged::changes);
  }

  @Test
  void a_policy_without_the_requirement_lets_all_of_them_pass() {
    assertThat(under(MANDATE, "{ cel: 'true' }")).containsOnly("ALLOW");
  }

  @Test
  void a_mandate_does_not_count_under_another_key_of_its_issuer() {
    assertThat(under(key("bank"), key("thief"))).containsOnly("GRD-626");
  }

  /** As the policy has it: the coordinates of a public key. */
  private static String key(String name) {
    String jwk = TestMandate.jwk(name);
    return jwk.substring(jwk.indexOf("\"x\"")).replace("\":\"", "\": \"").replace(",", ", ");
  }

  @Test
  void nor_for_another_audience() {
    assertThat(under(TestMandate.AUDIENCE, "https://another.example"))
        .containsExactly("GRD-624", "GRD-624", "GRD-624", "GRD-624", "GRD-626", "GRD-626");
  }

  @Test
  void another_type_of_mandate_is_not_there() {
    assertThat(under("mandate.payment.open.1", "mandate.payment.open.2")).doesNotContain("ALLOW");
  }
}
