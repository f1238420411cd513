package dev.writ.cli.command.cells;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.document.CellRegions;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Nobody takes a cell's owner away without being told. */
class AStatementOfRegionsSaysWhatItDoesTest {
  private static final LivingGateway ANYWHERE = new LivingGateway("gw-0:1", Optional.empty());
  private static final LivingGateway FIRST = new LivingGateway("gw-1:1", Optional.of("eu-1"));
  private static final LivingGateway SECOND = new LivingGateway("gw-2:1", Optional.of("eu-2"));

  private static Optional<String> told(
      List<String> regions, Optional<String> owner, LivingGateway... live) {
    return StatedRegions.told(
        new CellRegions(2, regions, CellRegions.FromElsewhere.FORWARD), List.of(live), owner);
  }

  @Test
  void aCellThatNobodyMayOwnAnyMore() {
    assertThat(told(List.of("eu-3"), Optional.of("gw-0:1"), ANYWHERE, FIRST))
        .hasValueSatisfying(line ->
            assertThat(line)
                .startsWith("warning: cell 2 has no owner from now on")
                .contains("eu-3; gw-0:1 gives it up")
                .contains("gw-0:1 (no region), gw-1:1 (eu-1)"));
    assertThat(told(List.of("eu-3"), Optional.empty(), FIRST))
        .hasValueSatisfying(line -> assertThat(line).doesNotContain("gives it up"));
  }

  @Test
  void aCellThatGoesToTheFirstRegionInWhichOneLives() {
    assertThat(told(List.of("eu-3", "eu-2", "eu-1"), Optional.of("gw-1:1"), FIRST, SECOND))
        .contains("cell 2: gw-1:1 gives it up to gw-2:1 (eu-2)");
  }

  @Test
  void aCellThatMayBeAnywhereKeepsItsOwner() {
    assertThat(told(List.of(), Optional.of("gw-1:1"), ANYWHERE, FIRST)).isEmpty();
    assertThat(told(List.of(), Optional.empty(), ANYWHERE)).as("they take it").isEmpty();
  }

  @Test
  void aCellThatStaysWhereItIs() {
    assertThat(told(List.of("eu-1", "eu-2"), Optional.of("gw-1:1"), FIRST, SECOND)).isEmpty();
    assertThat(told(List.of("eu-1"), Optional.empty(), FIRST)).isEmpty();
    assertThat(told(List.of("eu-1"), Optional.empty())).as("before any runs").isEmpty();
  }
}
