package dev.writ.verify.simulation;

import java.util.TreeMap;

/** How much was tried. */
final class Counts {
  long schedules;
  long lives;
  long steps;
  long pauses;
  long calls;
  long events;
  long inDoubt;
  long acknowledged;
  final TreeMap<String, Long> crashes = new TreeMap<>();
  final TreeMap<String, Long> faults = new TreeMap<>();
  final TreeMap<String, Long> outcomes = new TreeMap<>();

  void fault(String kind) {
    faults.merge(kind, 1L, Long::sum);
  }

  void crash(String kind) {
    crashes.merge(kind, 1L, Long::sum);
  }

  void outcome(String what) {
    outcomes.merge(what, 1L, Long::sum);
  }

  long allCrashes() {
    return sum(crashes);
  }

  long allFaults() {
    return sum(faults);
  }

  private static long sum(TreeMap<String, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  void add(Counts more) {
    schedules += more.schedules;
    lives += more.lives;
    steps += more.steps;
    pauses += more.pauses;
    calls += more.calls;
    events += more.events;
    inDoubt += more.inDoubt;
    acknowledged += more.acknowledged;
    more.crashes.forEach((kind, count) -> crashes.merge(kind, count, Long::sum));
    more.faults.forEach((kind, count) -> faults.merge(kind, count, Long::sum));
    more.outcomes.forEach((what, count) -> outcomes.merge(what, count, Long::sum));
  }

  @Override
  public String toString() {
    return String.format(
        "%d schedules, %d lives, %d steps, %d calls; %d crashes %s, %d faults %s, %d pauses;"
            + " %d events, %d receipts acknowledged, %d in doubt",
        schedules,
        lives,
        steps,
        calls,
        allCrashes(),
        crashes,
        allFaults(),
        faults,
        pauses,
        events,
        acknowledged,
        inDoubt);
  }
}
