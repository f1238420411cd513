package dev.writ.gateway.statistics;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The rings of tenants, within a bound for all: names go first, then the tenants that were quiet
 * for the longest time. Thread safe.
 */
final class Rings {
  /** About 40 MiB, if all have durations. */
  private static final int CELLS_MAX = 100_000;

  private static final int TENANTS_MAX = 256;

  private final int cellsMax;
  private final int tenantsMax;
  private final LinkedHashMap<String, Ring> byTenant = new LinkedHashMap<>(16, 0.75f, true);
  private Instant since;
  private int cells;

  Rings(Instant since) {
    this(since, CELLS_MAX, TENANTS_MAX);
  }

  Rings(Instant since, int cellsMax, int tenantsMax) {
    this.since = since;
    this.cellsMax = cellsMax;
    this.tenantsMax = tenantsMax;
  }

  synchronized void add(Happened happened) {
    Ring ring = byTenant.computeIfAbsent(happened.tenant(), _ -> new Ring(since));
    int before = ring.cells();
    ring.add(happened);
    cells += ring.cells() - before;
    if (cells > cellsMax) {
      byTenant.values().forEach(Ring::forgetNames);
      cells = byTenant.values().stream().mapToInt(Ring::cells).sum();
    }
    while (byTenant.size() > 1 && (cells > cellsMax || byTenant.size() > tenantsMax)) {
      Map.Entry<String, Ring> quietest = byTenant.firstEntry();
      cells -= quietest.getValue().cells();
      byTenant.remove(quietest.getKey());
      since = happened.at(); // whoever comes back begins anew
    }
  }

  /** Everything since that time has been added. */
  synchronized void reachBackTo(Instant time) {
    since = time;
    byTenant.values().forEach(ring -> ring.reachesBackTo(time));
  }

  synchronized StatisticsTable table(String tenant, Instant now, int step, int steps) {
    return byTenant.getOrDefault(tenant, new Ring(since)).table(now, step, steps);
  }

  synchronized int cells() {
    return cells;
  }
}
