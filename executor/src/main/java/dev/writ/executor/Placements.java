package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.error.ExecutorError;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Where operators have put tenants and cells (spec/cells.md, "Placing" and "Regions"). Immutable.
 *
 * @param tenants the cell of each tenant that was placed
 * @param cells the regions of each cell that was placed
 * @param named tenants that a key or policy has named; they stay where they are
 */
public record Placements(
    SortedMap<String, Integer> tenants,
    SortedMap<Integer, CellRegions> cells,
    SortedSet<String> named) {

  /** Nobody is placed, and nobody is named. */
  public static final Placements NOTHING =
      new Placements(new TreeMap<>(), new TreeMap<>(), new TreeSet<>());

  public Placements {
    tenants = Collections.unmodifiableSortedMap(tenants);
    cells = Collections.unmodifiableSortedMap(cells);
    named = Collections.unmodifiableSortedSet(named);
  }

  /**
   * The number of the tenant's cell: where an operator placed it, else as its name says.
   *
   * @param count how many cells the installation has
   */
  public int cellOf(String tenant, int count) {
    Integer placed = tenants.get(tenant);
    return placed == null ? CellPlacement.cellOf(tenant, count) : placed;
  }

  /** In which regions a cell may be owned; empty: in any. */
  public Optional<CellRegions> regionsOf(int cell) {
    return Optional.ofNullable(cells.get(cell));
  }

  /** Whether a gateway in that region may own the cell. */
  public boolean mayOwn(int cell, Optional<String> region) {
    CellRegions stated = cells.get(cell);
    return stated == null || region.filter(stated::has).isPresent();
  }

  /**
   * @throws WritException {@code EXE-964}
   */
  Placements with(TenantPlace place) {
    if (named.contains(place.tenant())) {
      throw new WritException(
          ExecutorError.TENANT_NAMED, "the tenant " + place.tenant() + " is known");
    }
    TreeMap<String, Integer> more = new TreeMap<>(tenants);
    more.put(place.tenant(), place.cell());
    return new Placements(more, cells, named);
  }

  Placements with(CellRegions regions) {
    TreeMap<Integer, CellRegions> more = new TreeMap<>(cells);
    more.put(regions.cell(), regions);
    return new Placements(tenants, more, named);
  }

  /** These tenants can have work from now on. */
  Placements named(Stream<String> these) {
    TreeSet<String> more = new TreeSet<>(named);
    these.forEach(more::add);
    return more.size() == named.size() ? this : new Placements(tenants, cells, more);
  }
}
