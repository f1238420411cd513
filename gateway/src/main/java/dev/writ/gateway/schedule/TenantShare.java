package dev.writ.gateway.schedule;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One tenant in a {@link FairQueue}: its calls, and the slot time that it has had. */
final class TenantShare {
  final String name;
  private final LinkedHashMap<String, ArrayDeque<QueuedCall>> waiting = new LinkedHashMap<>();
  private final List<QueuedCall> running = new ArrayList<>();
  private final TreeMap<String, Long> lastTook = new TreeMap<>();
  private int waitingCount;

  /**
   * Slot time of its ended calls, divided by its weight; counted since all tenants last began
   * level.
   */
  private long settledNs;

  /** The turn in which it was last served; 0 is never. */
  long servedAt;

  /** Whether it had a claim to free slots when that was last determined. */
  boolean eligible;

  TenantShare(String name) {
    this.name = name;
  }

  int waiting() {
    return waitingCount;
  }

  int running() {
    return running.size();
  }

  void enter(QueuedCall call) {
    waiting.computeIfAbsent(call.ticket.subject(), _ -> new ArrayDeque<>()).add(call);
    waitingCount++;
  }

  void leave(QueuedCall call) {
    ArrayDeque<QueuedCall> ofSubject = waiting.get(call.ticket.subject());
    if (ofSubject == null || !ofSubject.remove(call)) {
      throw new IllegalStateException("a call that does not wait left the queue");
    }
    if (ofSubject.isEmpty()) {
      waiting.remove(call.ticket.subject());
    }
    waitingCount--;
  }

  /** The subjects take turns; each subject's calls go in the order in which they came. */
  QueuedCall startNext(long nowNs, long unknownNs) {
    Iterator<Map.Entry<String, ArrayDeque<QueuedCall>>> subjects = waiting.entrySet().iterator();
    Map.Entry<String, ArrayDeque<QueuedCall>> first = subjects.next();
    subjects.remove();
    QueuedCall call = first.getValue().remove();
    if (!first.getValue().isEmpty()) {
      waiting.put(first.getKey(), first.getValue());
    }
    waitingCount--;
    running.add(call);
    call.start(nowNs, lastTook.getOrDefault(call.ticket.resourceClass(), unknownNs));
    return call;
  }

  /** The class of the call that {@link #startNext} would start. */
  String nextClass() {
    return waiting.firstEntry().getValue().getFirst().ticket.resourceClass();
  }

  void finish(QueuedCall call, long nowNs, int weight) {
    if (!running.remove(call)) {
      throw new IllegalStateException("a call that does not run was finished");
    }
    long took = call.elapsedNs(nowNs);
    settledNs += took / weight;
    lastTook.put(call.ticket.resourceClass(), took);
  }

  /** The slot time that it has had so far, divided by its weight. */
  long attainedNs(long nowNs, int weight) {
    long sum = 0;
    for (QueuedCall call : running) {
      sum += call.elapsedNs(nowNs);
    }
    return settledNs + sum / weight;
  }

  /** The same, with the expected cost of its running calls; the tenant with the least is next. */
  long chargedNs(long nowNs, int weight) {
    long sum = 0;
    for (QueuedCall call : running) {
      sum += call.chargedNs(nowNs);
    }
    return settledNs + sum / weight;
  }

  /** Raises its slot time to at least so much. */
  void raiseTo(long attainedNs, long nowNs, int weight) {
    settledNs += Math.max(0, attainedNs - attainedNs(nowNs, weight));
  }

  /** Sets its slot time to none. */
  void level(long nowNs, int weight) {
    settledNs -= attainedNs(nowNs, weight);
  }

  boolean isIdle() {
    return waitingCount == 0 && running.isEmpty();
  }
}
