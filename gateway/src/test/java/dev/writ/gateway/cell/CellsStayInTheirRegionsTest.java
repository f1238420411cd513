package dev.writ.gateway.cell;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.Placements;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.CellRegions.FromElsewhere;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which gateways contend for a cell whose regions operators have stated. */
class CellsStayInTheirRegionsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(6);
  private static final int CELLS = 11;

  private static LivingGateway gateway(String name, String region) {
    return new LivingGateway(name, Optional.of(region).filter(r -> !r.isEmpty()));
  }

  private static Placements placed(Map<Integer, List<String>> regions) {
    TreeMap<Integer, CellRegions> cells = new TreeMap<>();
    regions.forEach(
        (cell, names) -> cells.put(cell, new CellRegions(cell, names, FromElsewhere.FORWARD)));
    return new Placements(new TreeMap<>(), cells, new TreeSet<>(), new TreeMap<>());
  }

  @Test
  void theFirstRegionWithALivingGatewayHasIt() {
    Placements placed = placed(Map.of(1, List.of("eu-1", "eu-2")));
    LivingGateway home = gateway("a", "eu-1");
    LivingGateway next = gateway("b", "eu-2");
    LivingGateway other = gateway("c", "us-1");
    LivingGateway nowhere = gateway("d", "");
    List<LivingGateway> all = List.of(home, next, other, nowhere);
    assertThat(new Contenders("a", all, placed).of(1)).containsExactly("a");
    assertThat(new Contenders("a", all, placed).of(2)).containsExactly("a", "b", "c", "d");
    assertThat(new Contenders("b", all, placed).share(1, 0, Map.of(), Set.of())).isEmpty();
    List<LivingGateway> lost = List.of(next, other, nowhere);
    assertThat(new Contenders("b", lost, placed).of(1)).containsExactly("b");
    assertThat(new Contenders("b", lost, placed).share(1, 9, Map.of("b", 9), Set.of())).isPresent();
    assertThat(new Contenders("c", List.of(other, nowhere), placed).of(1))
        .as("it has no owner rather than one elsewhere")
        .isEmpty();
  }

  /** Whatever comes and goes, every cell comes to rest in the right region. */
  @Test
  void theSharesComeToRest() {
    Random random = new Random(7);
    List<String> regions = List.of("eu-1", "eu-2", "us-1", "");
    for (int round = 0; round < 60; round++) {
      TreeMap<Integer, List<String>> stated = new TreeMap<>();
      for (int cell = 1; cell < CELLS; cell++) {
        if (random.nextBoolean()) {
          List<String> names = new ArrayList<>(List.of("eu-1", "eu-2", "us-1"));
          names.remove(random.nextInt(3));
          stated.put(cell, random.nextBoolean() ? names : names.reversed());
        }
      }
      Placements placed = placed(stated);
      List<LivingGateway> live = new ArrayList<>();
      TreeMap<Integer, String> owners = new TreeMap<>();
      for (int event = 0; event < 12; event++) {
        if (live.size() > 1 && random.nextInt(3) == 0) {
          String gone = live.remove(random.nextInt(live.size())).address();
          owners.values().removeIf(gone::equals);
        } else {
          live.add(gateway("g" + event, regions.get(random.nextInt(regions.size()))));
        }
        int moves = 0;
        while (moves(owners, live, placed)) {
          moves++;
          assertThat(moves).as("it ends").isLessThan(8 * CELLS);
        }
        requireAtRest(owners, live, placed);
      }
    }
  }

  private static void requireAtRest(
      TreeMap<Integer, String> owners, List<LivingGateway> live, Placements placed) {
    for (int cell = 0; cell < CELLS; cell++) {
      List<String> among = new Contenders("nobody", live, placed).of(cell);
      if (among.isEmpty()) {
        assertThat(owners).doesNotContainKey(cell);
      } else {
        assertThat(among).contains(owners.get(cell));
      }
    }
  }

  private static TreeMap<String, Integer> shares(Map<Integer, String> owners) {
    TreeMap<String, Integer> shares = new TreeMap<>();
    owners.values().forEach(owner -> shares.merge(owner, 1, Integer::sum));
    return shares;
  }

  /** One step of one gateway, if any takes one. */
  private static boolean moves(
      TreeMap<Integer, String> owners, List<LivingGateway> live, Placements placed) {
    TreeMap<String, Integer> shares = shares(owners);
    boolean isFree = false;
    for (int cell = 0; cell < CELLS; cell++) {
      if (owners.containsKey(cell)) {
        continue;
      }
      for (LivingGateway self : live) {
        Optional<FairShare> share = share(self, cell, live, placed, shares);
        if (share.filter(s -> s.takes(Duration.ZERO, PATIENCE)).isPresent()) {
          owners.put(cell, self.address());
          return true;
        }
        isFree |= share.isPresent();
      }
    }
    if (isFree) {
      return false;
    }
    for (LivingGateway self : live) {
      for (int cell = CELLS - 1; cell >= 0; cell--) {
        boolean gives =
            self.address().equals(owners.get(cell))
                && share(self, cell, live, placed, shares).map(FairShare::gives).orElse(true);
        if (gives) {
          owners.remove(cell);
          return true;
        }
      }
    }
    return false;
  }

  private static Optional<FairShare> share(
      LivingGateway self,
      int cell,
      List<LivingGateway> live,
      Placements placed,
      Map<String, Integer> shares) {
    String name = self.address();
    return new Contenders(name, live, placed)
        .share(cell, shares.getOrDefault(name, 0), shares, Set.of());
  }
}
