package dev.writ.gateway;

import dev.writ.canonicalize.WritException;
import java.time.Duration;
import java.util.TreeMap;

/**
 * The places for calls at work: so many in all, so many for each tenant. Who finds none goes. Work
 * that goes on after its answer has as many places of its own, so that it keeps nobody from asking
 * how it stands.
 */
public final class Places {
  private final Limits limits;
  private final TreeMap<String, Integer> byTenant = new TreeMap<>();
  private final TreeMap<String, Integer> inBackground = new TreeMap<>();
  private int taken;
  private int background;
  private boolean draining;

  Places(Limits limits) {
    this.limits = limits;
  }

  /** A place that is held until it is closed. */
  public interface Place extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * @throws WritException {@code GWY-026}, {@code GWY-027}
   */
  synchronized Place take() {
    if (draining) {
      throw new WritException(GatewayError.DRAINING, "");
    }
    if (taken >= limits.concurrentMax()) {
      throw new WritException(
          GatewayError.SERVER_BUSY, taken + " calls at work, at most " + limits.concurrentMax());
    }
    taken++;
    return this::free;
  }

  private synchronized void free() {
    taken--;
    notifyAll();
  }

  /**
   * A tenant's place, for a handler that learns only from the body whose call it is.
   *
   * @throws WritException {@code GWY-025}
   */
  public synchronized Place takeFor(String tenant) {
    int ofTenant = byTenant.getOrDefault(tenant, 0);
    if (ofTenant >= limits.concurrentPerTenantMax()) {
      throw new WritException(
          GatewayError.TENANT_BUSY,
          ofTenant + " calls at work, at most " + limits.concurrentPerTenantMax());
    }
    byTenant.put(tenant, ofTenant + 1);
    return () -> freeOf(tenant);
  }

  private synchronized void freeOf(String tenant) {
    byTenant.computeIfPresent(tenant, (_, count) -> count == 1 ? null : count - 1);
  }

  /**
   * A place for work that goes on after its call was answered.
   *
   * @throws WritException {@code GWY-025} to {@code GWY-027}
   */
  synchronized Place takeInBackground(String tenant) {
    if (draining) {
      throw new WritException(GatewayError.DRAINING, "");
    }
    int ofTenant = inBackground.getOrDefault(tenant, 0);
    if (ofTenant >= limits.concurrentPerTenantMax()) {
      throw new WritException(
          GatewayError.TENANT_BUSY,
          ofTenant + " in the background, at most " + limits.concurrentPerTenantMax());
    }
    if (background >= limits.concurrentMax()) {
      throw new WritException(
          GatewayError.SERVER_BUSY,
          background + " in the background, at most " + limits.concurrentMax());
    }
    inBackground.put(tenant, ofTenant + 1);
    background++;
    return () -> freeInBackground(tenant);
  }

  private synchronized void freeInBackground(String tenant) {
    inBackground.computeIfPresent(tenant, (_, count) -> count == 1 ? null : count - 1);
    background--;
    notifyAll();
  }

  synchronized int taken() {
    return taken;
  }

  synchronized boolean isDraining() {
    return draining;
  }

  /** From now on nobody gets a place. */
  synchronized void drain() {
    draining = true;
  }

  /** Waits until all places are free, or so long. */
  synchronized boolean awaitFree(Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    while (taken + background > 0) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }
}
