package dev.writ.conform.op;

import dev.writ.conform.adapter.Operation;
import dev.writ.conform.world.Scenario;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/** The operations of this implementation, by name (spec/conformance.md). */
public final class Operations {
  public static final SortedMap<String, Operation> ALL = all();

  private Operations() {}

  private static SortedMap<String, Operation> all() {
    TreeMap<String, Operation> operations = new TreeMap<>();
    BasicOps.addTo(operations);
    LogOps.addTo(operations);
    GuardianOps.addTo(operations);
    GateOps.addTo(operations);
    ReceiptOps.addTo(operations);
    operations.put("executor.run", Scenario::play);
    return Collections.unmodifiableSortedMap(operations);
  }
}
