package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A request that names no idempotency key has its id as one (spec/request.md). Another request of
 * the same subject that names that id has the same key, and only one of them may be dispatched.
 */
class BothVerifiersHoldKeysTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;
  private TestHome home;
  private List<Digest> asked;

  /** Of alice, bob, alice, bob, in this order. */
  @BeforeEach
  void open() {
    home = SharedRun.home(dir.resolve("home"));
    SharedRun.taken(home);
    home.kernel().checkpoint();
    asked = bodies(EventKind.REQUEST_RECEIVED);
  }

  @AfterEach
  void close() {
    home.close();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private List<Digest> bodies(String kind) {
    return home.events(TestKeys.TENANT, "run-1").stream()
        .filter(event -> event.kind().equals(kind))
        .map(event -> event.body())
        .toList();
  }

  /** What the verifiers find wrong where a request was dispatched under that key; so the audit. */
  private String found(Digest request, String key) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(
        home.ledger(),
        request,
        document -> {
          TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
          all.put("idempotency_key", JsonValue.of(key));
          return new JsonValue.Obj(all);
        },
        config);
    byte[] bundle;
    AuditReport audit;
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      bundle =
          BundleExport.of(reader, Sample.RUN, Sample.packages(home), BundleExport.Options.WHOLE);
      audit = Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
    try {
      OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
    } catch (WritException e) {
      assertThat(audit.problems()).extracting(AuditReport.Problem::code).contains(e.code());
      return e.code().code();
    }
    return "nothing";
  }

  @Test
  void the_id_of_an_earlier_request_of_the_same_subject_is_taken() {
    assertThat(found(asked.get(2), asked.get(0).toString())).isEqualTo("EXE-957");
  }

  @Test
  void the_id_of_a_later_one_is_taken_from_it() {
    assertThat(found(asked.get(0), asked.get(2).toString())).isEqualTo("EXE-957");
  }

  @Test
  void what_only_looks_like_such_an_id_is_a_key_like_any_other() {
    assertThat(found(asked.get(1), asked.get(0).toString())).isEqualTo("nothing"); // of another
    String decision = bodies(EventKind.DECISION_MADE).getFirst().toString();
    assertThat(found(asked.get(2), decision)).isEqualTo("nothing");
    assertThat(found(asked.get(2), Digest.sha256().toString())).isEqualTo("nothing");
    assertThat(found(asked.get(2), "sha256:" + "0".repeat(63) + "g")).isEqualTo("nothing");
  }
}
