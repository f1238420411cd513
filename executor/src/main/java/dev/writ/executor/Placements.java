package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.error.ExecutorError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.pcollections.PSortedMap;
import org.pcollections.PSortedSet;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * Where operators have put tenants and cells (spec/cells.md, "Placing", "Moving" and "Regions").
 * Immutable.
 *
 * @param tenants the cell of each tenant that was placed
 * @param cells the regions of each cell that was placed, and may not be anywhere again
 * @param named tenants that a key or policy has named; they stay where they are until they are
 *     moved
 * @param moves of each tenant that was moved, in their order
 */
public record Placements(
    SortedMap<String, Integer> tenants,
    SortedMap<Integer, CellRegions> cells,
    SortedSet<String> named,
    SortedMap<String, List<Moved>> moves) {

  /**
   * A move that an operator stated.
   *
   * @param statement the id of the signed document
   */
  public record Moved(Digest statement, TenantMove move) {}

  /** Nobody is placed, and nobody is named. */
  public static final Placements NOTHING =
      new Placements(TreePMap.empty(), TreePMap.empty(), TreePSet.empty(), TreePMap.empty());

  public Placements {
    tenants = Persistent.of(tenants);
    cells = Persistent.of(cells);
    named = Persistent.of(named);
    moves = Persistent.of(moves);
  }

  /**
   * The number of the tenant's cell: where an operator moved it last, or placed it, else as its
   * name says.
   *
   * @param count how many cells the installation has
   */
  public int cellOf(String tenant, int count) {
    return stated(tenant).orElseGet(() -> CellPlacement.cellOf(tenant, count));
  }

  /** The cell that operators have stated, if they have. */
  private Optional<Integer> stated(String tenant) {
    return lastMove(tenant)
        .map(last -> last.move().cell())
        .or(() -> Optional.ofNullable(tenants.get(tenant)));
  }

  /**
   * The cell that a tenant has, or gets, by its latest move, where that is another than the one
   * with the log of this name: which begins nothing of it any more (spec/cells.md, 49).
   */
  public Optional<Integer> movedTo(String tenant, String log) {
    return lastMove(tenant)
        .map(last -> last.move().cell())
        .filter(cell -> !log.endsWith(CellPlacement.origin("", cell)));
  }

  /** The latest move of a tenant. */
  public Optional<Moved> lastMove(String tenant) {
    return Optional.ofNullable(moves.get(tenant)).map(List::getLast);
  }

  /** The cells, but for that one, in which the tenant was before its moves; the latest first. */
  public List<Integer> formerCells(String tenant, int here) {
    return moves.getOrDefault(tenant, List.of()).reversed().stream()
        .map(moved -> moved.move().from())
        .filter(cell -> cell != here)
        .distinct()
        .toList();
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
    return new Placements(
        Persistent.of(tenants).plus(place.tenant(), place.cell()), cells, named, moves);
  }

  /**
   * @param statement the id of the signed document
   * @throws WritException {@code EXE-968}
   */
  Placements with(TenantMove move, Digest statement) {
    boolean isThere = stated(move.tenant()).filter(cell -> cell != move.from()).isEmpty();
    if (!isThere || move.from() == move.cell() || !named.contains(move.tenant())) {
      throw new WritException(
          ExecutorError.TENANT_NOT_THERE,
          move.toString()
              + (named.contains(move.tenant())
                  ? stated(move.tenant()).map(cell -> "; it is in cell " + cell).orElse("")
                  : "; nothing has named it"));
    }
    List<Moved> all = new ArrayList<>(moves.getOrDefault(move.tenant(), List.of()));
    all.add(new Moved(statement, move));
    return new Placements(
        tenants, cells, named, Persistent.of(moves).plus(move.tenant(), List.copyOf(all)));
  }

  Placements with(CellRegions regions) {
    PSortedMap<Integer, CellRegions> stated = Persistent.of(cells);
    return new Placements(
        tenants,
        regions.isAnywhere() ? stated.minus(regions.cell()) : stated.plus(regions.cell(), regions),
        named,
        moves);
  }

  /** These tenants can have work from now on. */
  Placements named(Stream<String> these) {
    PSortedSet<String> more = Persistent.of(named).plusAll(these.toList());
    return more.size() == named.size() ? this : new Placements(tenants, cells, more, moves);
  }
}
