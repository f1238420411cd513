package dev.writ.gateway.http.limit;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.limit.Shares.Share;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Limits what calls hold at once: places for calls at work, for streamed answers and for background
 * work, and memory. Each has a limit for the server, for a tenant and for a credential; calls over
 * a limit are rejected, not queued. Calls with an unverified credential have limits of their own,
 * for the server and for each address. Thread safe.
 */
public final class ConcurrencyLimiter {
  private static final String ALL = "all";

  private final HttpLimits limits;
  private final Shares work = new Shares();
  private final Shares streams = new Shares();
  private final Shares background = new Shares();
  private final Shares memory = new Shares();

  /** Calls that can only be authenticated once their body has arrived, the oldest first. */
  private final Map<HttpAdmission, Origin> unverified = new LinkedHashMap<>();

  private int held;
  private boolean draining;
  private boolean refusing;

  /** The origin of an unverified call. */
  private record Origin(String group, String address) {}

  public ConcurrencyLimiter(HttpLimits limits) {
    this.limits = limits;
  }

  /** A place that is held until it is freed. */
  public record Held(Shares of, List<Share> shares, Runnable freed) {
    static final Held NONE = new Held(new Shares(), List.of(), () -> {});

    public void free() {
      of.free(shares, 1);
      freed.run();
    }

    /** Frees the place for others; a drain still waits until this is freed, too. */
    Held left() {
      of.free(shares, 1);
      return new Held(of, List.of(), freed);
    }
  }

  private synchronized Held hold(Shares of, List<Share> shares) {
    if (refusing && of != streams) {
      throw new WritException(GatewayError.DRAINING, "");
    }
    of.take(shares, 1);
    held++;
    return new Held(of, shares, this::freed);
  }

  private synchronized void freed() {
    held--;
    notifyAll();
  }

  /**
   * A place at work.
   *
   * @throws WritException {@code GWY-025} to {@code GWY-027}, {@code GWY-035}
   */
  Held work(String tenant, String credential) {
    return hold(
        work,
        List.of(
            new Share(tenant(tenant), limits.concurrentPerTenantMax(), GatewayError.TENANT_BUSY),
            new Share(
                credential(credential),
                limits.concurrentPerCredentialMax(),
                GatewayError.CREDENTIAL_BUSY),
            new Share(ALL, limits.concurrentMax(), GatewayError.SERVER_BUSY)));
  }

  /**
   * A place for the streamed answer of a call at work.
   *
   * @throws WritException {@code GWY-039}, {@code GWY-042}
   */
  public Held stream(Held atWork) {
    List<Share> shares =
        atWork.shares().stream()
            .map(share ->
                share.name().equals(ALL)
                    ? new Share(ALL, limits.streamsMax(), GatewayError.ALL_STREAMS_BUSY)
                    : new Share(
                        share.name(),
                        Math.max(1, limits.streamsMax() * share.max() / limits.concurrentMax()),
                        GatewayError.STREAMS_BUSY))
            .toList();
    return hold(streams, shares);
  }

  /**
   * A place for work that continues after its call was answered.
   *
   * @throws WritException {@code GWY-025} to {@code GWY-027}
   */
  public Held inBackground(String tenant) {
    return hold(
        background,
        List.of(
            new Share(tenant(tenant), limits.concurrentPerTenantMax(), GatewayError.TENANT_BUSY),
            new Share(ALL, limits.concurrentMax(), GatewayError.SERVER_BUSY)));
  }

  Shares memory() {
    return memory;
  }

  /** The counters for the memory of a tenant's call with that credential. */
  List<Share> memory(String tenant, String credential) {
    return List.of(
        memory(credential(credential), limits.memoryMax() * 3 / 8),
        memory(tenant(tenant), limits.memoryMax() / 2),
        memory(ALL, limits.memoryMax()));
  }

  private static Share memory(String name, long max) {
    return new Share(name, max, GatewayError.MEMORY_BUSY);
  }

  private List<Share> memory(Origin origin) {
    return List.of(
        memory(origin.address() + " in " + origin.group(), limits.memoryMax() * 3 / 16),
        memory(origin.group(), limits.memoryMax() / 4),
        memory(ALL, limits.memoryMax()));
  }

  /** For a call that needs no authentication: it takes memory, but no place. */
  public void open(HttpAdmission admission, String address) {
    admission.unverified(Held.NONE, memory(new Origin("open", address)));
  }

  /**
   * Takes a place for a call that its body will authenticate. If there is none, the oldest call
   * that is still sending its body is ended: an honest client sends its body quickly.
   *
   * @param group calls of one group are limited together
   * @throws WritException {@code GWY-027}, {@code GWY-036}, {@code GWY-037}
   */
  public void unverified(HttpAdmission admission, String group, String address) {
    Origin origin = new Origin(group, address);
    List<Share> shares =
        List.of(
            new Share(
                address + " in " + group,
                limits.unverifiedPerAddressMax(),
                GatewayError.ADDRESS_BUSY),
            new Share(group, limits.unverifiedMax(), GatewayError.UNVERIFIED_BUSY));
    Held place;
    while (true) {
      try {
        place = hold(work, shares);
        break;
      } catch (WritException e) {
        if (!evictOldest(origin, admission, e)) {
          throw e;
        }
      }
    }
    admission.unverified(place, memory(origin));
    synchronized (unverified) {
      unverified.put(admission, origin);
    }
  }

  /** The call's body has arrived, or it is authenticated: it is no longer ended to make room. */
  void known(HttpAdmission admission) {
    synchronized (unverified) {
      unverified.remove(admission);
    }
  }

  void reserve(HttpAdmission admission, long more) {
    while (true) {
      try {
        admission.take(more);
        return;
      } catch (WritException e) {
        Optional<Origin> origin;
        synchronized (unverified) {
          origin = Optional.ofNullable(unverified.get(admission));
        }
        if (origin.isEmpty() || !evictOldest(origin.get(), admission, e)) {
          throw e;
        }
      }
    }
  }

  /**
   * Ends the oldest call of the address, if that is over its limit, otherwise the oldest of the
   * group.
   */
  private boolean evictOldest(Origin origin, HttpAdmission but, WritException full) {
    if (full.code() == GatewayError.DRAINING
        || full.code() == GatewayError.MEMORY_NEEDED
        || but.over().isPresent()) {
      return false;
    }
    boolean ofAddress = full.code() == GatewayError.ADDRESS_BUSY;
    Optional<HttpAdmission> oldest;
    synchronized (unverified) {
      oldest =
          unverified.entrySet().stream()
              .filter(each -> each.getKey() != but)
              .filter(each -> each.getValue().group().equals(origin.group()))
              .filter(each -> !ofAddress || each.getValue().address().equals(origin.address()))
              .map(Map.Entry::getKey)
              .findFirst();
      oldest.ifPresent(unverified::remove);
    }
    oldest.ifPresent(admission ->
        admission.evict(
            new WritException(
                GatewayError.UNVERIFIED_BUSY, "a newer request has taken the place of this one")));
    return oldest.isPresent();
  }

  private static String tenant(String tenant) {
    return "tenant " + tenant;
  }

  private static String credential(String credential) {
    return "credential " + credential;
  }

  /** Calls of known callers at work. */
  public long atWork() {
    return work.used(ALL);
  }

  /** Answers that are streams. */
  public long streams() {
    return streams.used(ALL);
  }

  /** Bytes that calls hold. */
  public long memoryUsed() {
    return memory.used(ALL);
  }

  /** Calls whose body is still being sent, so that they are not authenticated yet. */
  public int unverified() {
    synchronized (unverified) {
      return unverified.size();
    }
  }

  public synchronized boolean isDraining() {
    return draining;
  }

  /**
   * What waits for events ends from now on.
   *
   * @param refuses whether every call is refused a place, too
   */
  public synchronized void drain(boolean refuses) {
    draining = true;
    refusing = refuses;
  }

  /** Waits until all places are free, or until the time is over. */
  public synchronized boolean awaitFree(Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    while (held > 0) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      wait(left);
    }
    return true;
  }
}
