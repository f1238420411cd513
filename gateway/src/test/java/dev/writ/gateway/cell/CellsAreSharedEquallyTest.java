package dev.writ.gateway.cell;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.storage.LeaseWatch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Who takes a free cell, and who gives one back. */
class CellsAreSharedEquallyTest {
  private static final Duration PATIENCE = Duration.ofSeconds(6);

  private static FairShare share(String self, int own, Map<String, Integer> shares) {
    return new FairShare(self, own, List.of("a", "b", "c"), shares);
  }

  @Test
  void aFreeCellIsTakenByWhoeverHasTheFewest() {
    Map<String, Integer> shares = Map.of("a", 2, "b", 1, "c", 1);
    assertThat(share("a", 2, shares).takes(Duration.ZERO, PATIENCE)).isFalse();
    assertThat(share("b", 1, shares).takes(Duration.ZERO, PATIENCE)).isTrue();
    assertThat(share("a", 2, shares).takes(PATIENCE, PATIENCE)).as("nobody did").isTrue();
    FairShare alone = new FairShare("a", 7, List.of("a"), Map.of("a", 7));
    assertThat(alone.takes(Duration.ZERO, PATIENCE)).isTrue();
    assertThat(alone.gives()).isFalse();
  }

  @Test
  void oneIsGivenBackWhereAnotherHasTwoFewer() {
    assertThat(share("a", 3, Map.of("a", 3, "b", 1, "c", 3)).gives()).isTrue();
    assertThat(share("a", 2, Map.of("a", 2, "b", 1, "c", 2)).gives()).isFalse();
    assertThat(share("a", 2, Map.of("a", 2, "b", 2)).gives()).as("c has none").isTrue();
  }

  /**
   * For a moment after a kill the killed one still counts as a gateway that lives, with no cell.
   */
  @Test
  void nobodyWaitsForTheOneThatLostTheCell() {
    CellBoard board = new CellBoard(3, Optional.empty());
    board.saw(Optional.of(List.of(cell(0, "a", true), cell(1, "b", true), cell(2, "c", false))));
    assertThat(board.formerOwners()).containsExactly("c");
    assertThat(share("a", 1, board.shares()).takes(Duration.ZERO, PATIENCE)).isFalse();
    FairShare among = new FairShare("a", 1, List.of("a", "b"), board.shares());
    assertThat(among.takes(Duration.ZERO, PATIENCE)).isTrue();
  }

  private static LeaseWatch.Ownership cell(int number, String address, boolean isHeld) {
    return new LeaseWatch.Ownership(number, 1, address, address, isHeld, Duration.ZERO, 0, 0);
  }

  /** Whatever comes and goes: every cell is owned, the shares differ by one, and it ends. */
  @Test
  void theSharesComeToRest() {
    Random random = new Random(1);
    List<String> live = new ArrayList<>(List.of("g0"));
    TreeMap<Integer, String> owners = new TreeMap<>();
    int cells = 11;
    for (int event = 0; event < 200; event++) {
      if (live.size() > 1 && random.nextBoolean()) {
        String gone = live.remove(random.nextInt(live.size()));
        owners.values().removeIf(gone::equals);
      } else {
        live.add("g" + (event + 1));
      }
      int moves = 0;
      while (moves(owners, live, cells)) {
        moves++;
        assertThat(moves).as("it ends").isLessThan(4 * cells);
      }
      TreeMap<String, Integer> shares = shares(owners);
      assertThat(owners).hasSize(cells);
      int most = live.stream().mapToInt(g -> shares.getOrDefault(g, 0)).max().orElseThrow();
      int least = live.stream().mapToInt(g -> shares.getOrDefault(g, 0)).min().orElseThrow();
      assertThat(most - least).isLessThanOrEqualTo(1);
    }
  }

  private static TreeMap<String, Integer> shares(Map<Integer, String> owners) {
    TreeMap<String, Integer> shares = new TreeMap<>();
    owners.values().forEach(owner -> shares.merge(owner, 1, Integer::sum));
    return shares;
  }

  /** One step of one gateway, if any takes one. */
  private static boolean moves(TreeMap<Integer, String> owners, List<String> live, int cells) {
    TreeMap<String, Integer> shares = shares(owners);
    Optional<Integer> free = free(owners, cells);
    for (String self : live) {
      FairShare share = new FairShare(self, shares.getOrDefault(self, 0), live, shares);
      if (free.isPresent() && share.takes(Duration.ZERO, PATIENCE)) {
        owners.put(free.get(), self);
        return true;
      }
      if (free.isEmpty() && share.gives()) {
        owners.remove(last(owners, self));
        return true;
      }
    }
    return false;
  }

  private static int last(TreeMap<Integer, String> owners, String self) {
    return owners.descendingMap().entrySet().stream()
        .filter(cell -> cell.getValue().equals(self))
        .findFirst()
        .orElseThrow()
        .getKey();
  }

  private static Optional<Integer> free(Map<Integer, String> owners, int cells) {
    for (int cell = 0; cell < cells; cell++) {
      if (!owners.containsKey(cell)) {
        return Optional.of(cell);
      }
    }
    return Optional.empty();
  }
}
