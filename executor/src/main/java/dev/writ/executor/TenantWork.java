package dev.writ.executor;

import java.util.TreeMap;

/**
 * Which tenants have work under way. A tenant that nothing is admitted of any more is still as soon
 * as it has none. Thread safe.
 */
final class TenantWork {
  private final TreeMap<String, Integer> calls = new TreeMap<>();

  /** Work that is under way until it is closed. */
  interface UnderWay extends AutoCloseable {
    @Override
    void close();
  }

  /** Begins before it is looked whether the tenant is here. */
  synchronized UnderWay begin(String tenant) {
    calls.merge(tenant, 1, Integer::sum);
    return () -> end(tenant);
  }

  private synchronized void end(String tenant) {
    calls.merge(tenant, -1, (a, b) -> a + b == 0 ? null : a + b);
  }

  synchronized boolean isStill(String tenant) {
    return !calls.containsKey(tenant);
  }
}
