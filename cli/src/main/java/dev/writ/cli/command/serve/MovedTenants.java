package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.home.CellMember;
import dev.writ.executor.TenantsMoved;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.ops.JsonLog;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Has a cell go on with the moves of tenants, and logs what came of it (spec/cells.md, "Moving").
 */
final class MovedTenants {
  private static final String DEPARTED = "tenant-departed";
  private static final String ARRIVED = "tenant-arrived";
  private static final String NOT_MOVED = "tenant-not-moved";

  /** In place of a tenant: no move could be looked at. */
  private static final String ALL = "";

  private final JsonLog log;
  private final String cell;

  /** The code that was told last of each tenant. */
  private final TreeMap<String, String> told = new TreeMap<>();

  /**
   * @param cell its name, for people
   */
  MovedTenants(JsonLog log, String cell) {
    this.log = log;
    this.cell = cell;
  }

  /** What hinders it is told once, and tried again with the next call. */
  void goOn(CellMember member) {
    try {
      TenantsMoved moved = member.moveTenants();
      moved.departed().forEach(tenant -> log.event(DEPARTED, cell + ", " + tenant));
      moved.arrived().forEach(tenant -> log.event(ARRIVED, cell + ", " + tenant));
      tell(moved.waiting());
    } catch (WritException e) {
      tellOfAll(e);
    } catch (RuntimeException e) { // another cell's log may hold anything
      tellOfAll(new WritException(GatewayError.INTERNAL, e.getClass().getName(), e));
    }
  }

  private void tellOfAll(WritException why) {
    TreeMap<String, WritException> all = new TreeMap<>();
    all.put(ALL, why);
    tell(all);
  }

  private void tell(SortedMap<String, WritException> waiting) {
    waiting.forEach((tenant, why) -> {
      String code = why.code().code();
      if (!code.equals(told.put(tenant, code))) {
        log.refused(NOT_MOVED, new WritException(why.code(), cell + ": " + why.found()));
      }
    });
    told.keySet().retainAll(waiting.keySet());
  }
}
