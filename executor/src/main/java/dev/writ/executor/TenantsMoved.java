package dev.writ.executor;

import dev.writ.canonicalize.WritException;
import java.util.List;
import java.util.SortedMap;

/**
 * What a look at the moves that operators have stated came to (spec/cells.md, "Moving").
 *
 * @param departed tenants that have left this cell just now
 * @param arrived tenants that have arrived in it just now
 * @param waiting why tenants have not, by their names
 */
public record TenantsMoved(
    List<String> departed, List<String> arrived, SortedMap<String, WritException> waiting) {}
