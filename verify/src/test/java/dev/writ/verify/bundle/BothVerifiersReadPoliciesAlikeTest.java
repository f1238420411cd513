package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Forgers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A policy of another form, signed by a forger who holds every key: both verifiers refuse it, and
 * neither stumbles over it.
 */
class BothVerifiersReadPoliciesAlikeTest {
  private static final String RULES =
      """
      {} | {"effect":{"tool":"calc"},"match":{}} | {"effect":{},"match":{},"require":{"cel":"true"}} |
      {"effect":{"tool":"calc"},"match":null,"require":{"cel":"true"}} |
      {"effect":{"tool":"calc"},"match":{},"require":{}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"all":5}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"all":[]}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"cel":"true","all":[{"cel":"true"}]}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"mandate":{}}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"none":[{"approvals":{"count":1,"role":"reviewer"}}]}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"approvals":{"count":0,"role":"reviewer"}}} |
      {"effect":{"tool":"calc"},"match":{},"require":{"artifact":{"role":"log","type":"a/b"}}}
      """;

  private static final String SECTIONS =
      """
      {"governance":{"approvals":{"r":"x"},"approvers":{"ada":["r"]},"runtimes":true,"tools":["*"]}} |
      {"governance":{"approvals":{"r":1},"approvers":{"ada":5},"runtimes":true,"tools":["*"]}} |
      {"governance":{"approvals":{"r":2},"approvers":{"ada":["r"]},"runtimes":true,"tools":["*"]}} |
      {"governance":{"approvals":{"r":1},"approvers":{"ada":["r"]},"runtimes":true,"tools":["a*b"]}} |
      {"mandates":{"audience":"a","issuers":[{"key":{"kty":"EC"},"name":"n","tenant":"acme"}]}} |
      {"retention":{"rules":[{"contents":["outputs"],"keep_s":9007199254740991,"match":{},"name":"a"}]}} |
      {"retention":{"archive_after_s":9007199254740991,"rules":[]}} |
      {"retention":{"rules":[{"contents":[],"keep_s":1,"match":{},"name":"a"}]}} |
      {"limits":{"pending_max_s":9007199254740991,"request_age_max_s":300,"request_bytes_max":1000}} |
      {"runs":{"idle_max_s":0}} | {"runs":{"idle_max_s":60,"shared_by":[{"tenant":"acme"}]}} |
      {"runs":{"idle_max_s":60,"shared_by":[{"everybody":true,"tenant":"acme"},{"everybody":true,"tenant":"acme"}]}} |
      {"runs":{"idle_max_s":60,"shared_by":[{"subjects":["bob"],"tenant":"acme"},{"roles":["worker"],"tenant":"acme"}]}} |
      {"prices":{"calc":-1}} | {"roles":{"worker":{}}} | {"budgets":[{}]} | {"temporal":{}} |
      {"temporal":{"hours":[{}],"order":[],"rates":[]}} | {"version":0} | {"execute_for":[""]} |
      {"principals":[{"roles":["worker","worker"],"subject":"alice","surfaces":[],"tenant":"acme"}]}
      """;

  /** Names that nothing defines. */
  private static final String NAMES =
      """
      {"execute_for":["stranger"]} | {"prices":{"gone":1}} |
      {"principals":[{"roles":["stranger"],"subject":"alice","surfaces":[],"tenant":"acme"}]} |
      {"requirements":[{"effect":{"tool":"gone"},"match":{},"require":{"cel":"true"}}]} |
      {"requirements":[{"effect":{"tool":"calc"},"match":{"role":"stranger"},"require":{"cel":"true"}}]} |
      {"requirements":[{"effect":{"tool":"calc"},"match":{"tool":"gone"},"require":{"cel":"true"}}]} |
      {"requirements":[{"effect":{"tool":"calc"},"match":{},"require":{"any":[{"cel":"true"},{"approvals":{"count":1,"role":"nobodys"}}]}}]} |
      {"requirements":[{"effect":{"tool":"calc"},"match":{},"require":{"mandate":{"amount":"/a","currency":"EUR","issuers":["bank"],"payee":"/p","vct":"v"}}}]} |
      {"temporal":{"hours":[],"order":[{"after":{"operation":"do","tool":"calc"},"effect":{"tool":"gone"}}],"rates":[]}} |
      {"temporal":{"hours":[],"order":[{"after":{"operation":"do","tool":"gone"},"effect":{"tool":"calc"}}],"rates":[]}} |
      {"temporal":{"hours":[],"order":[],"rates":[{"limit":1,"match":{"role":"stranger"},"name":"a","per_s":1,"scope":"tenant"}]}} |
      {"temporal":{"hours":[{"days":["mon"],"from":"08:00","match":{"tool":"gone"},"offset":"+00:00","to":"09:00"}],"order":[],"rates":[]}} |
      {"runs":{"idle_max_s":60,"shared_by":[{"roles":["stranger"],"tenant":"acme"}]}} |
      {"runs":{"idle_max_s":60,"shared_by":[{"subjects":["stranger"],"tenant":"acme"}]}} |
      {"runs":{"idle_max_s":60,"shared_by":[{"subjects":["alice"],"tenant":"other"}]}} |
      {"mandates":{"audience":"a","issuers":[{"key":{"crv":"Ed25519","kty":"OKP","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},"name":"n","tenant":"nowhere"}]}}
      """;

  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static JsonValue.Obj read(String json) {
    return (JsonValue.Obj) Jcs.parse(json.strip().getBytes(StandardCharsets.UTF_8));
  }

  private static JsonValue.Obj with(JsonValue.Obj document, JsonValue.Obj other) {
    TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
    all.putAll(other.members());
    return new JsonValue.Obj(all);
  }

  /** What the first verifier finds in the forged run. */
  private String found(TestHome home, UnaryOperator<JsonValue.Obj> change) {
    Digest policy =
        home.log().stream()
            .filter(event -> event.kind().equals(EventKind.POLICY_ACTIVATED))
            .map(Event::body)
            .findFirst()
            .orElseThrow();
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), policy, change, config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      byte[] bundle =
          BundleExport.forged(
              reader, Sample.RUN, Sample.packages(home), home.kernel().system().trust());
      OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
      return "nothing";
    } catch (WritException e) {
      return e.code().code();
    }
  }

  @Test
  void aNameThatNothingDefinesIsRefusedByBoth() {
    try (TestHome home = Sample.home(dir.resolve("home"))) {
      Sample.fill(home);
      home.kernel().checkpoint();
      for (String section : NAMES.split("\\|")) {
        JsonValue.Obj changed = read(section);
        assertThat(found(home, policy -> with(policy, changed))).as(section).isEqualTo("GRD-510");
      }
    }
  }

  @Test
  void whatIsNoPolicyIsRefusedByBoth() {
    try (TestHome home = Sample.home(dir.resolve("home"))) {
      Sample.fill(home);
      home.kernel().checkpoint();
      assertThat(found(home, policy -> policy)).isEqualTo("nothing");
      for (String rule : RULES.split("\\|")) {
        JsonValue.Obj changed = read("{\"requirements\":[" + rule.strip() + "]}");
        assertThat(found(home, policy -> with(policy, changed))).as(rule).startsWith("GRD-5");
      }
      for (String section : SECTIONS.split("\\|")) {
        JsonValue.Obj changed = read(section);
        assertThat(found(home, policy -> with(policy, changed))).as(section).startsWith("GRD-5");
      }
    }
  }
}
