package dev.writ.gateway.schedule;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.policy.engine.EngineSettings;
import dev.writ.guardian.policy.engine.Quotas.Quota;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * All decisions of a {@link Scheduler}, without its threads and clock: the same calls in the same
 * order give the same turns. Not thread safe.
 *
 * <p>What tenants share is <b>slot time</b>: how long their calls held a slot, divided by their
 * weights. A free slot goes to the tenant that has had least of it, among those that are
 * <i>eligible</i>: somebody of it waits, and no free slot is kept from it by its quota. A running
 * call counts as long as the tenant's last call of that class took, or as long as it runs where
 * that is more, so that many slots which are free at once are shared too.
 *
 * <p>Nobody saves up: a tenant that becomes eligible counts as having had at least what the least
 * of the eligible ones has had, and where nobody was eligible all begin level. So a newcomer is
 * behind nobody, and gets the next slot that is free.
 *
 * <p>Bound. Let R be the most calls of one tenant that ran at once, C the longest that a call took
 * or was expected to take, w the least weight. What two tenants have had while both are eligible,
 * each by its weight, differs by at most B = (2R + 1)·C/w; so over any span in which both are
 * eligible it grows by amounts that differ by at most 2B. Proof: let m be the least that an
 * eligible tenant has had. It does not fall until all begin level again, for who joins has had m at
 * least. When a tenant is given a slot, what it is charged is the least of all, so at most what the
 * one with m is charged, m + R·C/w. From there until it is given a slot again what it has had can
 * grow by the new call, C/w, and by calls that take longer than expected, R·C/w. Where it was given
 * none since all began level, it has had R·C/w at most, by what it ran then.
 */
final class FairQueue {
  private static final long NS_PER_MS = 1_000_000;

  private final TreeMap<String, TenantShare> tenants = new TreeMap<>();
  private final TreeMap<String, Integer> runningByClass = new TreeMap<>();
  private int waiting;
  private int running;
  private long turns;

  /**
   * Adds a call, which waits at first; {@link #next} may start it at once.
   *
   * @throws WritException {@code GWY-080}, {@code GWY-081}, {@code GWY-083}
   */
  QueuedCall enter(Ticket ticket, EngineSettings settings, long nowNs) {
    refresh(settings, nowNs);
    TenantShare known = tenants.get(ticket.tenant());
    requireRoom(known == null ? new TenantShare(ticket.tenant()) : known, settings);
    TenantShare tenant = tenants.computeIfAbsent(ticket.tenant(), TenantShare::new);
    QueuedCall call = new QueuedCall(ticket, nowNs);
    tenant.enter(call);
    waiting++;
    refresh(settings, nowNs);
    return call;
  }

  /** A call that will run at once needs no room in the queue, whose length may be 0. */
  private void requireRoom(TenantShare tenant, EngineSettings settings) {
    Quota quota = settings.quotas().of(tenant.name);
    boolean atQuota = tenant.running() >= quota.running();
    boolean atOnce = !atQuota && tenant.waiting() == 0 && running < settings.slots();
    if (quota.running() == 0) {
      throw new WritException(LaneError.TENANT_QUOTA, "its quota is 0");
    }
    if (atOnce) {
      return;
    }
    if (tenant.waiting() >= settings.queue().perTenant()) {
      throw atQuota
          ? new WritException(
              LaneError.TENANT_QUOTA,
              tenant.running() + " run of " + quota.running() + ", " + tenant.waiting() + " wait")
          : new WritException(
              LaneError.TENANT_QUEUE_FULL,
              tenant.waiting() + " wait, at most " + settings.queue().perTenant());
    }
    if (waiting >= settings.queue().length()) {
      throw new WritException(
          LaneError.QUEUE_FULL, waiting + " wait, at most " + settings.queue().length());
    }
  }

  /** Starts the call whose turn it is and returns it; empty if none may run. */
  Optional<QueuedCall> next(EngineSettings settings, long nowNs) {
    refresh(settings, nowNs);
    if (running >= settings.slots()) {
      return Optional.empty();
    }
    TenantShare chosen = null;
    long least = 0;
    for (TenantShare tenant : tenants.values()) {
      if (!tenant.eligible) {
        continue;
      }
      long charged = tenant.chargedNs(nowNs, weight(tenant, settings));
      if (chosen == null
          || charged < least
          || (charged == least && tenant.servedAt < chosen.servedAt)) {
        chosen = tenant;
        least = charged;
      }
    }
    if (chosen == null) {
      return Optional.empty();
    }
    QueuedCall call = chosen.startNext(nowNs, unknownNs(chosen.nextClass(), settings));
    chosen.servedAt = ++turns;
    waiting--;
    running++;
    runningByClass.merge(call.ticket.resourceClass(), 1, Integer::sum);
    refresh(settings, nowNs);
    return Optional.of(call);
  }

  /** A waiting call gives up before its turn. */
  void leave(QueuedCall call, EngineSettings settings, long nowNs) {
    tenants.get(call.ticket.tenant()).leave(call);
    call.end();
    waiting--;
    refresh(settings, nowNs);
  }

  /** A running call has ended: frees its slot, and charges its tenant for its time. */
  void finish(QueuedCall call, EngineSettings settings, long nowNs) {
    TenantShare tenant = tenants.get(call.ticket.tenant());
    tenant.finish(call, nowNs, weight(tenant, settings));
    call.end();
    running--;
    runningByClass.computeIfPresent(
        call.ticket.resourceClass(), (_, count) -> count == 1 ? null : count - 1);
    refresh(settings, nowNs);
  }

  /**
   * Updates which tenants are eligible; one that becomes eligible is raised to the level of the
   * others.
   */
  private void refresh(EngineSettings settings, long nowNs) {
    for (TenantShare tenant : tenants.values()) {
      tenant.eligible &= isHeldUpByOthersAlone(tenant, settings);
    }
    for (TenantShare tenant : tenants.values()) {
      if (!tenant.eligible && isHeldUpByOthersAlone(tenant, settings)) {
        join(tenant, settings, nowNs);
      }
    }
    OptionalLong least = leastAttained(settings, nowNs);
    tenants
        .values()
        .removeIf(tenant ->
            tenant.isIdle()
                && (least.isEmpty()
                    || tenant.attainedNs(nowNs, weight(tenant, settings)) <= least.getAsLong()));
  }

  /**
   * Whether the tenant waits only because of others. A tenant at its quota counts, too, while no
   * slot is free.
   */
  private boolean isHeldUpByOthersAlone(TenantShare tenant, EngineSettings settings) {
    int quota = settings.quotas().of(tenant.name).running();
    boolean allTaken = running >= settings.slots();
    return tenant.waiting() > 0
        && (tenant.running() < quota || (allTaken && tenant.running() == quota));
  }

  private void join(TenantShare tenant, EngineSettings settings, long nowNs) {
    OptionalLong least = leastAttained(settings, nowNs);
    if (least.isEmpty()) {
      tenants.values().forEach(each -> each.level(nowNs, weight(each, settings)));
    } else {
      tenant.raiseTo(least.getAsLong(), nowNs, weight(tenant, settings));
    }
    tenant.eligible = true;
  }

  private OptionalLong leastAttained(EngineSettings settings, long nowNs) {
    return eligible().mapToLong(tenant -> tenant.attainedNs(nowNs, weight(tenant, settings))).min();
  }

  private Stream<TenantShare> eligible() {
    return tenants.values().stream().filter(tenant -> tenant.eligible);
  }

  private static int weight(TenantShare tenant, EngineSettings settings) {
    return settings.quotas().of(tenant.name).weight();
  }

  /**
   * For a class that a tenant has not used yet, the longest time that the class allows is expected.
   */
  private static long unknownNs(String resourceClass, EngineSettings settings) {
    Resources most =
        settings
            .classes()
            .of(resourceClass)
            .orElseGet(() -> settings.classes().large().resources());
    return most.wallMs() * NS_PER_MS;
  }

  int waiting() {
    return waiting;
  }

  int running() {
    return running;
  }

  int running(String resourceClass) {
    return runningByClass.getOrDefault(resourceClass, 0);
  }

  int waitingOf(String tenant) {
    return tenants.containsKey(tenant) ? tenants.get(tenant).waiting() : 0;
  }

  int runningOf(String tenant) {
    return tenants.containsKey(tenant) ? tenants.get(tenant).running() : 0;
  }

  boolean isEligible(String tenant) {
    return tenants.containsKey(tenant) && tenants.get(tenant).eligible;
  }

  /** How many tenants it has data of. */
  int remembered() {
    return tenants.size();
  }
}
