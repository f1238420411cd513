package dev.writ.conform.op;

import dev.writ.conform.adapter.Operation;
import dev.writ.conform.world.Scenario;
import dev.writ.executor.driver.Driver;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The operations of this implementation, by name (spec/conformance.md). */
public final class Operations {
  private Operations() {}

  /**
   * @param drivers the drivers that run tools again, and whose sandbox profiles are named in the
   *     snapshots of bundles
   */
  public static SortedMap<String, Operation> with(List<Driver> drivers) {
    TreeMap<String, Operation> operations = new TreeMap<>();
    BasicOps.addTo(operations);
    LogOps.addTo(operations);
    GuardianOps.addTo(operations);
    GateOps.addTo(operations);
    ReceiptOps.addTo(operations);
    operations.put("executor.run", Scenario::play);
    BundleOps.addTo(operations, drivers);
    return Collections.unmodifiableSortedMap(operations);
  }
}
