package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.SystemStatement;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.document.CellCheckpoints.Stated;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKernel;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import dev.writ.verify.stamp.Stamps;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bundle of a cell is verified under the one root of its installation, by both verifiers alike;
 * the audit of the system cell finds what was forged in its statements.
 */
class TheRootOfAnInstallationCoversBundlesTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String CELL = TestHome.ORIGIN + "/cell-1";

  @TempDir static Path dir;
  private static TestHome system;
  private static Ledger cell;

  /** Of a run that was closed before the first statement, and between the first and the second. */
  private static byte[] first;

  private static byte[] second;

  private static InstallationProof early;
  private int forgeries;

  @BeforeAll
  static void make() {
    system = Sample.home(dir.resolve("system"));
    cell = Ledger.create(config("cell", CELL));
    Kernel.copy(cell, SystemStatement.read(system.ledger(), 0), new SeededRandom(7));
    Kernel kernel =
        new TestKernel(
                system.tools,
                List.of(system.driver),
                system.workspaces,
                Optional.empty(),
                TestKernel.SUMMARIZED_EVERY,
                system.clock,
                system.clock::elapsed,
                new SeededRandom(8))
            .open(cell);
    first = closed(kernel, "run-1");
    TreeMap<Integer, LedgerView> cells = new TreeMap<>();
    cells.put(1, cell);
    system.kernel().cells().state(cells);
    early = proof(first).orElseThrow();
    second = closed(kernel, "run-2");
    assertThat(proof(second)).as("not yet stated").isEmpty();
    system.kernel().cells().state(cells);
  }

  private static byte[] closed(Kernel kernel, String run) {
    kernel.submit(system.ask("alice").run(run).sign(), List.of());
    kernel.closeRun(system.close(TestKeys.TENANT, run, "alice"));
    return Sample.export(cell, system, new RunId(TestKeys.TENANT, run));
  }

  private static LedgerConfig config(String name, String origin) {
    return new LedgerConfig(
        dir.resolve(name),
        dir.resolve(name + ".anchor"),
        origin,
        TestKeys.key("log"),
        system.clock);
  }

  private static Optional<InstallationProof> proof(byte[] bundle) {
    try (Bundle opened = Bundle.of(bundle)) {
      return InstallationProofs.of(system.ledger(), cell, Optional.of(opened.checkpoint().size()));
    }
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path opinions) {
    cell.close();
    system.close();
    OPINION.compare(opinions);
  }

  private static BundleVerifier.Options asking(InstallationProof proof) {
    return new BundleVerifier.Options(
        Optional.of(Sample.pins()),
        Optional.empty(),
        true,
        WitnessRequirement.NONE,
        Stamps.NONE,
        Optional.of(InstallationProof.parse(proof.toBytes())));
  }

  private static String verdict(byte[] bundle, InstallationProof proof) {
    try {
      List<String> verified = OPINION.verify(bundle, asking(proof)).verified();
      return verified.stream()
          .filter(line -> line.startsWith("the installation"))
          .findFirst()
          .orElseThrow();
    } catch (WritException e) {
      return e.code().code();
    }
  }

  @Test
  void a_bundle_is_under_the_root_that_was_made_after_it() {
    Checkpoint root = early.root();
    assertThat(verdict(first, early))
        .isEqualTo(
            "the installation "
                + TestHome.ORIGIN
                + " of size "
                + root.size()
                + ", root "
                + root.root()
                + ": states this log of size "
                + Bundle.of(first).checkpoint().size());
    assertThat(verdict(second, proof(second).orElseThrow())).startsWith("the installation");
  }

  @Test
  void an_older_bundle_is_under_a_later_root() {
    InstallationProof later = proof(first).orElseThrow();
    assertThat(later.root().size()).isGreaterThan(early.root().size());
    assertThat(verdict(first, later)).startsWith("the installation");
  }

  @Test
  void a_proof_for_another_bundle_does_not_do() {
    assertThat(verdict(second, early)).as("of before").isEqualTo("RPL-026");
    assertThat(verdict(first, proof(second).orElseThrow())).isEqualTo("RPL-026");
  }

  @Test
  void the_system_cells_own_bundles_are_not_stated() {
    system.submit(system.ask("alice").run("run-3"));
    Sample.close(system, "run-3");
    byte[] own = Sample.export(system.ledger(), system, new RunId(TestKeys.TENANT, "run-3"));
    assertThat(verdict(own, early)).isEqualTo("RPL-026");
  }

  // The audit.

  @Test
  void the_audit_says_how_many_statements_hold() {
    AuditReport report = Forgers.audit(system, system.ledger());
    assertThat(report.problems()).isEmpty();
    assertThat(report.verified())
        .contains("2 statements on other cells' logs: signed, and none behind those before it");
    assertThat(system.fsck().problems()).isEmpty();
  }

  private static List<Event> statements() {
    return system.events(CellCheckpoints.RUN.tenant(), CellCheckpoints.RUN.run());
  }

  private static CellCheckpoints statement(int seq) {
    return CellCheckpoints.read(
        system.ledger().document(statements().get(seq).body()).orElseThrow().document());
  }

  private LedgerConfig forgery() {
    return config("forged" + ++forgeries + System.identityHashCode(this), TestHome.ORIGIN);
  }

  private static AuditReport audited(LedgerConfig forged) {
    try (LedgerView reader = Ledger.openReadOnly(forged.dir())) {
      return Forgers.audit(system, reader);
    }
  }

  private static List<String> codes(AuditReport report) {
    return report.problems().stream().map(problem -> problem.code().code()).toList();
  }

  /** The second statement says something else. */
  private AuditReport saying(UnaryOperator<CellCheckpoints> change) {
    LedgerConfig forged = forgery();
    Forgers.rewrite(
        system.ledger(),
        statements().get(1).body(),
        document -> change.apply(CellCheckpoints.read(document)).toJson(),
        forged);
    return audited(forged);
  }

  private AuditReport saying(Checkpoint checkpoint, long incarnation) {
    return saying(said ->
        new CellCheckpoints(List.of(new Stated(1, checkpoint, incarnation)), said.statedAt()));
  }

  private static Checkpoint signed(String origin, long size, Digest root, String by) {
    return Checkpoint.sign(origin, size, root, TestKeys.key(by));
  }

  @Test
  void two_roots_of_one_size_are_found() {
    Checkpoint before = statement(0).of(1).orElseThrow().checkpoint();
    AuditReport report = saying(signed(CELL, before.size(), Digest.sha256(), "log"), 1);
    assertThat(codes(report)).containsExactly("EXE-997");
    assertThat(report.problems().getFirst().recorded()).contains(Digest.sha256().toString());
    assertThat(report.problems().getFirst().recomputed()).contains(before.root().toString());
  }

  @Test
  void a_size_or_an_incarnation_that_falls_is_found() {
    Checkpoint before = statement(0).of(1).orElseThrow().checkpoint();
    assertThat(codes(saying(signed(CELL, before.size() - 1, Digest.sha256(), "log"), 1)))
        .containsExactly("EXE-997");
    LedgerConfig forged = forgery();
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(
        statements().get(0).body(),
        document -> {
          Stated one = CellCheckpoints.read(document).of(1).orElseThrow();
          return new CellCheckpoints(
                  List.of(new Stated(1, one.checkpoint(), 2)), statement(0).statedAt())
              .toJson();
        });
    Forgers.rewrite(system.ledger(), changes, forged);
    assertThat(codes(audited(forged))).containsExactly("EXE-997");
  }

  @Test
  void a_backup_that_an_operator_put_in_service_is_told_and_no_problem() {
    Checkpoint before = statement(0).of(1).orElseThrow().checkpoint();
    AuditReport report = saying(signed(CELL, before.size() - 1, Digest.sha256(), "log"), 2);
    assertThat(report.problems()).isEmpty();
    assertThat(report.verified())
        .contains(
            "2 statements on other cells' logs: signed, and none behind those before it, but for 1"
                + " where an operator put a backup in service");
  }

  @Test
  void a_cell_that_is_left_out_is_found() {
    Checkpoint other = signed(TestHome.ORIGIN + "/cell-2", 1, Digest.sha256(), "log");
    assertThat(
            codes(
                saying(said ->
                    new CellCheckpoints(List.of(new Stated(2, other, 1)), said.statedAt()))))
        .containsExactly("EXE-997");
  }

  @Test
  void checkpoints_of_another_key_or_log_are_found() {
    Checkpoint now = statement(1).of(1).orElseThrow().checkpoint();
    assertThat(codes(saying(signed(CELL, now.size(), now.root(), "stranger"), 1)))
        .containsExactly("EXE-951");
    assertThat(codes(saying(signed(CELL + "0", now.size(), now.root(), "log"), 1)))
        .containsExactly("EXE-951");
  }

  @Test
  void a_statement_is_the_guardians_at_its_time_and_place_and_in_its_form() {
    LedgerConfig forged = forgery();
    TreeMap<Digest, String> signers = new TreeMap<>();
    signers.put(statements().get(1).body(), "executor");
    Forgers.rewrite(system.ledger(), new TreeMap<>(), signers, forged);
    assertThat(codes(audited(forged))).containsExactly("EXE-951");
    assertThat(
            codes(saying(said -> new CellCheckpoints(said.cells(), said.statedAt().plusMillis(1)))))
        .containsExactly("EXE-953");
    List<Stated> twice = new ArrayList<>(statement(1).cells());
    twice.addAll(statement(1).cells());
    assertThat(codes(saying(said -> new CellCheckpoints(twice, said.statedAt()))))
        .containsExactly("EXE-952");
    LedgerConfig other = forgery();
    Event last = statements().get(1);
    Forgers.rewrite(
        system.ledger(),
        last,
        event ->
            new Event(
                event.tenant(),
                event.run(),
                event.seq(),
                "content.read",
                event.prev(),
                event.body(),
                event.at(),
                event.prngSeed()),
        other);
    assertThat(codes(audited(other))).containsExactly("EXE-954");
  }
}
