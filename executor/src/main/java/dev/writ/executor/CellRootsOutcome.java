package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What became of the checkpoints of an installation's cells (spec/cells.md, "One root").
 *
 * @param isNew whether the system cell states more than before
 * @param refused by the cell's number, why its checkpoint was not taken in
 */
public record CellRootsOutcome(boolean isNew, SortedMap<Integer, WritException> refused) {
  public CellRootsOutcome {
    refused = Collections.unmodifiableSortedMap(new TreeMap<>(refused));
  }
}
