package dev.writ.gateway.statistics;

import java.util.Arrays;
import java.util.OptionalLong;

/** Counts of a time, of a tool or of a subject, and how long effects took. For one thread. */
final class Cell {
  /**
   * The upper ends of the classes of durations in milliseconds, each at most a quarter above the
   * one before, up to more than an hour; what is longer counts as the last.
   */
  private static final long[] ENDS = ends();

  private long calls;
  private long allowed;
  private long denied;
  private long waiting;
  private long failed;
  private long cost;
  private int[] durations = {};

  private static long[] ends() {
    long[] ends = new long[68];
    for (int i = 1; i < ends.length; i++) {
      ends[i] = Math.max(ends[i - 1] + 1, ends[i - 1] * 5 / 4);
    }
    return ends;
  }

  void add(Happened happened) {
    calls++;
    switch (happened.kind()) {
      case SUCCEEDED -> allowed++;
      case FAILED -> {
        allowed++;
        failed++;
      }
      case REFUSED -> failed++;
      case DENIED -> denied++;
      case WAITING -> waiting++;
    }
    cost += happened.cost();
    happened.durationMs().ifPresent(this::took);
  }

  private void took(long ms) {
    if (durations.length == 0) {
      durations = new int[ENDS.length];
    }
    int at = Arrays.binarySearch(ENDS, ms);
    durations[Math.min(ENDS.length - 1, at >= 0 ? at : -at - 1)]++;
  }

  void add(Cell other) {
    calls += other.calls;
    allowed += other.allowed;
    denied += other.denied;
    waiting += other.waiting;
    failed += other.failed;
    cost += other.cost;
    if (other.durations.length > 0) {
      durations = durations.length == 0 ? new int[ENDS.length] : durations;
      Arrays.setAll(durations, i -> durations[i] + other.durations[i]);
    }
  }

  /** The least end of a class such that so many percent took no longer; empty without durations. */
  private OptionalLong percentile(int percent) {
    long all = 0;
    for (int count : durations) {
      all += count;
    }
    long wanted = (all * percent + 99) / 100;
    long seen = 0;
    for (int i = 0; i < durations.length; i++) {
      seen += durations[i];
      if (seen >= wanted && wanted > 0) {
        return OptionalLong.of(ENDS[i]);
      }
    }
    return OptionalLong.empty();
  }

  Counts counts() {
    return new Counts(
        calls, allowed, denied, waiting, failed, cost, percentile(50), percentile(99));
  }
}
