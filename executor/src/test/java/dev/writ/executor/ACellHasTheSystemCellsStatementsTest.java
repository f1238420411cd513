package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.error.ExecutorError;
import dev.writ.fixture.Refused;
import dev.writ.fixture.SeededRandom;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKernel;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Status;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The system run of a cell is brought up to that of the system cell before a kernel is opened over
 * it, statement by statement, and nothing else gets there (spec/cells.md).
 */
class ACellHasTheSystemCellsStatementsTest {
  @TempDir Path dir;
  private TestHome system;
  private Ledger cell;

  @BeforeEach
  void start() {
    system = TestHome.create(dir.resolve("system"));
    cell =
        Ledger.create(
            new LedgerConfig(
                dir.resolve("cell"),
                dir.resolve("cell-anchor.json"),
                "writ.example/log/cell-1",
                TestKeys.key("log"),
                InstantSource.fixed(TestHome.START)));
  }

  @AfterEach
  void stop() {
    cell.close();
    system.close();
  }

  private List<SystemStatement> stated() {
    return SystemStatement.read(system.ledger(), 0);
  }

  private void copy(List<SystemStatement> statements) {
    Kernel.copy(cell, statements, new SeededRandom(7));
  }

  private List<Event> events() {
    List<Event> all = new ArrayList<>();
    cell.events(SystemState.RUN, 0, all::add);
    return all;
  }

  private Kernel kernel() {
    return new TestKernel(
            system.tools,
            List.of(system.driver),
            system.workspaces,
            Optional.empty(),
            TestKernel.SUMMARIZED_EVERY,
            system.clock,
            system.clock::elapsed,
            new SeededRandom(8))
        .open(cell);
  }

  private static List<Digest> documents(List<SystemStatement> statements) {
    return statements.stream().map(statement -> statement.document().id()).toList();
  }

  @Test
  void the_same_statements_at_the_same_times() {
    system.clock.forward(Duration.ofHours(1));
    system.enrol(TestKeys.trusted("stranger", KeyRole.LOG, Optional.empty()));
    system.clock.forward(Duration.ofHours(1));
    system.activate(TestPolicy.SHARED);
    copy(stated());
    assertThat(documents(SystemStatement.read(cell, 0))).isEqualTo(documents(stated()));
    assertThat(SystemStatement.read(cell, 0).stream().map(SystemStatement::at))
        .isEqualTo(stated().stream().map(SystemStatement::at).toList());
    assertThat(SystemStatement.count(cell)).isEqualTo(SystemStatement.count(system.ledger()));
  }

  @Test
  void only_what_is_missing_is_appended() {
    copy(stated());
    List<Event> before = events();
    copy(stated());
    assertThat(events()).isEqualTo(before);
    system.revoke("alice");
    copy(stated());
    assertThat(events()).hasSize(before.size() + 1).startsWith(before.toArray(Event[]::new));
  }

  @Test
  void what_is_about_one_log_alone_is_not_shared() {
    system.backup();
    system.clock.back(Duration.ofDays(1));
    system.correctClock();
    assertThat(system.kinds("writ", "system")).contains("clock.corrected");
    copy(stated());
    assertThat(events().stream().map(Event::kind)).doesNotContain("clock.corrected");
    assertThat(SystemStatement.count(cell)).isEqualTo(stated().size());
  }

  @Test
  void a_statement_from_before_the_end_of_the_log_gets_the_logs_time() {
    List<SystemStatement> all = stated();
    SystemStatement last = all.getLast();
    Instant before = all.get(all.size() - 2).at();
    List<SystemStatement> earlier = new ArrayList<>(all.subList(0, all.size() - 1));
    earlier.add(new SystemStatement(last.seq(), before.minusSeconds(5), last.document()));
    copy(earlier);
    assertThat(events().getLast().at()).isEqualTo(before);
  }

  @Test
  void a_log_that_has_more_than_the_system_cell_is_refused_and_not_written() {
    copy(stated());
    List<Event> before = events();
    List<SystemStatement> fewer = stated().subList(0, stated().size() - 1);
    assertThat(Refused.code(() -> copy(fewer))).isEqualTo("EXE-993");
    List<SystemStatement> others = new ArrayList<>(fewer);
    others.addFirst(stated().getLast());
    assertThat(Refused.code(() -> copy(others))).isEqualTo("EXE-993");
    assertThat(events()).isEqualTo(before);
  }

  @Test
  void a_statement_that_does_not_hold_is_refused_and_those_before_it_stay() {
    List<SystemStatement> all = new ArrayList<>(stated());
    all.add(all.getFirst()); // the same statement a second time
    assertThat(Refused.code(() -> copy(all))).isEqualTo("CAN-056");
    assertThat(SystemStatement.count(cell)).isEqualTo(stated().size());
  }

  @Test
  void an_effect_there_is_judged_by_what_was_copied() {
    system.prohibit("mail", "1.0.0");
    copy(stated());
    Kernel kernel = kernel();
    assertThat(
            Refused.code(() -> kernel.submit(system.ask("alice").tool("mail").sign(), List.of())))
        .isEqualTo("EXE-303");
    assertThat(
            kernel
                .submit(system.ask("alice").sign(), List.of())
                .served()
                .orElseThrow()
                .receipt()
                .status())
        .isEqualTo(Status.SUCCEEDED);
  }

  @Test
  void a_kernel_follows_statements_of_every_kind() {
    copy(stated());
    Kernel kernel = kernel();
    int[] told = {0};
    kernel.whenChanged(() -> told[0]++);
    int before = stated().size();
    system.revoke("alice");
    system.activate(TestPolicy.SHARED);
    for (SystemStatement next : stated().subList(before, stated().size())) {
      kernel.follow(next.document());
    }
    assertThat(documents(SystemStatement.read(cell, 0))).isEqualTo(documents(stated()));
    assertThat(told[0]).isEqualTo(2);
    assertThat(kernel.system().policyInForce().digest()).isEqualTo(system.policy().digest());
    assertThat(Refused.code(() -> kernel.submit(system.ask("alice").sign(), List.of())))
        .isEqualTo("CAN-055");
  }

  /** Rules that refuse what they are set to. */
  private static final class Strict implements CellRules {
    private final List<String> refused = new ArrayList<>();
    private int changes;

    private void require(String what, ExecutorError error) {
      if (refused.contains(what)) {
        throw new WritException(error, what);
      }
    }

    @Override
    public void requireTenant(String tenant) {
      require(tenant, ExecutorError.OTHER_CELL);
    }

    @Override
    public void requireCurrent() {
      require("current", ExecutorError.CELL_BEHIND);
    }

    @Override
    public void requireSystem() {
      require("system", ExecutorError.NOT_SYSTEM_CELL);
    }

    @Override
    public void requireCell(int cell) {
      require("cell", ExecutorError.CELL_UNKNOWN);
    }

    @Override
    public int number() {
      return 1;
    }

    @Override
    public int count() {
      return 4;
    }

    @Override
    public LedgerView log(int cell) {
      throw new AssertionError("no other log is looked at");
    }

    @Override
    public void changed() {
      changes++;
    }
  }

  @Test
  void a_kernel_asks_the_rules_of_its_cell_before_it_writes() {
    copy(stated());
    Kernel kernel = kernel();
    Strict rules = new Strict();
    kernel.inCell(rules);
    rules.refused.add("acme");
    assertThat(Refused.code(() -> kernel.submit(system.ask("alice").sign(), List.of())))
        .isEqualTo("EXE-990");
    assertThat(
            Refused.code(() ->
                kernel.contents().put("acme", new ByteArrayInputStream(new byte[3]), "text/plain")))
        .isEqualTo("EXE-990");
    assertThat(Refused.code(() -> kernel.closeRun(system.close("acme", "run-1", "alice"))))
        .isEqualTo("EXE-990");
    rules.refused.set(0, "current");
    assertThat(Refused.code(() -> kernel.submit(system.ask("alice").sign(), List.of())))
        .isEqualTo("EXE-991");
    assertThat(Refused.code(() -> kernel.contents().retain(system.clock.instant())))
        .isEqualTo("EXE-991");
    rules.refused.set(0, "system");
    assertThat(Refused.code(() -> kernel.activate(system.signed(system.policy()))))
        .isEqualTo("EXE-992");
    assertThat(
            Refused.code(() ->
                kernel.change(
                    system.enrolment(TestKeys.trusted("stranger", KeyRole.LOG, Optional.empty())))))
        .isEqualTo("EXE-992");
    assertThat(SystemStatement.count(cell)).isEqualTo(stated().size());
    rules.refused.clear();
    kernel.change(system.enrolment(TestKeys.trusted("stranger", KeyRole.LOG, Optional.empty())));
    assertThat(rules.changes).isEqualTo(1);
    assertThat(kernel.submit(system.ask("alice").sign(), List.of()).served()).isPresent();
  }
}
