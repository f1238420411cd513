package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.CellRegions.FromElsewhere;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.ledger.LedgerView;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Operators' statements on where tenants and cells are, as a kernel takes them. */
class TenantsAndCellsArePlacedTest {
  private static final int CELLS = 4;

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private void beSystemCell() {
    home.kernel()
        .inCell(
            new CellRules() {
              @Override
              public void requireTenant(String tenant) {}

              @Override
              public void requireCurrent() {}

              @Override
              public void requireSystem() {}

              @Override
              public void requireCell(int cell) {
                if (cell >= CELLS) {
                  throw new WritException(ExecutorError.CELL_UNKNOWN, "cell " + cell);
                }
              }

              @Override
              public int number() {
                return 0;
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
              public void changed() {}
            });
  }

  private void place(String tenant, int cell) {
    home.kernel()
        .change(home.change(EventKind.TENANT_PLACED, new TenantPlace(tenant, cell).toJson()));
  }

  private void place(int cell, String... regions) {
    home.kernel()
        .change(
            home.change(
                EventKind.CELL_PLACED,
                new CellRegions(cell, List.of(regions), FromElsewhere.FORWARD).toJson()));
  }

  private Placements placed() {
    return home.kernel().system().placements();
  }

  @Test
  void a_placed_tenant_is_there_and_the_others_where_they_were() {
    beSystemCell();
    int before = placed().cellOf("t1", CELLS);
    place("new", 2);
    assertThat(placed().cellOf("new", CELLS)).isEqualTo(2);
    assertThat(placed().cellOf("t1", CELLS)).isEqualTo(before);
    place("new", 3);
    assertThat(placed().cellOf("new", CELLS)).as("nothing has named it yet").isEqualTo(3);
    assertThat(SystemState.read(home.ledger()).placements()).isEqualTo(placed());
  }

  @Test
  void whom_a_key_or_a_policy_has_named_stays_where_it_is() {
    beSystemCell();
    assertThat(Refused.code(() -> place(TestKeys.TENANT, 2))).isEqualTo("EXE-964");
    home.enrol(TestKeys.trusted("stranger", KeyRole.AGENT, Optional.of("late")));
    assertThat(Refused.code(() -> place("late", 2))).isEqualTo("EXE-964");
    home.revoke("stranger");
    assertThat(Refused.code(() -> place("late", 2))).as("a revoked key, too").isEqualTo("EXE-964");
    assertThat(placed().tenants()).isEmpty();
  }

  @Test
  void a_cell_that_is_not_there_is_refused_and_nothing_is_written() {
    beSystemCell();
    long size = home.ledger().treeSize();
    assertThat(Refused.code(() -> place("new", CELLS))).isEqualTo("EXE-965");
    assertThat(Refused.code(() -> place(CELLS, "eu-1"))).isEqualTo("EXE-965");
    assertThat(home.ledger().treeSize()).isEqualTo(size);
    place("new", CELLS - 1);
    place(CELLS - 1, "eu-1");
  }

  @Test
  void a_log_of_one_cell_has_nothing_to_place() {
    assertThat(Refused.code(() -> place("new", 1))).isEqualTo("EXE-965");
    assertThat(Refused.code(() -> place(1, "eu-1"))).isEqualTo("EXE-965");
  }

  @Test
  void the_latest_word_about_a_cell_counts() {
    beSystemCell();
    assertThat(placed().mayOwn(1, Optional.empty())).as("nobody said where").isTrue();
    place(1, "eu-1", "eu-2");
    assertThat(placed().mayOwn(1, Optional.of("eu-2"))).isTrue();
    assertThat(placed().mayOwn(1, Optional.of("us-1"))).isFalse();
    assertThat(placed().mayOwn(1, Optional.empty())).isFalse();
    assertThat(placed().mayOwn(2, Optional.empty())).isTrue();
    place(1, "us-1");
    assertThat(placed().mayOwn(1, Optional.of("eu-1"))).isFalse();
    assertThat(placed().regionsOf(1).orElseThrow().regions()).containsExactly("us-1");
  }

  @Test
  void a_cell_may_be_anywhere_again() {
    beSystemCell();
    place(1, "eu-1");
    place(2, "eu-1");
    place(1);
    assertThat(placed().mayOwn(1, Optional.of("us-1"))).isTrue();
    assertThat(placed().mayOwn(1, Optional.empty())).isTrue();
    assertThat(placed().regionsOf(1)).as("as if nobody had said where").isEmpty();
    assertThat(placed().mayOwn(2, Optional.empty())).as("another cell").isFalse();
    assertThat(SystemState.read(home.ledger()).placements()).isEqualTo(placed());
    place(1);
    assertThat(placed().regionsOf(1)).as("said twice").isEmpty();
    assertThat(new CellRegions(1, List.of(), FromElsewhere.FORWARD).has("us-1")).isTrue();
    assertThat(
            Refused.code(() ->
                CellRegions.read(new CellRegions(1, List.of(), FromElsewhere.REFUSE).toJson())))
        .as("there is no elsewhere")
        .isEqualTo("CAN-023");
  }
}
