package dev.writ.verify.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestWorkspaces;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.error.LedgerError;
import dev.writ.verify.audit.AuditReport.Problem;
import dev.writ.verify.error.AuditError;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The rows by which a workspace is in quarantine, and waits for its wipe, follow from the events.
 */
class RowsOfWorkspacesAreHeldTest {
  private static final String RUN = Tables.key("acme", "run-1");

  @TempDir Path dir;

  private TestHome home() {
    TestHome home = TestHome.withWorkspaces(dir);
    home.driver.does(
        "desk",
        invocation -> {
          home.workspaces.append(invocation, "a");
          return Behaviours.echo(invocation);
        });
    return home;
  }

  private static TestRequest desk(TestHome home) {
    return home.ask("alice").tool("desk");
  }

  private static Served doubt(TestHome home, TestRequest request) {
    AtomicInteger writes = new AtomicInteger();
    home.beforeWrite(() -> {
      if (writes.incrementAndGet() == 2) {
        throw new WritException(LedgerError.DISK_FULL, "for a test");
      }
    });
    assertThat(Refused.code(() -> home.submit(request))).isEqualTo("LED-005");
    home.beforeWrite(() -> {});
    home.restart();
    return home.submit(request).served().orElseThrow();
  }

  /** The places of what is wrong when the rows are changed; nothing is before. */
  private static List<String> found(TestHome home, Consumer<Batch> change) {
    assertThat(AHealthyLedgerHasNoProblemsTest.audit(home).problems()).isEmpty();
    home.stop();
    try (Ledger ledger = Ledger.open(home.ledgerConfig())) {
      Batch batch = new Batch();
      change.accept(batch);
      ledger.append(batch).await();
    }
    List<Problem> problems = AHealthyLedgerHasNoProblemsTest.audit(home).problems();
    assertThat(problems).extracting(Problem::code).containsOnly(AuditError.ROW);
    home.restart();
    return problems.stream().map(Problem::place).toList();
  }

  @Test
  void a_quarantine_that_is_lifted_by_hand_or_says_another_tree() {
    try (TestHome home = home()) {
      TestRequest request = desk(home);
      doubt(home, request);
      String key = Tables.key("acme", "run-1", request.id().hex());
      String place = "row unsettled acme/run-1/" + request.id().hex();
      assertThat(home.ledger().get(Tables.UNSETTLED, key)).isPresent();
      assertThat(found(home, batch -> batch.put(Tables.UNSETTLED, key, new byte[] {1})))
          .containsExactly(place);
    }
  }

  @Test
  void a_quarantine_that_is_gone() {
    try (TestHome home = home()) {
      TestRequest request = desk(home);
      doubt(home, request);
      String key = Tables.key("acme", "run-1", request.id().hex());
      assertThat(found(home, batch -> batch.delete(Tables.UNSETTLED, key)))
          .containsExactly("row unsettled acme/run-1/" + request.id().hex());
    }
  }

  @Test
  void a_quarantine_that_nothing_caused() {
    try (TestHome home = home()) {
      home.submit(desk(home));
      Digest unknown = TestWorkspaces.digest("unknown");
      assertThat(
              found(
                  home,
                  batch ->
                      batch.put(
                          Tables.UNSETTLED,
                          Tables.key("acme", "run-1", unknown.hex()),
                          unknown.bytes())))
          .containsExactly("row unsettled acme/run-1/" + unknown.hex());
      assertThat(Refused.code(() -> home.submit(desk(home)))).isEqualTo("EXE-311"); // fails closed
    }
  }

  @Test
  void a_quarantine_that_was_resolved_is_back() {
    try (TestHome home = home()) {
      TestRequest request = desk(home);
      Served doubt = doubt(home, request);
      home.kernel().resolve(home.resolution(doubt, Resolution.Found.HAPPENED));
      String key = Tables.key("acme", "run-1", request.id().hex());
      assertThat(found(home, batch -> batch.put(Tables.UNSETTLED, key, new byte[32])))
          .containsExactly("table unsettled");
    }
  }

  @Test
  void a_workspace_that_would_not_be_wiped_and_one_that_nobody_used() {
    try (TestHome home = home()) {
      home.submit(desk(home));
      home.submit(home.ask("alice").tool("mail").run("run-2"));
      assertThat(found(home, batch -> batch.delete(Tables.WORKSPACE, RUN)))
          .containsExactly("row workspace acme/run-1");
    }
  }

  @Test
  void a_workspace_that_nobody_used() {
    try (TestHome home = home()) {
      home.submit(home.ask("alice").tool("mail").run("run-2"));
      assertThat(
              found(
                  home,
                  batch -> batch.put(Tables.WORKSPACE, Tables.key("acme", "run-9"), new byte[0])))
          .containsExactly("row workspace acme/run-9");
    }
  }

  /** While an effect is inside, and when nobody saw its end yet. */
  @Test
  void what_runs_has_its_rows() {
    try (TestHome home = home()) {
      List<List<Problem>> during = new ArrayList<>();
      home.driver.does(
          "desk",
          invocation -> {
            during.add(AHealthyLedgerHasNoProblemsTest.audit(home).problems());
            return Behaviours.echo(invocation);
          });
      home.submit(desk(home));
      home.submit(desk(home).pins(TestWorkspaces.digest("")));
      assertThat(during).containsExactly(List.of(), List.of());
      TestRequest left = desk(home);
      AtomicInteger writes = new AtomicInteger();
      home.beforeWrite(() -> {
        if (writes.incrementAndGet() == 2) {
          throw new WritException(LedgerError.DISK_FULL, "for a test");
        }
      });
      assertThat(Refused.code(() -> home.submit(left))).isEqualTo("LED-005");
      home.stop();
      home.beforeWrite(() -> {});
      assertThat(AHealthyLedgerHasNoProblemsTest.audit(home).problems()).isEmpty();
      String key = Tables.key("acme", "run-1", left.id().hex());
      try (Ledger ledger = Ledger.open(home.ledgerConfig())) {
        ledger.append(new Batch().delete(Tables.UNSETTLED, key)).await();
      }
      assertThat(AHealthyLedgerHasNoProblemsTest.audit(home).problems())
          .extracting(Problem::place)
          .containsExactly("row unsettled acme/run-1/" + left.id().hex());
      home.restart();
    }
  }
}
