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
   * @param drivers whose sandbox profiles the snapshots of bundles name, and which run tools again
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
