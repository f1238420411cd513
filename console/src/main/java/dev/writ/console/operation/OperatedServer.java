package dev.writ.console.operation;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.ops.ServerHealth;
import java.util.List;
import java.util.Optional;

/** What is around the kernel: the server, its sinks, and what they take for an incident. */
public interface OperatedServer {

  /**
   * How the server is now.
   *
   * @throws WritException {@code GWY-121}
   */
  ServerHealth health();

  /**
   * The sinks that get records of a tenant: its own, and those of all tenants.
   *
   * @throws WritException {@code GWY-121}
   */
  List<SinkView> sinks(String tenant);

  /**
   * A tenant's incidents, the latest first, as far as a bounded search finds them.
   *
   * @param before a position in the log; those at it and later are left out
   * @param limit how many at most
   */
  IncidentPage incidents(String tenant, long before, int limit);

  /**
   * How far it is with publishing checkpoints; absent where its configuration publishes none.
   *
   * @throws WritException {@code GWY-121}
   */
  Optional<CheckpointView> checkpoints();
}
