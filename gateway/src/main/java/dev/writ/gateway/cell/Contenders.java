package dev.writ.gateway.cell;

import dev.writ.executor.Placements;
import dev.writ.executor.document.CellRegions;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Which of the gateways that live may own which cell, and which of them do (spec/cells.md,
 * "Sharing" and "Regions").
 *
 * @param self the address of this gateway
 * @param live all that live
 * @param placements where operators have put the cells
 */
public record Contenders(String self, List<LivingGateway> live, Placements placements) {

  /**
   * The addresses of those that share a cell: of the first of its regions in which one lives; all
   * where operators have not stated its regions.
   */
  public List<String> of(int cell) {
    Optional<CellRegions> stated = placements.regionsOf(cell);
    if (stated.isEmpty()) {
      return live.stream().map(LivingGateway::address).toList();
    }
    return stated.get().regions().stream()
        .map(this::in)
        .filter(found -> !found.isEmpty())
        .findFirst()
        .orElse(List.of());
  }

  private List<String> in(String region) {
    return live.stream()
        .filter(gateway -> gateway.region().equals(Optional.of(region)))
        .map(LivingGateway::address)
        .toList();
  }

  /**
   * How this gateway shares a cell; empty where it does not contend for it: others do, or nobody.
   *
   * @param own how many cells this gateway owns, or is about to
   * @param shares how many cells each owner has
   * @param former the last owners of cells that are free: none of these is waited for
   */
  public Optional<FairShare> share(
      int cell, int own, Map<String, Integer> shares, Set<String> former) {
    List<String> among = of(cell);
    if (!among.contains(self)) {
      return Optional.empty();
    }
    List<String> expected = among.stream().filter(each -> !former.contains(each)).toList();
    return Optional.of(new FairShare(self, own, expected, shares));
  }
}
