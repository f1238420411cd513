package dev.writ.tools.wasm;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/**
 * Places for guests, and memory for them, shared fairly between tenants. A tenant holds at most so
 * many places, and three quarters of the memory unless it holds nothing, so that another tenant's
 * guest finds room beside guests that never end. Where there is none, the next place is for the
 * tenant that runs the least, of several for the one whose last turn is longest ago; within a
 * tenant for who came first. Nobody overtakes a guest that only waits for memory.
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

  /** What one tenant holds, and who of it waits. */
  private static final class Tenant {
    final ArrayDeque<Waiter> waiters = new ArrayDeque<>();
    int running;
    long used;
    long servedAt;

    int running() {
      return running;
    }

    long servedAt() {
      return servedAt;
    }

    long arrival() {
      return waiters.getFirst().arrival;
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
   * @param memory in any unit, for all that run
   */
  GuestPlaces(int places, int placesOfOne, long memory) {
    this.places = places;
    this.placesOfOne = placesOfOne;
    this.memory = memory;
    this.memoryOfOne = memory - memory / 4;
  }

  /** Waits for a place and for memory, of which no more may be asked than there is. */
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
            .sorted(
                Comparator.comparingInt(Tenant::running)
                    .thenComparingLong(Tenant::servedAt)
                    .thenComparingLong(Tenant::arrival))
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
