package dev.writ.gateway.http;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The cells in which a tenant was before its moves, as a header of answers names them
 * (spec/cells.md, "Moving").
 *
 * @param cells their numbers, the latest first
 */
public record FormerCellList(List<Integer> cells) {
  /** The header of an answer. */
  public static final String HEADER = "Writ-Former-Cells";

  public static final FormerCellList NONE = new FormerCellList(List.of());

  public FormerCellList {
    cells = List.copyOf(cells);
  }

  /** As another gateway of the installation wrote it. */
  public static FormerCellList parse(String header) {
    return new FormerCellList(Arrays.stream(header.split(", ", -1)).map(Integer::valueOf).toList());
  }

  public boolean isEmpty() {
    return cells.isEmpty();
  }

  /** Those behind the first so many. */
  public FormerCellList after(int first) {
    return new FormerCellList(cells.subList(Math.min(first, cells.size()), cells.size()));
  }

  @Override
  public String toString() {
    return cells.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
