package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestGovernance;
import dev.writ.fixture.TestHome;
import dev.writ.guardian.policy.governance.RolloutStage;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The way of a tool from its submission to its revocation, in one run's bundle; and the same forged
 * by who holds every key, with all else made to fit: what is not as spec/tool-governance.md says is
 * found by both verifiers and by the audit.
 */
class BothVerifiersHoldGovernanceTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;
  private GovernedTool tool;
  private TestHome home;

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  @BeforeEach
  void open() {
    tool = new GovernedTool(dir.resolve("home"));
    home = tool.home;
  }

  @AfterEach
  void close() {
    tool.close();
  }

  private AuditReport audit(LedgerView ledger) {
    return Audit.check(ledger, new Tools(home.tools, home.drivers), (_, _) -> {});
  }

  @Test
  void the_whole_way_of_a_tool_is_verified_and_audited() {
    tool.wholeWay();
    byte[] bundle = Sample.export(home);
    assertThat(OPINION.pinned(bundle).pinned()).isTrue();
    assertThat(audit(home.ledger()).problems()).isEmpty();
  }

  @Test
  void a_refused_runtime_is_verified_and_audited() {
    tool.refusedRuntime();
    assertThat(OPINION.pinned(Sample.export(home)).pinned()).isTrue();
    assertThat(audit(home.ledger()).problems()).isEmpty();
  }

  // Forged.

  private static UnaryOperator<JsonValue.Obj> set(String member, JsonValue value) {
    return document -> put(document, member, value);
  }

  private static JsonValue.Obj put(JsonValue.Obj document, String member, JsonValue value) {
    TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
    if (value == null) {
      all.remove(member);
    } else {
      all.put(member, value);
    }
    return new JsonValue.Obj(all);
  }

  /** Changes a member of a member. */
  private static UnaryOperator<JsonValue.Obj> in(
      String outer, UnaryOperator<JsonValue.Obj> change) {
    return document ->
        put(document, outer, change.apply((JsonValue.Obj) document.members().get(outer)));
  }

  private List<Digest> bodies(String kind) {
    return home.log().stream().filter(e -> e.kind().equals(kind)).map(Event::body).toList();
  }

  private Digest body(String kind, Predicate<String> payload) {
    return bodies(kind).stream()
        .filter(id -> payload.test(home.document(id).document().toString()))
        .findFirst()
        .orElseThrow();
  }

  private Digest staged(RolloutStage stage) {
    return body(EventKind.TOOL_STAGED, text -> text.contains(stage.text()));
  }

  private String found(Digest document, UnaryOperator<JsonValue.Obj> change) {
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(document, change);
    return found(changes, new TreeMap<>());
  }

  /** The first thing that a verifier finds wrong with the forged run; the audit finds it too. */
  private String found(
      TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes, TreeMap<Digest, String> signers) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), changes, signers, config);
    byte[] bundle;
    AuditReport audit;
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      bundle =
          BundleExport.forged(
              reader, Sample.RUN, Sample.packages(home), home.kernel().system().trust());
      audit = audit(reader);
    }
    try {
      OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
    } catch (WritException e) {
      assertThat(audit.problems()).isNotEmpty();
      return e.code().code() + " " + e.found();
    }
    assertThat(audit.problems()).isEmpty();
    return "nothing";
  }

  @Test
  void a_forged_way_is_found() {
    tool.wholeWay();
    assertThat(found(bodies(EventKind.TOOL_SUBMITTED).getFirst(), document -> document))
        .isEqualTo("nothing");
    approvals();
    stages();
    decisions();
  }

  private void approvals() {
    Digest ada = body(EventKind.TOOL_APPROVED, text -> text.contains("ada"));
    Digest other = TestGovernance.other(tool.words).packageDigest();
    // Of another package: whoever approves that says nothing of this one.
    assertThat(found(ada, set("package", JsonValue.of(other.toString())))).startsWith("EXE-915");
    // One too few: her word is for a role that policy gives her not, or is a rejection.
    assertThat(found(ada, set("role", JsonValue.of("security")))).startsWith("EXE-916");
    assertThat(found(ada, set("verdict", JsonValue.of("reject")))).startsWith("EXE-917");
    // In the name of somebody else, by her own key.
    assertThat(found(ada, set("approver", JsonValue.of("dan")))).startsWith("EXE-916");
    // Twice by one approver.
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    TreeMap<Digest, String> signers = new TreeMap<>();
    changes.put(ada, set("approver", JsonValue.of("ben")));
    signers.put(ada, "ben");
    assertThat(found(changes, signers)).startsWith("EXE-914");
    // By its publisher: the key of a publisher approves nothing.
    changes.put(ada, set("approver", JsonValue.of("pub")));
    signers.put(ada, "pub");
    assertThat(found(changes, signers)).startsWith("CAN-053");
    // By an approver of one tenant.
    changes.put(ada, set("approver", JsonValue.of("rita")));
    signers.put(ada, "rita");
    assertThat(found(changes, signers)).startsWith("CAN-053");
    // Long before it was submitted.
    assertThat(found(ada, set("approved_at", JsonValue.of("2026-11-21T11:00:00.000Z"))))
        .startsWith("EXE-914");
  }

  private void stages() {
    Digest active = staged(RolloutStage.ACTIVE);
    Digest deprecated = staged(RolloutStage.DEPRECATED);
    Digest validated = bodies(EventKind.TOOL_VALIDATED).getFirst();
    JsonValue finding =
        JsonValue.of(
            List.of(
                JsonValue.object()
                    .put("code", "TOL-211")
                    .put("place", "src/tool.py 1:1")
                    .put("found", "socket")
                    .build()));
    assertThat(found(validated, in("detail", set("findings", finding)))).startsWith("EXE-917");
    // The validation is one of another package, so this one has none.
    Digest other = TestGovernance.other(tool.words).packageDigest();
    assertThat(found(validated, in("detail", set("package", JsonValue.of(other.toString())))))
        .startsWith("EXE-915");
    assertThat(found(active, in("detail", set("package", JsonValue.of(other.toString())))))
        .startsWith("EXE-915");
    // Retired and yet deprecated afterwards; from canary at once to deprecated.
    assertThat(found(active, in("detail", set("stage", JsonValue.of("retired")))))
        .startsWith("EXE-914");
    assertThat(found(active, in("detail", set("stage", JsonValue.of("deprecated")))))
        .startsWith("EXE-914");
    // A stage that is said to be older than the one before is a repeat of an old document.
    assertThat(found(deprecated, set("changed_at", JsonValue.of("2026-11-21T12:00:00.000Z"))))
        .startsWith("EXE-914");
    assertThat(found(active, in("detail", set("canary", canary("acme", 5))))).startsWith("CAN-023");
    assertThat(found(staged(RolloutStage.CANARY), in("detail", set("canary", canary("acme", 101)))))
        .startsWith("CAN-023");
    // Signed by who operates nothing.
    TreeMap<Digest, String> signers = new TreeMap<>();
    signers.put(active, "pub");
    assertThat(found(new TreeMap<>(), signers)).startsWith("CAN-053");
  }

  private static JsonValue canary(String tenant, int percent) {
    return JsonValue.object()
        .put("percent", (long) percent)
        .putList("tenants", List.of(tenant), JsonValue::of)
        .build();
  }

  private void decisions() {
    Digest canary =
        body(EventKind.TOOL_STAGED, text -> text.contains("canary") && text.contains("acme"));
    Digest allowed =
        body(
            EventKind.DECISION_MADE,
            text -> text.contains("ALLOW") && text.contains("canary") && text.contains("acme"));
    // The tenant was never in the trial, and its decision says that it was.
    assertThat(found(canary, in("detail", set("canary", canary("other", 0)))))
        .startsWith("EXE-956")
        .contains("/inputs/governed");
    // The decision says that too, and allows it all the same.
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(canary, in("detail", set("canary", canary("other", 0))));
    changes.put(allowed, in("inputs", in("governed", set("canary", canary("other", 0)))));
    assertThat(found(changes, new TreeMap<>())).startsWith("EXE-956");
    // The decision does not say that its tool is governed.
    assertThat(found(allowed, in("inputs", set("governed", null))))
        .startsWith("EXE-956")
        .contains("/inputs/governed");
    assertThat(found(allowed, in("inputs", in("governed", set("stage", JsonValue.of("active"))))))
        .startsWith("EXE-956");
  }
}
