package dev.writ.conform;

import dev.writ.conform.adapter.Operation;
import dev.writ.conform.op.Operations;
import dev.writ.tools.Drivers;
import java.util.List;
import java.util.SortedMap;

/** This implementation with all its drivers, as the command line starts it. */
public final class Ours {
  public static final Drivers DRIVERS = Drivers.withoutProcesses();
  public static final SortedMap<String, Operation> OPERATIONS =
      Operations.with(List.copyOf(DRIVERS.byName().values()));

  private Ours() {}
}
