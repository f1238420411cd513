package dev.writ.cli.command.cells;

import dev.writ.executor.document.CellRegions;
import dev.writ.ledger.storage.LeaseWatch.LivingGateway;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What a statement about a cell's regions does to its owner, in words for who made it. */
final class StatedRegions {
  private StatedRegions() {}

  /**
   * @param live all gateways that live
   * @param owner the address of the one that owns the cell, if any does
   * @return empty where it keeps its owner, or where no gateway lives that could have one
   */
  static Optional<String> told(
      CellRegions regions, List<LivingGateway> live, Optional<String> owner) {
    if (live.isEmpty() || regions.isAnywhere()) {
      return Optional.empty();
    }
    String cell = "cell " + regions.cell();
    List<LivingGateway> next =
        regions.regions().stream()
            .map(region -> in(region, live))
            .filter(found -> !found.isEmpty())
            .findFirst()
            .orElse(List.of());
    if (next.isEmpty()) {
      return Optional.of(
          "warning: "
              + cell
              + " has no owner from now on, and requests for it are not answered: no gateway that"
              + " lives is in "
              + String.join(", ", regions.regions())
              + owner.map(address -> "; " + address + " gives it up").orElse("")
              + ". They are "
              + names(live)
              + ". Start one with such a region in its gateway.yaml, or state other regions");
    }
    return owner
        .filter(address -> next.stream().noneMatch(each -> each.address().equals(address)))
        .map(address -> cell + ": " + address + " gives it up to " + names(next));
  }

  private static List<LivingGateway> in(String region, List<LivingGateway> live) {
    return live.stream().filter(each -> each.region().equals(Optional.of(region))).toList();
  }

  private static String names(List<LivingGateway> gateways) {
    return gateways.stream()
        .map(each -> each.address() + " (" + each.region().orElse("no region") + ")")
        .collect(Collectors.joining(", "));
  }
}
