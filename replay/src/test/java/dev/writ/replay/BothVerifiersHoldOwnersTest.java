package dev.writ.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.audit.Audit;
import dev.writ.executor.audit.AuditReport;
import dev.writ.executor.audit.Forgers;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.executor.testing.Refused;
import dev.writ.executor.testing.TestHome;
import dev.writ.executor.testing.TestKeys;
import dev.writ.executor.testing.TestPolicy;
import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.replay.engine.ReplaySeam;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whose a run is: the audit and both verifiers hold it against the run's first request, also where
 * the guardian's key is in the wrong hands and all else was made to fit.
 */
class BothVerifiersHoldOwnersTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String VOUCHED =
      TestPolicy.YAML
          .replace(
              "subject: alice, roles: [worker]",
              "subject: alice, roles: [reader, worker], surfaces: [mcp]")
          .replace(
              "subject: bob, roles: [worker]",
              "subject: bob, roles: [reader, worker], surfaces: [mcp]")
          .replace(
              "  stand-in:\n",
              """
                reader:
                  tools: []
                  resources: { cpu_ms: 0, memory_bytes: 0, output_bytes: 0, wall_ms: 0 }
                  sandboxes: []
                stand-in:
              """);
  private static final String SHARED =
      VOUCHED
          + "runs: { idle_max_s: 60, shared_by: [ { tenant: acme, surfaces: [mcp], roles: [reader]"
          + " } ] }\n";

  @TempDir Path dir;
  private TestHome home;
  private int forgeries;

  @BeforeEach
  void open() {
    home = TestHome.create(dir.resolve("home"));
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.enrol(TestKeys.trusted("mcp", KeyRole.SURFACE, Optional.of(TestKeys.TENANT)));
    home.activate(SHARED);
  }

  @AfterEach
  void close() {
    home.close();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private Envelope vouched(String subject, Optional<String> named, Optional<List<String>> roles) {
    Request plain = home.ask(subject).run(named.isPresent() ? "refusals" : "run-1").request();
    Request request =
        new Request(
            plain.scope(),
            plain.effect(),
            plain.consumes(),
            plain.idempotencyKey(),
            plain.nonce(),
            plain.requestedAt(),
            plain.retention(),
            plain.context(),
            Optional.of(
                new Origin(
                    "mcp",
                    "bearer",
                    "token",
                    Digest.sha256(new byte[0]),
                    Optional.empty(),
                    named,
                    roles)),
            plain.evidence(),
            plain.delegations());
    return Envelope.sign(Request.TYPE, request.toJson(), TestKeys.key("mcp"));
  }

  private Envelope vouched(String subject) {
    return vouched(subject, Optional.empty(), Optional.empty());
  }

  private static UnaryOperator<JsonValue.Obj> in(
      String object, UnaryOperator<JsonValue.Obj> change) {
    return document -> {
      TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
      all.put(object, change.apply((JsonValue.Obj) all.get(object)));
      return new JsonValue.Obj(all);
    };
  }

  private static UnaryOperator<JsonValue.Obj> set(String member, Optional<JsonValue> value) {
    return document -> {
      TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
      all.remove(member);
      value.ifPresent(v -> all.put(member, v));
      return new JsonValue.Obj(all);
    };
  }

  /** What the verifiers find wrong where one document was forged; the audit finds it too. */
  private String found(Digest document, UnaryOperator<JsonValue.Obj> change) {
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(document, change);
    Path at = dir.resolve("forged" + ++forgeries);
    LedgerConfig config =
        new LedgerConfig(
            at,
            at.resolveSibling(at.getFileName() + ".anchor"),
            TestHome.ORIGIN,
            TestKeys.key("log"),
            home.clock);
    Forgers.rewrite(home.ledger(), changes, config);
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
      assertThat(audit.problems())
          .extracting(AuditReport.Problem::code)
          .contains((ExecutorError) e.code());
      return e.code().code() + " " + e.found();
    }
    assertThat(audit.problems()).isEmpty();
    return "nothing";
  }

  private Digest nth(String kind, int n) {
    return home.events(TestKeys.TENANT, "run-1").stream()
        .filter(event -> event.kind().equals(kind))
        .toList()
        .get(n)
        .body();
  }

  @Test
  void what_a_shared_run_records_is_verified_and_replayed() {
    for (String who : List.of("alice", "bob", "alice")) {
      assertThat(home.submit(vouched(who)).decision().verdict()).isEqualTo(Verdict.ALLOW);
    }
    home.restart();
    assertThat(home.submit(vouched("bob")).decision().verdict()).isEqualTo(Verdict.ALLOW);
    ReplaySeam.completely(home, Sample.RUN);
    Digest alices = nth(EventKind.DECISION_MADE, 0);
    Digest bobs = nth(EventKind.DECISION_MADE, 1);
    assertThat(found(bobs, UnaryOperator.identity())).isEqualTo("nothing");
    assertThat(found(bobs, in("inputs", set("owner", Optional.of(JsonValue.of("bob"))))))
        .startsWith("EXE-956")
        .contains("/inputs/owner");
    assertThat(found(bobs, in("inputs", set("owner", Optional.empty()))))
        .startsWith("EXE-956"); // one before it has it
    assertThat(found(alices, in("inputs", set("owner", Optional.empty()))))
        .isEqualTo("nothing"); // as a decision of older days
    Digest asked = nth(EventKind.REQUEST_RECEIVED, 1);
    JsonValue narrow = JsonValue.of(List.<JsonValue>of(JsonValue.of("worker")));
    assertThat(found(asked, in("origin", set("roles", Optional.of(narrow)))))
        .startsWith("EXE-956"); // so it was not bob's to use
    assertThat(found(asked, in("origin", set("run", Optional.of(JsonValue.of("case-7"))))))
        .startsWith("EXE-956"); // nor one that was refused elsewhere
  }

  @Test
  void what_is_refused_is_not_in_the_run_and_what_waited_is_denied_in_it() {
    home.activate(VOUCHED);
    home.submit(vouched("alice"));
    int events = home.events(TestKeys.TENANT, "run-1").size();
    assertThat(Refused.code(() -> home.submit(vouched("bob")))).isEqualTo("GRD-721");
    assertThat(home.events(TestKeys.TENANT, "run-1")).hasSize(events);
    assertThat(home.submit(vouched("bob", Optional.of("case-7"), Optional.empty())).decision())
        .satisfies(d -> assertThat(d.code()).contains("GRD-721"));
    home.activate(SHARED);
    Answer decided = home.decide(vouched("bob"));
    assertThat(decided.decision().verdict()).isEqualTo(Verdict.ALLOW);
    Envelope again = home.document(decided.request());
    home.activate(VOUCHED); // its snapshot is gone, and policy shares no more
    Answer denied = home.submit(again);
    assertThat(denied.decision().verdict()).isEqualTo(Verdict.DENY);
    assertThat(denied.decision().code()).contains("GRD-721");
    ReplaySeam.completely(home, Sample.RUN);
    assertThat(found(nth(EventKind.DECISION_MADE, 0), UnaryOperator.identity()))
        .isEqualTo("nothing");
  }
}
