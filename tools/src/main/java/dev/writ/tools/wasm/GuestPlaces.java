package dev.writ.tools.wasm;

import java.util.ArrayDeque;
import java.util.List;
import java.util.TreeMap;

/**
 * Places for guests, and memory for them, shared fairly between tenants. A tenant may hold a
 * limited number of places, and at most three quarters of the memory unless it holds none, so that
 * guests that never end leave room for other tenants. If all places are taken, the next one goes to
 * the tenant with the fewest running guests; among equals to the one whose last turn is longest
 * ago; within a tenant to the guest that came first. No guest overtakes one that waits only for
 * memory.
 */
final class GuestPlaces {
  private final int places;
  private final int placesOfOne;
  private final long memory;
  private final long memoryOfOne;
  private final TreeMap<String, Tenant> tenants = new TreeMap<>();
  private int running;
  private int waiting;
  private long used;
  private long arrivals;
  private long turns;

  /** The places and memory of one tenant, and its waiting guests. */
  private static final class Tenant {
    final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
    int running;
    long used;
    long servedAt;

    /** Whose turn is first; of tenants with a waiting guest. */
    static int byTurn(Tenant a, Tenant b) {
      int order = Integer.compare(a.running, b.running);
      if (order == 0) {
        order = Long.compare(a.servedAt, b.servedAt);
      }
      return order == 0
          ? Long.compare(a.waiters.getFirst().arrival, b.waiters.getFirst().arrival)
          : order;
    }
  }

  private static final class Waiter {
    final long memory;
    final long arrival;
    boolean admitted;

    Waiter(long memory, long arrival) {
      this.memory = memory;
      this.arrival = arrival;
    }
  }

  /**
   * @param places how many guests run at once
   * @param placesOfOne how many of one tenant
   * @param memory for all running guests together, in any unit
   */
  GuestPlaces(int places, int placesOfOne, long memory) {
    this.places = places;
    this.placesOfOne = placesOfOne;
    this.memory = memory;
    this.memoryOfOne = memory - memory / 4;
  }

  /** Waits for a place and for memory; the memory requested must not exceed the total. */
  synchronized void acquire(String tenant, long need) throws InterruptedException {
    Tenant of = tenants.computeIfAbsent(tenant, _ -> new Tenant());
    Waiter waiter = new Waiter(need, ++arrivals);
    of.waiters.add(waiter);
    waiting++;
    handOut();
    try {
      while (!waiter.admitted) {
        wait();
      }
    } catch (InterruptedException e) {
      if (waiter.admitted) {
        release(tenant, need);
      } else {
        of.waiters.remove(waiter);
        waiting--;
        forgetIfIdle(tenant, of);
        handOut();
      }
      throw e;
    }
  }

  synchronized void release(String tenant, long held) {
    Tenant of = tenants.get(tenant);
    of.running--;
    of.used -= held;
    running--;
    used -= held;
    forgetIfIdle(tenant, of);
    handOut();
  }

  private void forgetIfIdle(String name, Tenant tenant) {
    if (tenant.running == 0 && tenant.waiters.isEmpty()) {
      tenants.remove(name);
    }
  }

  private void handOut() {
    while (running < places && admitOne()) {
      notifyAll();
    }
  }

  private boolean admitOne() {
    List<Tenant> order =
        tenants.values().stream()
            .filter(tenant -> !tenant.waiters.isEmpty() && isWithinItsShare(tenant))
            .sorted(Tenant::byTurn)
            .toList();
    if (order.isEmpty() || used + order.getFirst().waiters.getFirst().memory > memory) {
      return false;
    }
    Tenant next = order.getFirst();
    Waiter waiter = next.waiters.remove();
    waiter.admitted = true;
    next.servedAt = ++turns;
    next.running++;
    next.used += waiter.memory;
    running++;
    waiting--;
    used += waiter.memory;
    return true;
  }

  private boolean isWithinItsShare(Tenant tenant) {
    return tenant.running == 0
        || (tenant.running < placesOfOne
            && tenant.used + tenant.waiters.getFirst().memory <= memoryOfOne);
  }

  synchronized int waiting() {
    return waiting;
  }
}
